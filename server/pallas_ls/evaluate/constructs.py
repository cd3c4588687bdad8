"""Python's own functions that make parts of classes: property, dataclass, field, super and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..domain.python import Builtin, Call, Class, Instance, Value
from .descriptors import ClassMethod, FieldOptions, Property, StaticMethod
from .frame import Frame, Function
from .managers import ManagerFunction

if TYPE_CHECKING:
    from .machine import Machine

Construct = Callable[["Machine", Call, Frame | None], Value]


def construct(name: str) -> Construct | None:
    """How a call of this function of Python's is evaluated; None for all others."""
    return _CONSTRUCTS.get(name)


def _property(m: Machine, call: Call, frame: Frame | None) -> Value:
    getter = call.args[0] if call.args else call.kwargs.get("fget")
    setter = call.args[1] if len(call.args) > 1 else call.kwargs.get("fset")
    return Property(getter, setter)


def _cached_property(m: Machine, call: Call, frame: Frame | None) -> Value:
    getter = call.args[0] if len(call.args) == 1 else None
    return Property(getter, None, getter.name if isinstance(getter, Function) else "")


def _total_ordering(m: Machine, call: Call, frame: Frame | None) -> Value:
    cls = call.args[0] if call.args else None
    if isinstance(cls, Class):
        cls.options["total_ordering"] = True
    return cls


def _context_manager(m: Machine, call: Call, frame: Frame | None) -> Value:
    return ManagerFunction(call.args[0]) if len(call.args) == 1 else m.unknown("a context manager", site=call.site)


def _wrapped(make: Callable[[Value], Value]) -> Construct:
    def run(m: Machine, call: Call, frame: Frame | None) -> Value:
        return (
            make(call.args[0]) if len(call.args) == 1 else m.unknown("a decorator without a function", site=call.site)
        )

    return run


def _dataclass(m: Machine, call: Call, frame: Frame | None) -> Value:
    """`dataclass(cls)`, or `dataclass(frozen=True)`, which makes the decorator."""
    options = dict(call.kwargs)

    def decorate(m: Any, inner: Call) -> Value:
        cls = inner.args[0] if inner.args else None
        if not isinstance(cls, Class):
            return m.unknown("a dataclass of what is no class", cls, site=inner.site)
        cls.kind = "dataclass"
        cls.options.update(options)
        return cls

    return decorate(m, call) if call.args else Builtin("dataclasses.dataclass(...)", decorate)


def _pydantic_dataclass(m: Machine, call: Call, frame: Frame | None) -> Value:
    """As `dataclass`, with fields that are checked when an object is made."""

    def decorate(m: Any, inner: Call) -> Value:
        made = _dataclass(m, Call(call.site, (), call.kwargs), frame).run(m, inner)
        if isinstance(made, Class):
            made.options["pydantic"] = True
        return made

    return decorate(m, call) if call.args else Builtin("pydantic.dataclasses.dataclass(...)", decorate)


def _field(m: Machine, call: Call, frame: Frame | None) -> Value:
    named = {"default": call.args[0]} if call.args else {}
    return FieldOptions({**named, **call.kwargs})


def _super(m: Machine, call: Call, frame: Frame | None) -> Value:
    return m.program.classes.super_object(m, frame, call.args)


def _set_attribute(m: Machine, call: Call, frame: Frame | None) -> Value:
    """`object.__setattr__(self, name, value)`: how frozen dataclasses set fields of their own."""
    if len(call.args) == 3 and isinstance(call.args[0], Instance) and isinstance(call.args[1], str):
        m.write(call.args[0].slots, call.args[1], call.args[2])
        return None
    return m.program.calls.unknown_call(m, None, call)


_CONSTRUCTS: dict[str, Construct] = {
    "property": _property,
    "functools.cached_property": _cached_property,
    "functools.total_ordering": _total_ordering,
    "contextlib.contextmanager": _context_manager,
    "staticmethod": _wrapped(StaticMethod),
    "classmethod": _wrapped(ClassMethod),
    "super": _super,
    "dataclasses.dataclass": _dataclass,
    "pydantic.dataclasses.dataclass": _pydantic_dataclass,
    "chex.dataclass": _dataclass,
    "flax.struct.dataclass": _dataclass,
    "dataclasses.field": _field,
    "flax.struct.field": _field,
    "pydantic.Field": _field,
    "object.__setattr__": _set_attribute,
}
