"""Conditions that the analysis may not be able to decide: normalised, hashable, closed under negation.

A condition is `True`, `False`, or one of the classes below. Comparisons of Dims become `Zero` or `NonPos` of a difference, so that the
same question asked twice is the same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from . import dim as dims
from .dim import Dim, Expr


@dataclass(frozen=True, slots=True)
class Zero:
    """`expr == 0`."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class NonPos:
    """`expr <= 0`."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether the object with this name (an expression over names of the source) is true."""

    name: str


@dataclass(frozen=True, slots=True)
class Same:
    """The object with this name equals a constant (a string, None, a dtype's name, a float)."""

    name: str
    value: object


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a `Zero`, `Truth` or `Same`; other conditions are negated by `negate`."""

    cond: Zero | Truth | Same


@dataclass(frozen=True, slots=True)
class And:
    """All of them (at least two, none nested)."""

    conds: frozenset[Cond]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of them (at least two, none nested)."""

    conds: frozenset[Cond]


Cond = Union[bool, Zero, NonPos, Truth, Same, Not, And, Or]


def negate(c: Cond) -> Cond:
    """not c."""
    match c:
        case bool():
            return not c
        case Not():
            return c.cond
        case NonPos():
            return nonpos(dims.add(dims.neg(c.expr), 1))
        case And():
            return any_of(negate(x) for x in c.conds)
        case Or():
            return all_of(negate(x) for x in c.conds)
        case _:
            return Not(c)


def all_of(conds) -> Cond:  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
    """The conjunction of an iterable of conditions."""
    return _join(conds, False, And)


def any_of(conds) -> Cond:  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
    """The disjunction of an iterable of conditions."""
    return _join(conds, True, Or)


def _join(conds, absorbing: bool, kind: type[And] | type[Or]) -> Cond:  # pyright: ignore
    flat: set[Cond] = set()
    for c in conds:  # pyright: ignore
        if c is absorbing:
            return absorbing
        if c is (not absorbing):
            continue
        flat.update(c.conds if isinstance(c, kind) else (c,))  # pyright: ignore
    if any(negate(c) in flat for c in flat):
        return absorbing
    if not flat:
        return not absorbing
    return next(iter(flat)) if len(flat) == 1 else kind(frozenset(flat))


def zero(d: Dim) -> Cond:
    """d == 0. The sign and a common weight do not matter."""
    if isinstance(d, int):
        return d == 0
    g = dims.content(d)
    reduced = dims.exact_quotient(d, g if d.terms[0][1] > 0 else -g)
    assert isinstance(reduced, Expr)
    return Zero(reduced)


def nonpos(d: Dim) -> Cond:
    """d <= 0; a common weight is divided out, rounding the constant towards the tighter bound."""
    if isinstance(d, int):
        return d <= 0
    constant = next((c for m, c in d.terms if not m), 0)
    varying = dims.sub(d, constant)
    g = dims.content(varying)
    reduced = dims.exact_quotient(varying, g)
    assert reduced is not None
    out = dims.add(reduced, -((-constant) // g))  # g*x + c <= 0  <=>  x <= floor(-c / g)
    assert isinstance(out, Expr)
    return NonPos(out)


def equal(a: Dim, b: Dim) -> Cond:
    """a == b."""
    return zero(dims.sub(a, b))


def at_most(a: Dim, b: Dim) -> Cond:
    """a <= b."""
    return nonpos(dims.sub(a, b))


def less(a: Dim, b: Dim) -> Cond:
    """a < b."""
    return nonpos(dims.add(dims.sub(a, b), 1))


def divides(divisor: Dim, d: Dim) -> Cond:
    """d % divisor == 0; False for a literal zero divisor (Python raises there)."""
    if divisor == 0:
        return False
    return zero(dims.mod(d, divisor))


def text(c: Cond) -> str:
    """The condition as a Python expression over the source's names."""
    match c:
        case bool():
            return str(c)
        case Zero():
            return _relation(c.expr, "==")
        case NonPos():
            return _relation(c.expr, "<=")
        case Truth():
            return c.name
        case Same():
            value = c.value
            return f"{c.name} is None" if value is None else f"{c.name} == {value!r}"
        case Not():
            inner = c.cond
            if isinstance(inner, Zero):
                return _relation(inner.expr, "!=")
            if isinstance(inner, Same):
                return f"{inner.name} is not None" if inner.value is None else f"{inner.name} != {inner.value!r}"
            return f"not {inner.name}"
        case And():
            return " and ".join(sorted(_bracket(x) for x in c.conds))
        case Or():
            return " or ".join(sorted(_bracket(x) for x in c.conds))


def _bracket(c: Cond) -> str:
    return f"({text(c)})" if isinstance(c, (And, Or)) else text(c)


def _relation(e: Expr, sign: str) -> str:
    left = dims.sub(0, 0)
    right = dims.sub(0, 0)
    for m, c in e.terms:
        term = dims.mul(dims.product(tuple(dims.of_atom(a) for a, p in m for _ in range(p))), abs(c))
        if c > 0:
            left = dims.add(left, term)
        else:
            right = dims.add(right, term)
    if isinstance(left, int) and not isinstance(right, int):
        left, right = right, left
        sign = {"<=": ">="}.get(sign, sign)
    return f"{dims.text(left)} {sign} {dims.text(right)}"
