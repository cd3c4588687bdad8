"""Operators and truth values for models: Python's rules, reached through the machine.

The evaluator owns the operators on values; models need a few of them (`sum` adds, `any` tests). Addition and its like
go through the
evaluator; truth and equality are answered here for the plain cases and left open otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.cond import Cond
from ..domain.python import (
    Bool,
    Choice,
    DictCell,
    Int,
    ListCell,
    NotConstant,
    Opaque,
    SetCell,
    Unknown,
    Value,
    constant,
)
from ..source.span import Site


def binary(m: Any, op: str, a: Value, b: Value, site: Site) -> Value:
    """`a op b`, without changing a list `a` in place."""
    if isinstance(a, ListCell):
        a = ListCell({"items": a.slots["items"]})
    return m.program.items.augmented(m, op, a, b, site)


def truth(m: Any, v: Value) -> Cond:
    """Whether a value is true; a condition of its own where that cannot be told."""
    c = _truth(m, v)
    known = m.decide(c)
    return c if known is None else known


def _truth(m: Any, v: Value) -> Cond:
    if v is None or isinstance(v, (bool, str, float, bytes, complex, tuple)):
        return bool(v)
    if isinstance(v, Bool):
        return v.cond
    if isinstance(v, Int):
        return conds.negate(conds.zero(v.dim))
    if isinstance(v, (ListCell, DictCell, SetCell)):
        items = m.select(v.slots["items"])
        return bool(items) if isinstance(items, (tuple, dict)) else m.fresh_condition()
    if isinstance(v, Choice):
        yes = conds.all_of([v.cond, _truth(m, v.yes)])
        return conds.any_of([yes, conds.all_of([conds.negate(v.cond), _truth(m, v.no)])])
    if isinstance(v, Opaque) and v.hint in ("", "bool"):
        known = m.path.facts.values.get(v.name)
        return conds.Truth(v.name) if known is None else bool(known)
    return m.fresh_condition()


def truth_value(c: Cond) -> Value:
    """A condition as a value of the program."""
    return c if isinstance(c, bool) else Bool(c)


def decided(m: Any, c: Cond) -> Value:
    """A condition as a value, decided where the path decides it."""
    known = m.decide(c)
    return truth_value(c if known is None else known)


def equal(m: Any, a: Value, b: Value) -> Cond:
    """Whether two values are equal: integers and constants exactly, everything else left open."""
    if isinstance(a, Int) and isinstance(b, Int):
        return conds.equal(a.dim, b.dim)
    if a is b:
        return True
    if type(a) is tuple and type(b) is tuple:
        if len(a) != len(b):
            return False
        return conds.all_of([equal(m, x, y) for x, y in zip(a, b, strict=True)])
    try:
        return bool(constant(a) == constant(b))
    except NotConstant:
        return m.fresh_condition()


def plain(v: Value) -> Any:
    """The Python object that a value stands for; raises `NotConstant` where it is not known exactly."""
    if isinstance(v, (type(None), bool, str, float, bytes, complex)):
        return v
    if isinstance(v, Int) or type(v) is tuple:
        return constant(v) if isinstance(v, Int) else tuple(plain(x) for x in v)
    raise NotConstant


def wrapped(v: Any) -> Value:
    """A Python object as a value of the analysis."""
    if isinstance(v, int) and not isinstance(v, bool):
        return Int(v)
    if isinstance(v, tuple):
        return tuple(wrapped(x) for x in v)
    if isinstance(v, list):
        return ListCell({"items": tuple(wrapped(x) for x in v)})
    return v


def contents(m: Any, v: Value) -> Value:
    """The elements of an iterable as a tuple, a choice between tuples, or Unknown."""
    if isinstance(v, (ListCell, SetCell)) and not isinstance(v.slots["items"], Unknown):
        return v.slots["items"]
    if isinstance(v, Choice):
        return m.lift(lambda x: contents(m, x), v)
    items = m.program.items.iterate(m, v)
    return tuple(items) if items is not None else m.unknown("an iterable of unknown length", v)


def some_float(m: Any, how: str, *sources: Value) -> Opaque:
    """A Python float of unknown value, named after what it is made from ("head_dim.sqrt")."""
    names = [dims.text(s.dim) if isinstance(s, Int) else s.name for s in sources if isinstance(s, (Int, Opaque))]
    if len(names) != len([s for s in sources if not isinstance(s, (float, bool, str))]):
        fresh = m.fresh_condition()
        return Opaque(f"{fresh.name}.{how}", "float")
    return Opaque(f"{', '.join(names)}.{how}", "float")


def first_unknown(values: Iterable[Value]) -> Unknown | None:
    """The first Unknown among values, for its reason."""
    return next((v for v in values if isinstance(v, Unknown)), None)
