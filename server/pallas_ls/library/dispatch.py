"""`functools.singledispatch`: a function for each type of its first argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..domain.python import Builtin, Call, Class, Value, mro
from ..source.span import Site
from .builtin_types import is_instance
from .registry import Registry


@dataclass(frozen=True, slots=True, eq=False)
class Dispatch:
    """The function for all types, and in `slots["items"]` pairs of a type and its function."""

    function: Value
    slots: dict[str, Value]
    binds: ClassVar[bool] = True


def register(r: Registry) -> None:
    """Registers functools.singledispatch."""
    r.calls[Dispatch] = _call
    r.attribute(Dispatch)(_attribute)

    @r.raw("functools.singledispatch")
    def singledispatch(m: Any, call: Call) -> Value:
        if len(call.args) != 1:
            return m.unknown("a function for each type", *call.args, site=call.site)
        return Dispatch(call.args[0], {"items": ()})


def _attribute(m: Any, v: Dispatch, name: str, site: Site) -> Value:
    if name == "register":
        return Builtin("functools.singledispatch.register", lambda m, call: _register(m, v, call))
    return m.program.attributes.get(m, v.function, name, site)


def _register(m: Any, v: Dispatch, call: Call) -> Value:
    """`@f.register`, `@f.register(type)`, `f.register(type, function)`."""
    first = call.args[0] if call.args else None
    if hasattr(first, "code"):
        return _add(m, v, _annotated(m, first), first)
    if len(call.args) == 2:
        return _add(m, v, first, call.args[1])

    def decorate(m: Any, inner: Call) -> Value:
        return _add(m, v, first, inner.args[0] if inner.args else None)

    return Builtin("functools.singledispatch.register(...)", decorate)


def _annotated(m: Any, f: Any) -> Value:
    """The type that the first parameter is annotated with."""
    return m.program.entries.annotation(m, f, f.code.parameters[0].name) if f.code.parameters else None


def _add(m: Any, v: Dispatch, kind: Value, function: Value) -> Value:
    items = m.select(v.slots["items"])
    kinds = kind if type(kind) is tuple else (kind,)
    known = type(items) is tuple and all(isinstance(k, (Class, Builtin)) for k in kinds)
    pairs = tuple((k, function) for k in kinds)
    m.write(v.slots, "items", (*items, *pairs) if known else m.unknown("functions for types that are not known", kind))
    return function


def _call(m: Any, v: Dispatch, call: Call) -> Value:
    if not call.args:
        return m.unknown("a function chosen by its argument", site=call.site)
    return m.lift(
        lambda x: _call_for(m, v, Call(call.site, (x, *call.args[1:]), call.kwargs, call.arg_sites)), call.args[0]
    )


def _call_for(m: Any, v: Dispatch, call: Call) -> Value:
    items = m.select(v.slots["items"])
    if type(items) is not tuple:
        return m.unknown("a function chosen by its argument", *call.args, site=call.site)
    answers = [(kind, f, m.decide(is_instance(m, call.args[0], kind))) for kind, f in items]
    if any(a is None for _, _, a in answers):
        return m.unknown("a function chosen by the type of a value that is not known", *call.args, site=call.site)
    fitting = [(kind, f) for kind, f, a in answers if a]
    best = [f for kind, f in fitting if not any(_is_below(other, kind) for other, _ in fitting)]
    return m.program.calls.apply(m, best[-1] if best else v.function, call)


def _is_below(a: Value, b: Value) -> bool:
    """Whether `a` is a subclass of `b` other than `b` itself."""
    if isinstance(a, Class) and isinstance(b, Class):
        return a is not b and b in mro(a)
    names = [x.name.removeprefix("builtins.") for x in (a, b) if isinstance(x, Builtin)]
    return names == ["bool", "int"] or (isinstance(a, Class) and isinstance(b, Builtin))
