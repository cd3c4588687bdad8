"""Enumerations: members by name and value, aliases, automatic values."""

from __future__ import annotations

from typing import Any

from ..domain.python import Bound, Call, Class, External, Instance, Int, Value, is_text_enum, lookup, mro
from ..source.span import Site
from . import operators as ops
from .descriptors import ClassMethod, Property, StaticMethod
from .frame import Function
from .machine import Machine, Raised


class Enums:
    """Members of enum classes."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def member_of(self, m: Machine, cls: Class, call: Call) -> Value:
        """`Mode(value)`."""
        if len(call.args) != 1 or call.kwargs or call.open:
            return m.unknown(f"a member of {cls.name}", *call.args, site=call.site)
        members = self.members(m, cls)
        given = call.args[0]
        if isinstance(given, Instance) and given.cls is cls:
            return given
        answers = [m.decide(ops.equality(m, member.slots["value"], given)) for member in members]
        if True in answers and None not in answers[: answers.index(True)]:
            return members[answers.index(True)]
        if members and all(a is False for a in answers) and not lookup_method(cls, "_missing_") and not is_flag(cls):
            raise Raised(None, "ValueError", call.site)
        return m.unknown(f"a member of {cls.name}", given, site=call.site)

    def named(self, m: Machine, cls: Class, name: Value, site: Site) -> Value:
        """`Mode["FAST"]`."""
        found = self.member(m, cls, name) if isinstance(name, str) else None
        if found is not None:
            return found
        if isinstance(name, str):
            raise Raised(None, "KeyError", site)
        return m.unknown(f"a member of {cls.name}", name, site=site)

    def members(self, m: Machine, cls: Class) -> list[Instance]:
        """An enum's members in order, aliases left out."""
        found = [self.member(m, cls, name) for name in cls.slots]
        return list(dict.fromkeys(v for v in found if v is not None))

    def all_names(self, m: Machine, cls: Class) -> dict[str, Instance]:
        """Every name of a member, aliases as well."""
        found = {name: self.member(m, cls, name) for name in cls.slots}
        return {name: v for name, v in found.items() if v is not None}

    def member(self, m: Machine, cls: Class, name: str) -> Instance | None:
        """A member of an enum by name; None for methods and other names. The same object at every access."""
        if not is_member_name(cls, name):
            return None
        values = _values(cls)
        alias = _first_equal(values, name)
        if alias != name:
            return self.member(m, cls, alias)
        key, value = f"member {name}", values[name]
        known = cls.options.get(key)
        if known is None or known.slots["value"] != value:  # the member's statement may have been edited
            known = cls.options[key] = Instance(cls, {"name": name, "value": value}, True)
            self._initialised(m, cls, known)
        return known

    def _initialised(self, m: Machine, cls: Class, member: Instance) -> None:
        """An enum with `__init__` takes its members' values apart."""
        init = lookup(cls, "__init__")
        if isinstance(init, Function):
            value = member.slots["value"]
            args = value if type(value) is tuple else (value,)
            trail, m.trail = m.trail, None  # the member is the same on all paths
            try:
                self.program.calls.apply(m, Bound(member, init), Call(self.program.nowhere, args, {}))
            finally:
                m.trail = trail


def is_member_name(cls: Class, name: str) -> bool:
    """Whether a name of the class body is a member."""
    value = cls.slots.get(name)
    if name not in cls.slots or name.startswith("_"):
        return False
    return not isinstance(value, (Function, Property, StaticMethod, ClassMethod))


def lookup_method(cls: Class, name: str) -> bool:
    """Whether the class defines a method."""
    return isinstance(lookup(cls, name), (Function, ClassMethod))


def is_flag(cls: Class) -> bool:
    """Whether members of the enum combine."""
    return has_base(cls, "Flag", "IntFlag")


def has_base(cls: Class, *names: str) -> bool:
    """Whether one of the library's classes of these names is among what the class inherits."""
    bases = [b for c in mro(cls) for b in c.bases]
    return any(getattr(b, "name", "").rsplit(".", 1)[-1] in names for b in bases if not isinstance(b, Class))


def _values(cls: Class) -> dict[str, Value]:
    """Each member's value; `auto()` counts on from the greatest one before."""
    out: dict[str, Value] = {}
    for name, value in cls.slots.items():
        if is_member_name(cls, name):
            automatic = isinstance(value, External) and value.name.endswith("auto")
            out[name] = _automatic(cls, name, out) if automatic else value
    return out


def _automatic(cls: Class, name: str, before: dict[str, Value]) -> Value:
    if is_text_enum(cls):
        return name.lower()
    numbers = [v.dim for v in before.values() if isinstance(v, Int) and isinstance(v.dim, int)]
    greatest = max(numbers, default=0)
    return Int(1 << greatest.bit_length() if is_flag(cls) else greatest + 1)


def _first_equal(values: dict[str, Value], name: str) -> str:
    """The first member of the same value: the others are aliases of it."""
    return next(n for n, v in values.items() if n == name or (type(v) is type(values[name]) and v == values[name]))
