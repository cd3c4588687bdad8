"""Conditions that the analysis may not be able to decide: normalised, hashable, closed under negation.

A condition is `True`, `False`, or one of the classes below. Comparisons of Dims become `Zero` or `NonPos` of a
difference, so that the same question asked twice is the same value. Each keeps its hash (`key`): conditions are looked
up all the time.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from . import dim as dims
from .dim import Dim, Expr


@dataclass(frozen=True, slots=True)
class Zero:
    """`expr == 0`."""

    expr: Expr
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((0, self.expr)))

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True, slots=True)
class NonPos:
    """`expr <= 0`."""

    expr: Expr
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((1, self.expr)))

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether the object with this name (an expression over names of the source) is true."""

    name: str
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((2, self.name)))

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True, slots=True)
class Same:
    """The object with this name equals a constant (a string, None, a dtype's name, a float)."""

    name: str
    value: object
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((3, self.name, self.value)))

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a `Zero`, `Truth` or `Same`; other conditions are negated by `negate`."""

    cond: Zero | Truth | Same
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((4, self.cond)))

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True, slots=True)
class And:
    """All of them (at least two, none nested)."""

    conds: frozenset[Cond]
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((5, self.conds)))

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True, slots=True)
class Or:
    """Any of them (at least two, none nested)."""

    conds: frozenset[Cond]
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((6, self.conds)))

    def __hash__(self) -> int:
        return self.key


Cond = bool | Zero | NonPos | Truth | Same | Not | And | Or


def size(c: Cond, enough: int = 1 << 30) -> int:
    """How many simple conditions a condition is made of; counting stops at `enough`."""
    if isinstance(c, (And, Or)):
        total = 0
        for x in c.conds:
            total += size(x, enough - total)
            if total >= enough:
                return total
        return total
    return 1


@lru_cache(maxsize=1 << 14)
def speaks_of_integers(c: Cond) -> bool:
    """Whether a comparison of Dims is among its parts."""
    match c:
        case Zero() | NonPos():
            return True
        case Not():
            return speaks_of_integers(c.cond)
        case And() | Or():
            return any(map(speaks_of_integers, c.conds))
        case _:
            return False


@lru_cache(maxsize=1 << 14)
def names(c: Cond) -> frozenset[str]:
    """Names of the symbols and objects that a condition speaks of."""
    match c:
        case Zero() | NonPos():
            return frozenset(s.name for s in dims.symbols(c.expr))
        case Truth() | Same():
            return frozenset((c.name,))
        case Not():
            return names(c.cond)
        case And() | Or():
            return frozenset[str]().union(*map(names, c.conds))
        case _:
            return frozenset()


@lru_cache(maxsize=1 << 14)
def negate(c: Cond) -> Cond:
    """not c."""
    match c:
        case bool():
            return not c
        case Not():
            return c.cond
        case NonPos():
            return nonpos(dims.add(dims.neg(c.expr), 1))
        case And() | Or():
            return _negate_all(c)
        case _:
            return Not(c)


@functools.lru_cache(maxsize=1 << 14)  # nested conditions are negated again and again, each time with all their parts
def _negate_all(c: And | Or) -> Cond:
    parts = [negate(x) for x in c.conds]
    return any_of(parts) if isinstance(c, And) else all_of(parts)


def all_of(conds: Iterable[Cond]) -> Cond:
    """The conjunction; True for none."""
    flat = _flat(conds, And)
    if False in flat or _contradict(flat):
        return False
    flat.discard(True)
    return And(frozenset(flat)) if len(flat) > 1 else next(iter(flat), True)


def any_of(conds: Iterable[Cond]) -> Cond:
    """The disjunction; False for none."""
    flat = _flat(conds, Or)
    if True in flat or _contradict(flat):
        return True
    flat.discard(False)
    return Or(frozenset(flat)) if len(flat) > 1 else next(iter(flat), False)


def _flat(conds: Iterable[Cond], kind: type[And] | type[Or]) -> set[Cond]:
    flat: set[Cond] = set()
    for c in conds:
        if isinstance(c, kind):
            flat |= c.conds
        else:
            flat.add(c)
    return flat


def _contradict(flat: set[Cond]) -> bool:
    return any(negate(c) in flat for c in flat)


def zero(d: Dim) -> Cond:
    """d == 0. The sign and a common weight do not matter; False where no weights make up for the constant (2*x + 1)."""
    if isinstance(d, int):
        return d == 0
    key, factor, constant = dims.primitive(d)
    if constant % factor:
        return False
    reduced = dims.add(key, constant // factor)
    op = dims.as_op(reduced, "%")
    if op is not None and dims.leads_negative(op.args[0]):  # -x is a multiple where x is one
        flipped = dims.mod(dims.neg(op.args[0]), op.args[1])
        reduced = flipped if dims.as_op(flipped, "%") else reduced
    assert isinstance(reduced, Expr)
    return Zero(reduced)


def nonpos(d: Dim) -> Cond:
    """d <= 0; a common weight is divided out, rounding the constant towards the tighter bound."""
    if isinstance(d, int):
        return d <= 0
    key, factor, constant = dims.primitive(d)
    varying = key if factor > 0 else dims.neg(key)
    out = dims.add(varying, -(-constant // abs(factor)))  # g*x + c <= 0  <=>  x <= floor(-c / g)
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
            return _name(c.name)
        case Same():
            return _same(c, "is", "==")
        case Not():
            inner = c.cond
            if isinstance(inner, Zero):
                return _relation(inner.expr, "!=")
            return _same(inner, "is not", "!=") if isinstance(inner, Same) else f"not {_name(inner.name)}"
        case And():
            return " and ".join(sorted(_bracket(x) for x in c.conds))
        case Or():
            return " or ".join(sorted(_bracket(x) for x in c.conds))


def _name(name: str) -> str:
    return name if dims.is_primary(name) else f"({name})"


def _same(c: Same, identical: str, equal_to: str) -> str:
    """None is compared by identity, as is usual."""
    return f"{_name(c.name)} {identical} None" if c.value is None else f"{_name(c.name)} {equal_to} {c.value!r}"


def _bracket(c: Cond) -> str:
    return f"({text(c)})" if isinstance(c, (And, Or)) else text(c)


_MIRRORED = {"<=": ">="}


def _relation(e: Expr, sign: str) -> str:
    """The terms with negative weights stand on the right; a lone constant never stands on the left."""
    left = dims.from_terms({m: c for m, c in e.terms if c > 0})
    right = dims.from_terms({m: -c for m, c in e.terms if c < 0})
    if isinstance(left, int) and isinstance(right, Expr):
        left, right, sign = right, left, _MIRRORED.get(sign, sign)
    return f"{dims.text(left)} {sign} {dims.text(right)}"
