"""`functools`, `operator` and `copy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..domain import cond as conds
from ..domain.python import (
    Builtin,
    Call,
    DictCell,
    Instance,
    Int,
    ListCell,
    Partial,
    SetCell,
    Value,
)
from ..source.span import Site
from .operate import binary, contents, decided, equal, truth
from .registry import Registry

_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "lshift": "<<",
    "rshift": ">>",
    "and_": "&",
    "or_": "|",
    "xor": "^",
}


def register(r: Registry) -> None:
    """Registers functools, operator and copy."""
    _functools(r)
    _operator(r)
    _copy(r)


# -- functools -------------------------------------------------------------------------------------


def identity(m: Any, call: Call) -> Value:
    """A decorator that leaves what the analysis sees of a function as it is."""
    return call.args[0] if len(call.args) == 1 else m.unknown("a decorated function", *call.args, site=call.site)


def transparent(m: Any, call: Call) -> Value:
    """A decorator used with or without arguments: `@cache`, `@lru_cache(maxsize=None)`."""
    if len(call.args) == 1 and not isinstance(call.args[0], (Int, type(None), bool)):
        return call.args[0]
    return Builtin("a decorator", identity)


def _functools(r: Registry) -> None:
    @r.raw("functools.partial")
    def partial(m: Any, call: Call) -> Value:
        if not call.args or call.open:
            return m.unknown("a partial with unknown arguments", *call.args, site=call.site)
        return Partial(call.args[0], call.args[1:], call.kwargs, call.arg_sites[1:], call.kwarg_sites)

    r.raw("functools.cache functools.lru_cache functools.total_ordering functools.singledispatch")(transparent)

    @r.raw("functools.wraps")
    def wraps(m: Any, call: Call) -> Value:
        return Builtin("functools.wraps(...)", identity)

    @r.raw("functools.update_wrapper")
    def update_wrapper(m: Any, call: Call) -> Value:
        return call.args[0]

    @r.raw("functools.reduce")
    def reduce(m: Any, call: Call) -> Value:
        if call.open or len(call.args) not in (2, 3):
            return m.unknown("reduce of values that are not known", *call.args, site=call.site)
        f, source, *initial = call.args
        return m.lift(lambda items: _reduce(m, f, items, initial, call.site), contents(m, source))


def _reduce(m: Any, f: Value, items: Value, initial: list[Value], site: Site) -> Value:
    if type(items) is not tuple or not (items or initial):
        return m.unknown("reduce over an unknown iterable", items, site=site)
    values = [*initial, *items]
    out = values[0]
    for x in values[1:]:
        out = m.program.calls.call(m, f, (out, x), site)
    return out


# -- operator --------------------------------------------------------------------------------------


def _operator(r: Registry) -> None:
    for name, op in _OPERATORS.items():
        r.function(f"operator.{name} operator.__{name.strip('_')}__", "a, b")(_operation(op))

    @r.function("operator.neg", "a")
    def neg(m: Any, call: Call, a: Value) -> Value:
        return binary(m, "-", Int(0), a, call.site) if isinstance(a, Int) else m.unknown("a negated value", a)

    @r.function("operator.eq", "a, b")
    def eq(m: Any, call: Call, a: Value, b: Value) -> Value:
        return decided(m, equal(m, a, b))

    @r.function("operator.ne", "a, b")
    def ne(m: Any, call: Call, a: Value, b: Value) -> Value:
        return decided(m, conds.negate(equal(m, a, b)))

    @r.function("operator.not_", "a")
    def not_(m: Any, call: Call, a: Value) -> Value:
        return decided(m, conds.negate(truth(m, a)))

    @r.function("operator.index", "a")
    def index(m: Any, call: Call, a: Value) -> Value:
        n = m.as_int(a, call.site)
        return n if n is not None else m.unknown("an integer that is not known", a, site=call.site)

    @r.function("operator.getitem", "a, b")
    def getitem(m: Any, call: Call, a: Value, b: Value) -> Value:
        return m.program.items.get(m, a, b, call.site, call.site)

    @r.raw("operator.itemgetter")
    def itemgetter(m: Any, call: Call) -> Value:
        return _getter(
            "operator.itemgetter(...)", call.args, lambda v, key: m.program.items.get(m, v, key, call.site, call.site)
        )

    @r.raw("operator.attrgetter")
    def attrgetter(m: Any, call: Call) -> Value:
        return _getter("operator.attrgetter(...)", call.args, lambda v, name: _attribute(m, v, name, call.site))


def _operation(op: str) -> Callable[..., Value]:
    return lambda m, call, a, b: binary(m, op, a, b, call.site)


def _getter(name: str, keys: tuple[Value, ...], get: Callable[[Value, Value], Value]) -> Builtin:
    def run(m: Any, call: Call) -> Value:
        found = tuple(get(call.args[0], k) for k in keys)
        return found[0] if len(found) == 1 else found

    return Builtin(name, run)


def _attribute(m: Any, v: Value, name: Value, site: Site) -> Value:
    if not isinstance(name, str):
        return m.unknown("an attribute of unknown name", name, site=site)
    for part in name.split("."):
        v = m.program.attributes.get(m, v, part, site)
    return v


# -- copy ------------------------------------------------------------------------------------------


def _copy(r: Registry) -> None:
    @r.function("copy.copy", "x")
    def copy(m: Any, call: Call, x: Value) -> Value:
        return copied(x, deep=False)

    @r.function("copy.deepcopy", "x, memo=None")
    def deepcopy(m: Any, call: Call, x: Value, memo: Value) -> Value:
        return copied(x, deep=True)


def copied(v: Value, *, deep: bool) -> Value:
    """A copy of a container or object; values that cannot change are themselves."""
    inner: Callable[[Value], Value] = (lambda x: copied(x, deep=True)) if deep else (lambda x: x)
    if type(v) is tuple:
        return tuple(inner(x) for x in v)
    if isinstance(v, (ListCell, SetCell, DictCell)):
        return type(v)({"items": _copied_content(v.slots["items"], inner)})
    if isinstance(v, Instance):
        return v if v.cls.kind == "enum" else Instance(v.cls, {k: inner(x) for k, x in v.slots.items()}, v.frozen)
    return v


def _copied_content(items: Value, inner: Callable[[Value], Value]) -> Value:
    if type(items) is tuple:
        return tuple(inner(x) for x in items)
    if isinstance(items, dict):
        return {k: (key, inner(x)) for k, (key, x) in items.items()}
    return items
