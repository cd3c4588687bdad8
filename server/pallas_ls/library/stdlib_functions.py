"""`functools`, `operator` and `copy`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..domain import cond as conds
from ..domain.python import (
    Builtin,
    Call,
    Choice,
    DictCell,
    Instance,
    Int,
    IteratorCell,
    ListCell,
    NotConstant,
    Partial,
    SetCell,
    Value,
    constant,
)
from ..source.span import Site
from . import dispatch
from .operate import binary, contents, decided, equal, truth
from .registry import NO_ATTRIBUTE, Registry

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


@dataclass(frozen=True, slots=True, eq=False)
class Cached:
    """What `functools.cache` makes of a function: `slots["items"]` keeps results that can be told apart from new ones,
    by argument."""

    function: Value
    slots: dict[str, Value]
    binds: ClassVar[bool] = True


def _cache(m: Any, call: Call) -> Value:
    """`@cache`, or `@lru_cache(maxsize=None)`, which makes the decorator."""
    if len(call.args) == 1 and not isinstance(call.args[0], (Int, type(None), bool)):
        return Cached(call.args[0], {"items": {}})
    return Builtin(
        "functools.lru_cache(...)",
        lambda m, inner: Cached(inner.args[0], {"items": {}}) if inner.args else m.unknown("a cached function"),
    )


def call_cached(m: Any, f: Cached, call: Call) -> Value:
    """A call of a cached function. A result that can change is the same object at the same arguments."""
    key = _cache_key(call)
    items = m.select(f.slots["items"])
    known = isinstance(items, dict)
    if known and key is not None and key in items:
        return items[key][1]
    result = m.program.calls.apply(m, f.function, call)
    if not _can_change(result):
        return result
    if key is None or not known or any(_may_be_equal(m, key, other) for other in items):
        return m.unknown("a cached object that may be the same as another one", *call.args, site=call.site)
    m.write(f.slots, "items", {**items, key: (key, result)})
    return result


def _cache_key(call: Call) -> Any:
    """Arguments by which a cache finds its results; None where they cannot be compared."""
    try:
        return tuple(_key_part(v) for v in call.args), tuple(sorted((k, _key_part(v)) for k, v in call.kwargs.items()))
    except (NotConstant, TypeError):
        return None


def _key_part(v: Value) -> Any:
    return ("int", v.dim) if isinstance(v, Int) else (type(v).__name__, constant(v))


def _may_be_equal(m: Any, key: Any, other: Any) -> bool:
    """Whether two different keys may stand for equal arguments."""
    if len(key[0]) != len(other[0]) or [k for k, _ in key[1]] != [k for k, _ in other[1]]:
        return True
    pairs = [*zip(key[0], other[0], strict=True), *((x, y) for (_, x), (_, y) in zip(key[1], other[1], strict=True))]
    return not any(_differ(m, x, y) for x, y in pairs)


def _differ(m: Any, x: Any, y: Any) -> bool:
    if x[0] == y[0] == "int":
        return m.decide(conds.equal(x[1], y[1])) is False
    return x != y


def _can_change(v: Value) -> bool:
    if type(v) is tuple:
        return any(_can_change(x) for x in v)
    if isinstance(v, Choice):
        return _can_change(v.yes) or _can_change(v.no)
    if isinstance(v, Instance):
        return v.cls.kind not in ("enum", "namedtuple") and v.cls.options.get("frozen") is not True
    return isinstance(v, (ListCell, DictCell, SetCell, IteratorCell))


def _cached_attribute(m: Any, v: Cached, name: str, site: Site) -> Value:
    if name == "__wrapped__":
        return v.function
    if name == "cache_clear":

        def clear(m: Any, call: Call) -> Value:
            m.write(v.slots, "items", {})

        return Builtin("functools.cache_clear", clear)
    if name == "cache_info":
        return Builtin("functools.cache_info", lambda m, call: m.unknown("what a cache says of itself"))
    return m.program.attributes.get(m, v.function, name, site)


def _partial_attribute(m: Any, v: Partial, name: str, site: Site) -> Value:
    if name == "func":
        return v.function
    if name == "args":
        return v.args
    return DictCell({"items": {k: (k, x) for k, x in v.kwargs.items()}}) if name == "keywords" else NO_ATTRIBUTE


def _as_wrapper(m: Any, wrapped: Value, call: Call) -> Value:
    """`functools.wraps(wrapped)(wrapper)`."""
    if len(call.args) != 1:
        return m.unknown("a decorated function", *call.args, site=call.site)
    wrapper = call.args[0]
    if hasattr(wrapper, "code") and hasattr(wrapped, "code"):
        m.program.attributes.set(m, wrapper, "__name__", m.program.attributes.get(m, wrapped, "__name__", call.site))
        m.program.attributes.set(m, wrapper, "__wrapped__", wrapped)
    return wrapper


def _functools(r: Registry) -> None:
    @r.raw("functools.partial")
    def partial(m: Any, call: Call) -> Value:
        if not call.args or call.open:
            return m.unknown("a partial with unknown arguments", *call.args, site=call.site)
        f, sites = call.args[0], call.arg_sites[1:]
        if isinstance(f, Partial):  # one in another is one, as in Python
            return Partial(
                f.function,
                (*f.args, *call.args[1:]),
                {**f.kwargs, **call.kwargs},
                (*f.arg_sites, *sites),
                {**f.kwarg_sites, **call.kwarg_sites},
            )
        return Partial(f, call.args[1:], call.kwargs, sites, call.kwarg_sites)

    r.raw("functools.cache functools.lru_cache")(_cache)
    r.calls[Cached] = call_cached
    r.attribute(Cached)(_cached_attribute)
    r.attribute(Partial)(_partial_attribute)
    dispatch.register(r)

    @r.raw("functools.wraps")
    def wraps(m: Any, call: Call) -> Value:
        wrapped = call.args[0] if call.args else None
        return Builtin("functools.wraps(...)", lambda m, inner: _as_wrapper(m, wrapped, inner))

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
