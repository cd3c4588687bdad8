"""Floats that are not known exactly: quotients of integers, and numbers known by name only."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.cond import Cond
from ..domain.dim import Dim
from ..domain.python import Int, Opaque, Ratio, Value
from .machine import Machine

_COMPARE = {
    "<": conds.less,
    "<=": conds.at_most,
    ">": lambda a, b: conds.less(b, a),
    ">=": lambda a, b: conds.at_most(b, a),
    "==": conds.equal,
}  # fmt: skip


def divided(m: Machine, a: Int, b: Int) -> Value:
    """`a / b` of integers that are not both known; None where one of them may be no integer, or b may be zero."""
    if not (_sure(a.dim) and _sure(b.dim)) or m.decide(conds.zero(b.dim)) is True:
        return None
    return Ratio(a.dim, b.dim)


def _sure(d: Dim) -> bool:
    return all(s.sure for s in dims.symbols(d))


def is_float(v: Value) -> bool:
    """Whether a value is certainly a float."""
    return isinstance(v, (float, Ratio)) or (isinstance(v, Opaque) and v.hint == "float")


def is_number(v: Value) -> bool:
    """Whether a value is certainly a number of Python's."""
    return is_float(v) or isinstance(v, bool) or (isinstance(v, Int) and _sure(v.dim)) or _is_hinted(v)


def _is_hinted(v: Value) -> bool:
    return isinstance(v, Opaque) and v.hint in ("int", "bool")


def arithmetic(m: Machine, op: str, a: Value, b: Value) -> Value:
    """`a op b` of numbers of which one is a float that is not known: exact where halves stay exact, else a float."""
    x, y = _quotient(a), _quotient(b)
    if x is not None and y is not None and _exact(x) and _exact(y):
        if op == "*":
            return Ratio(dims.mul(x.numerator, y.numerator), dims.mul(x.denominator, y.denominator))
        if op in ("+", "-"):
            run = dims.add if op == "+" else dims.sub
            left, right = dims.mul(x.numerator, y.denominator), dims.mul(y.numerator, x.denominator)
            return Ratio(run(left, right), dims.mul(x.denominator, y.denominator))
    return Opaque(f"({named(m, a)} {op} {named(m, b)})", "float")


def _quotient(v: Value) -> Ratio | None:
    if isinstance(v, Ratio):
        return v
    if isinstance(v, Int):
        return Ratio(v.dim, 1)
    return Ratio(int(v), 1) if isinstance(v, float) and v.is_integer() else None


def _exact(r: Ratio) -> bool:
    """Whether a float holds the quotient exactly."""
    d = r.denominator
    return isinstance(d, int) and d > 0 and d & (d - 1) == 0


def named(m: Machine, v: Value) -> str:
    """A number as text that two equal numbers share; a new one for each where nothing is known of it."""
    if isinstance(v, Int):
        return dims.text(v.dim)
    if isinstance(v, Ratio):
        return f"({dims.text(v.numerator)} / {dims.text(v.denominator)})"
    if isinstance(v, Opaque):
        return v.name
    return repr(v) if isinstance(v, (bool, float)) else str(getattr(m.fresh_condition(), "name", "?"))


def compared(m: Machine, op: str, a: Value, b: Value) -> Cond | None:
    """`a op b` where one is a quotient and the other a whole number or a quotient; None where it cannot be told."""
    x, y = (_quotient(m.as_int(v) if _is_hinted(v) else v) for v in (a, b))
    if x is None or y is None:
        return None
    for d in (x.denominator, y.denominator):
        if m.decide(conds.less(0, d)) is not True:
            return None
    return _COMPARE[op](dims.mul(x.numerator, y.denominator), dims.mul(y.numerator, x.denominator))
