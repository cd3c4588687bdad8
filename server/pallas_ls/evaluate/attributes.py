"""Attribute access: objects of the user's classes here, everything else in the library."""

from __future__ import annotations

from typing import Any

from ..domain.python import MISSING, Bound, Builtin, Choice, Class, External, Instance, Opaque, Unknown, Value
from ..source.span import Site
from .frame import Function
from .machine import Machine, Raised
from .modules import UserModule


class Attributes:
    """Attribute access."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def get(self, m: Machine, v: Value, name: str, site: Site) -> Value:
        """`v.name`."""
        if isinstance(v, Choice):
            return m.lift(lambda x: self.get(m, x, name, site), v)
        if isinstance(v, Instance):
            return self._of_instance(m, v, name, site)
        if isinstance(v, Class):
            return self._of_class(m, v, name, site)
        if isinstance(v, Opaque):
            return self._of_opaque(m, v, name, site)
        if isinstance(v, Unknown):
            return m.unknown(v.why, v, site=site)
        if isinstance(v, External):
            return External(f"{v.name}.{name}")
        if isinstance(v, UserModule):
            return self._of_module(m, v, name, site)
        if isinstance(v, Function):
            return _of_function(v, name)
        if isinstance(v, SuperObject):
            return self._of_super(m, v, name, site)
        if isinstance(v, Property):
            return _of_property(v, name)
        return self.program.library.getattr(m, v, name, site)

    def _of_instance(self, m: Machine, v: Instance, name: str, site: Site) -> Value:
        if name in v.slots:
            return m.select(v.slots[name])
        if name == "__class__":
            return v.cls
        self._note_member(m, v.cls, name)
        member = lookup(v.cls, name)
        if member is not MISSING:
            return self.bind(m, v, member, site)
        fallback = lookup(v.cls, "__getattr__")
        if isinstance(fallback, Function):
            return self.program.calls.call(m, Bound(v, fallback), (name,), site)
        return self.program.library.instance_attribute(m, v, name, site)

    def bind(self, m: Machine, v: Value, member: Value, site: Site) -> Value:
        """A class's member seen through an object: methods are bound, properties called."""
        if isinstance(member, Function):
            return Bound(v, member)
        if isinstance(member, Property):
            return self.program.calls.call(m, member.getter, (v,), site)
        if isinstance(member, StaticMethod):
            return member.function
        if isinstance(member, ClassMethod):
            return Bound(v.cls if isinstance(v, Instance) else v, member.function)
        return m.select(member)

    def _of_module(self, m: Machine, v: UserModule, name: str, site: Site) -> Value:
        found = v.env.member(m, name)
        if found is not MISSING:
            return m.select(found)
        inner = self.program.load(m, f"{v.env.name}.{name}", 0, v.env.path)
        return UserModule(inner) if inner is not None else m.unknown(f"{name} of module {v.env.name}", site=site)

    def _of_super(self, m: Machine, v: SuperObject, name: str, site: Site) -> Value:
        member = lookup(v.base, name)
        return m.unknown(f"super().{name}", site=site) if member is MISSING else self.bind(m, v.me, member, site)

    def _of_class(self, m: Machine, cls: Class, name: str, site: Site) -> Value:
        if name == "__name__":
            return cls.name
        if cls.kind == "enum":
            found = self.program.classes.enum_member(cls, name)
            if found is not None:
                return found
        member = lookup(cls, name)
        if member is MISSING:
            return self.program.library.class_attribute(m, cls, name, site)
        if isinstance(member, ClassMethod):
            return Bound(cls, member.function)
        if isinstance(member, StaticMethod):
            return member.function
        return m.select(member)

    def _of_opaque(self, m: Machine, v: Opaque, name: str, site: Site) -> Value:
        if v.cls is not None:
            self._note_member(m, v.cls, name)
            member = lookup(v.cls, name)
            if isinstance(member, (Function, Property, StaticMethod, ClassMethod)):
                return self.bind(m, v, member, site)
            if name in v.cls.annotations or member is not MISSING:
                return self.program.entries.annotated(m, f"{v.name}.{name}", v.cls, name)
        return self.program.library.opaque_attribute(m, v, name, site)

    def _note_member(self, m: Machine, cls: Class, name: str) -> None:
        """The unit depends on what this name is in the class and its bases."""
        if cls.site is not None and (state := self.program.states.get(cls.site.path)) is not None:
            state.env.note(m, f"{cls.site.chunk}.{name}")
        for base in cls.bases:
            if isinstance(base, Class):
                self._note_member(m, base, name)

    def special(self, m: Machine, v: Instance, name: str) -> Value:
        """A special method of an object, bound; None where its class has none."""
        member = lookup(v.cls, name)
        return Bound(v, member) if isinstance(member, Function) else None

    def set(self, m: Machine, v: Value, name: str, value: Value, site: Site | None = None) -> None:
        """`v.name = value`."""
        v = m.select(v)
        if isinstance(v, Choice):
            m.branch(
                v.cond,
                lambda: self.set(m, v.yes, name, value, site),
                lambda: self.set(m, v.no, name, value, site),
            )
        elif isinstance(v, Instance):
            setter = lookup(v.cls, name)
            if isinstance(setter, Property) and setter.setter is not None:
                self.program.calls.call(m, setter.setter, (v, value), None)
            else:
                if v.cls.kind == "dataclass" and v.cls.options.get("frozen") is True:
                    raise Raised(None, "FrozenInstanceError", site)
                m.write(v.slots, name, value)
        elif isinstance(v, Class):
            m.write(v.slots, name, value)


class Property:
    """A property of a user's class."""

    __slots__ = ("getter", "setter")

    def __init__(self, getter: Value, setter: Value = None) -> None:
        self.getter = getter
        self.setter = setter


class StaticMethod:
    """A static method of a user's class."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class ClassMethod:
    """A class method of a user's class."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class SuperObject:
    """`super()` in a method."""

    __slots__ = ("base", "me")

    def __init__(self, me: Instance, base: Class) -> None:
        self.me = me
        self.base = base


def lookup(cls: Class, name: str) -> Value:
    """A member by Python's order of resolution (depth first, enough for the hierarchies of kernels); MISSING if
    none."""
    if name in cls.slots:
        return cls.slots[name]
    for base in cls.bases:
        if isinstance(base, Class):
            found = lookup(base, name)
            if found is not MISSING:
                return found
    return MISSING


def _of_property(v: Property, name: str) -> Value:
    """`@x.setter` and `@x.getter`."""
    if name == "setter":
        return Builtin("property.setter", lambda m, call: Property(v.getter, call.args[0]))
    if name == "getter":
        return Builtin("property.getter", lambda m, call: Property(call.args[0], v.setter))
    return Unknown(f"attribute {name} of a property")


def _of_function(v: Function, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return v.name
    if name == "__wrapped__":
        return v
    return Unknown(f"attribute {name} of a function")
