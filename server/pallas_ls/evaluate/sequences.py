"""Operators on sequences, sets and dicts: order, equality, set algebra, formatted text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.cond import Cond
from ..domain.python import (
    Bool,
    DictCell,
    Int,
    IteratorCell,
    ListCell,
    NotConstant,
    SetCell,
    Value,
    constant,
)
from ..source.span import Site
from .machine import Machine

Equal = Callable[[Machine, Value, Value], Cond]
Less = Callable[[Machine, str, Value, Value, Site], Value]
_SET_OPS: Mapping[str, Callable[[Any, Any], Any]] = {
    "|": lambda a, b: {**a, **b},
    "&": lambda a, b: {k: v for k, v in a.items() if k in b},
    "-": lambda a, b: {k: v for k, v in a.items() if k not in b},
    "^": lambda a, b: {k: v for k, v in (*a.items(), *b.items()) if (k in a) != (k in b)},
}
_SET_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def as_value(c: Cond) -> Value:
    """A condition as a value of the program."""
    return c if isinstance(c, bool) else Bool(c)


def lexicographic(m: Machine, op: str, a: tuple[Value, ...], b: tuple[Value, ...], site: Site, less: Less) -> Value:
    """The order of tuples and lists: by the first elements that differ, else by length."""
    items = m.program.items
    strict = op[0]
    out: Cond = {"<": len(a) < len(b), "<=": len(a) <= len(b), ">": len(a) > len(b), ">=": len(a) >= len(b)}[op]
    for x, y in reversed(list(zip(a, b, strict=False))):
        same = items.equal(m, x, y)
        if same is not True:
            first = items.truth(m, less(m, strict, x, y, site))
            out = conds.any_of([conds.all_of([conds.negate(same), first]), conds.all_of([same, out])])
    known = m.decide(out)
    return as_value(out if known is None else known)


# -- sets ----------------------------------------------------------------------------------------


def keyed(m: Machine, v: Value) -> dict[Any, Value] | None:
    """The elements of a set by the key under which Python finds them; None where they are not known."""
    items = m.select(v.slots["items"]) if isinstance(v, (SetCell, DictCell)) else v
    if isinstance(items, dict):
        items = tuple(k for k, _ in items.values())
    if type(items) is not tuple:
        return None
    try:
        return {constant(x): x for x in reversed(items)}
    except NotConstant:
        return None


def set_binary(m: Machine, op: str, a: SetCell, b: Value, site: Site) -> Value:
    """`a op b` of sets, and of a set and the keys of a dict."""
    x, y = keyed(m, a), keyed(m, b)
    if x is None or y is None or op not in _SET_OPS:
        return m.unknown("a set operation", a, b, site=site)
    return SetCell({"items": tuple(_SET_OPS[op](x, y).values())})


def set_order(m: Machine, op: str, a: SetCell, b: SetCell, site: Site) -> Value:
    """Whether one set is inside another."""
    x, y = keyed(m, a), keyed(m, b)
    if x is None or y is None:
        return m.unknown("a comparison of sets that are not known", a, b, site=site)
    return _SET_ORDER[op](x.keys(), y.keys())


def equality(m: Machine, a: Value, b: Value, equal: Equal) -> Cond | None:
    """Whether two sets or two dicts are equal; None where the values are neither."""
    if isinstance(a, SetCell) and isinstance(b, SetCell):
        x, y = keyed(m, a), keyed(m, b)
        return m.fresh_condition() if x is None or y is None else x.keys() == y.keys()
    if isinstance(a, DictCell) and isinstance(b, DictCell):
        x, y = m.select(a.slots["items"]), m.select(b.slots["items"])
        if not isinstance(x, dict) or not isinstance(y, dict):
            return m.fresh_condition()
        if x.keys() != y.keys():
            return False
        return conds.all_of([equal(m, x[k][1], y[k][1]) for k in x])
    kinds = _kind(a), _kind(b)
    return False if kinds[0] and kinds[1] and kinds[0] != kinds[1] else None


_KINDS = (
    ((ListCell,), "list"), ((tuple,), "tuple"), ((DictCell,), "dict"), ((SetCell,), "set"), ((str,), "str"),
    ((bytes,), "bytes"), ((bool, Bool, float, complex), "number"), ((IteratorCell,), "iterator"),
    ((type(None),), "None"),
)  # fmt: skip


def _kind(v: Value) -> str:
    """What a value can be equal to; "" where that is not known."""
    if isinstance(v, Int):
        return "number" if all(s.sure for s in dims.symbols(v.dim)) else ""
    return next((name for types, name in _KINDS if isinstance(v, types)), "")


# -- text ----------------------------------------------------------------------------------------


def percent(m: Machine, text: str, values: Value, site: Site) -> Value:
    """`text % values`."""
    try:
        return text % python(values)
    except NotConstant:
        return m.unknown("formatted text", values, site=site)
    except (TypeError, ValueError) as e:
        return m.unknown(f"formatting raises {type(e).__name__}", values, site=site)


def python(v: Value) -> Any:
    """The Python object that prints as the value does; raises NotConstant where it is not known."""
    if isinstance(v, Int):
        return constant(v)
    if type(v) is tuple:
        return tuple(python(x) for x in v)
    if v is None or isinstance(v, (bool, str, float, bytes, complex)):
        return v
    if isinstance(v, ListCell) and type(v.slots["items"]) is tuple:
        return [python(x) for x in v.slots["items"]]
    if isinstance(v, DictCell) and isinstance(v.slots["items"], dict):
        return {python(k): python(x) for k, x in v.slots["items"].values()}
    raise NotConstant
