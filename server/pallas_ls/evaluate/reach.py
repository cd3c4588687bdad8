"""Which objects that can change a value leads to."""

from __future__ import annotations

from collections.abc import Iterable

from ..domain.python import (
    Bound,
    Choice,
    Class,
    DictCell,
    Instance,
    IteratorCell,
    Lazy,
    ListCell,
    Partial,
    SetCell,
    Value,
)
from .descriptors import ClassMethod, Property, StaticMethod
from .frame import Frame, Function


def reachable(values: Iterable[Value]) -> set[int]:
    """Identities of the slots of all objects that the values lead to, closures included."""
    return set(slots_under(values))


def slots_under(values: Iterable[Value]) -> dict[int, dict[str, Value]]:
    """The slots of all objects that the values lead to, by identity."""
    out: dict[int, dict[str, Value]] = {}
    stack = list(values)
    while stack:
        v = stack.pop()
        slots = _slots(v)
        if slots and id(slots[0]) in out:
            continue
        out.update((id(s), s) for s in slots)
        for s in slots:
            stack.extend(s.values())
        stack.extend(_parts(v))
    return out


def _slots(v: Value) -> tuple[dict[str, Value], ...]:
    if isinstance(v, (ListCell, DictCell, SetCell, IteratorCell, Instance)):
        return (v.slots,)
    if isinstance(v, Class):
        return v.slots, v.annotations, v.options
    if isinstance(v, Frame) and v.code is not None:
        return (v.vars,)
    if isinstance(v, Function):
        return (v.defaults, v.slots)
    own = getattr(v, "slots", None)  # of an object of the library's that keeps something (a cached function)
    return (own,) if type(own) is dict else ()


def _parts(v: Value) -> Iterable[Value]:
    if type(v) is tuple:
        return v
    if type(v) is dict:  # the content of a dict: (key, value) by constant key
        return [x for _, x in v.values()] if all(type(x) is tuple and len(x) == 2 for x in v.values()) else ()
    match v:
        case Choice():
            return (v.yes, v.no)
        case Instance():
            return (v.cls,)
        case Class():
            return v.bases
        case Function() | Frame():
            return (v.up,) if v.up is not None else ()
        case Lazy():
            return v.sources
        case Bound():
            return (v.self, v.function)
        case Partial():
            return (v.function, *v.args, *v.kwargs.values())
        case Property():
            return (v.getter, v.setter)
        case StaticMethod() | ClassMethod():
            return (v.function,)
        case _:  # what a decorator of a library made of a function
            return (v.function,) if hasattr(v, "function") else ()
