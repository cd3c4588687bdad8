"""What follows from one fact alone, as conditions to be learnt: the arithmetic behind `facts.Facts.learn`."""

from __future__ import annotations

from collections.abc import Mapping

from . import cond as conds
from . import dim as dims
from .cond import Cond, NonPos, Zero
from .dim import Atom, Dim, Expr, Op, Sym
from .interval import Span
from .known import Known, span_of
from .residue import Residue


def solve(e: Expr) -> tuple[Atom, Dim] | None:
    """(atom, value) from e == 0: an atom of weight 1 or -1 that is not in its value; symbols before operations."""
    found: tuple[Atom, Dim] | None = None
    for m, c in e.terms:
        if abs(c) != 1 or len(m) != 1 or m[0][1] != 1:
            continue
        atom = m[0][0]
        value = dims.mul(-c, dims.sub(e, dims.of_term(m, c)))
        if atom in dims.atoms(value):
            continue
        if isinstance(atom, Sym):
            return atom, value
        if found is None:
            found = atom, value
    return found


def renewed(c: Cond, leaf: Mapping[Atom, Dim]) -> list[Cond]:
    """The condition with atoms replaced; none where an operation then has no value (what it said is given up)."""
    try:
        if isinstance(c, Zero):
            return [conds.zero(dims.rebuild(c.expr, leaf))]
        if isinstance(c, NonPos):
            return [conds.nonpos(dims.rebuild(c.expr, leaf))]
    except (ZeroDivisionError, ValueError):
        return []
    return [c]


def within(d: Dim, span: Span) -> list[Cond]:
    """`d` lies in the span."""
    low, high = span
    above = [] if low is None else [conds.at_most(low, d)]
    return above if high is None else [*above, conds.at_most(d, high)]


def in_class(d: Dim, known: Residue) -> list[Cond]:
    """`d` is in the residue class."""
    g, r = known
    return [conds.divides(g, dims.sub(d, r))] if g > 1 else []


def implied_by_value(known: Known, op: Op, value: Dim) -> list[Cond]:
    """What an operation's value tells of its arguments."""
    match op.name:
        case "min":
            return [conds.at_most(value, a) for a in op.args]
        case "max":
            return [conds.at_most(a, value) for a in op.args]
        case "//":
            a, by = op.args
            rest = dims.sub(a, dims.mul(value, by))  # 0 <= rest < by
            return [conds.at_most(0, rest), conds.less(rest, by)] if _positive(known, by) else []
        case "%":
            a, by = op.args
            return [conds.divides(by, dims.sub(a, value))]
        case _:
            return []


def implied_by_span(known: Known, op: Op, span: Span) -> list[Cond]:
    """What an operation's bounds tell of its arguments."""
    low, high = span
    match op.name:
        case "min":
            return [] if low is None else [conds.at_most(low, a) for a in op.args]
        case "max":
            return [] if high is None else [conds.at_most(a, high) for a in op.args]
        case "//":
            a, by = op.args
            if not _positive(known, by):
                return []
            above = [] if low is None else [conds.at_most(dims.mul(by, low), a)]
            return above if high is None else [*above, conds.less(a, dims.mul(by, high + 1))]
        case _:
            return []


def _positive(known: Known, d: Dim) -> bool:
    low, _ = span_of(known, d)
    return low is not None and low > 0
