"""Operators and truth values for models: Python's rules, reached through the machine.

The evaluator owns the operators on values; models need a few of them (`sum` adds, `any` tests). Addition and its like
go through the
evaluator, and so do truth and equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.cond import Cond
from ..domain.python import (
    Bool,
    Choice,
    Endless,
    Int,
    IteratorCell,
    Lazy,
    ListCell,
    NotConstant,
    Opaque,
    Ratio,
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
    return m.program.items.truth(m, v)


def truth_value(c: Cond) -> Value:
    """A condition as a value of the program."""
    return c if isinstance(c, bool) else Bool(c)


def decided(m: Any, c: Cond) -> Value:
    """A condition as a value, decided where the path decides it."""
    known = m.decide(c)
    return truth_value(c if known is None else known)


def equal(m: Any, a: Value, b: Value) -> Cond:
    """Whether two values are equal."""
    return m.program.items.equal(m, a, b)


def lazily(run: Callable[[Any], Value], *sources: Value) -> IteratorCell:
    """An iterator over what `run(m)` returns when the first element is asked for."""
    return IteratorCell({"items": Lazy(run, sources)})


def whole(m: Any, x: Ratio, how: str, site: Site) -> Value:
    """A quotient made an integer: "floor", "ceil", "round" or "trunc"."""
    a, b = x.numerator, x.denominator
    if m.decide(conds.divides(b, a)) is True or how == "floor":
        return Int(dims.floordiv(a, b))
    if how == "ceil":
        return Int(dims.neg(dims.floordiv(dims.neg(a), b)))
    same_sign = m.decide(conds.at_most(0, a)) is True and m.decide(conds.less(0, b)) is True
    if how == "trunc" and same_sign:
        return Int(dims.floordiv(a, b))
    return m.unknown("an integer made from a quotient", Int(a), Int(b), site=site)


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


def contents(m: Any, v: Value, ordered: bool = True) -> Value:
    """The elements of an iterable as a tuple, a choice between tuples, or Unknown. An iterator is used up.

    ordered: their order matters; that of a set is not known.
    """
    known = isinstance(v, ListCell) or (isinstance(v, SetCell) and (not ordered or "ordered" in v.slots))
    if known and not isinstance(v.slots["items"], Unknown):
        return v.slots["items"]
    if isinstance(v, Choice):
        return m.lift(lambda x: contents(m, x), v)
    if (same := m.program.items.alike(m, v)) is not None:
        return same
    if isinstance(v, IteratorCell):
        items = m.program.items.remaining(m, v)
        if isinstance(items, Choice) and not _has(items, Endless):
            m.write(v.slots, "items", ())
            return items
    items = m.program.items.iterate(m, v)
    return tuple(items) if items is not None else m.unknown("an iterable of unknown length", v)


def _has(v: Value, kind: type) -> bool:
    return _has(v.yes, kind) or _has(v.no, kind) if isinstance(v, Choice) else isinstance(v, kind)


def some_float(m: Any, how: str, *sources: Value) -> Opaque:
    """A Python float of unknown value, named after what it is made from ("head_dim.sqrt")."""
    sources = tuple(Opaque(f"{dims.text(s.numerator)} / {dims.text(s.denominator)}") if isinstance(s, Ratio) else s
                    for s in sources)  # fmt: skip
    names = [dims.text(s.dim) if isinstance(s, Int) else s.name for s in sources if isinstance(s, (Int, Opaque))]
    if len(names) != len([s for s in sources if not isinstance(s, (float, bool, str))]):
        fresh = m.fresh_condition()
        return Opaque(f"{fresh.name}.{how}", "float")
    return Opaque(f"{', '.join(names)}.{how}", "float")


def first_unknown(values: Iterable[Value]) -> Unknown | None:
    """The first Unknown among values, for its reason."""
    return next((v for v in values if isinstance(v, Unknown)), None)
