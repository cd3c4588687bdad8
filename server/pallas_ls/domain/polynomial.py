"""Sums of integer-weighted products: their one sorted form, addition, multiplication and exact division.

Everything here is exact for all integers and needs no facts. `domain.dim` adds the operations that sums of products
cannot express (floor division, modulo, minimum, ...); read that module for the whole interface.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

from .expression import Atom, Dim, Expr, Monomial, atom_order, of_term, terms_of


@lru_cache(maxsize=1 << 16)
def _monomial_order(m: Monomial) -> tuple[int, list[tuple[tuple[str, str], int]]]:
    return -sum(p for _, p in m), [(atom_order(a), p) for a, p in m]


def order(e: Expr) -> list[tuple[tuple[int, list[tuple[tuple[str, str], int]]], int]]:
    """A key that sorts expressions the same way in every process."""
    return [(_monomial_order(m), c) for m, c in e.terms]


def from_terms(terms: dict[Monomial, int]) -> Dim:
    """The sum of weighted products."""
    kept = [(m, c) for m, c in terms.items() if c]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    if len(kept) == 2 and not kept[1][0]:
        pass  # one product and a constant: sorted already, and the most common sum
    elif len(kept) > 1:
        kept.sort(key=lambda t: _monomial_order(t[0]))
    fixed = tuple(kept)
    return Expr(fixed, hash(fixed))


def constant_of(d: Dim) -> int:
    """The constant summand."""
    if isinstance(d, int):
        return d
    m, c = d.terms[-1]  # the constant has the lowest degree: it is the last
    return 0 if m else c


def leads_negative(d: Dim) -> bool:
    """The first weight is negative: of `d` and `-d`, the one that is not taken as the normal form."""
    return d < 0 if isinstance(d, int) else d.terms[0][1] < 0


def add(a: Dim, b: Dim) -> Dim:
    """a + b."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a + b
        a, b = b, a
    if b == 0:
        return a
    out = dict(a.terms)
    for m, c in terms_of(b):
        out[m] = out.get(m, 0) + c
    return from_terms(out)


def neg(a: Dim) -> Dim:
    """-a."""
    if isinstance(a, int):
        return -a
    fixed = tuple((m, -c) for m, c in a.terms)
    return Expr(fixed, hash(fixed))


def sub(a: Dim, b: Dim) -> Dim:
    """a - b."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return add(a, neg(b))


def _times(m: Monomial, n: Monomial) -> Monomial:
    if not m:
        return n
    if not n:
        return m
    powers = dict(m)
    for a, p in n:
        powers[a] = powers.get(a, 0) + p
    return _sorted(powers)


def _sorted(powers: dict[Atom, int]) -> Monomial:
    if len(powers) == 1:
        return tuple(powers.items())
    return tuple(sorted(powers.items(), key=lambda t: atom_order(t[0])))


def mul(a: Dim, b: Dim) -> Dim:
    """a * b."""
    if isinstance(a, int):
        return a * b if isinstance(b, int) else _scale(b, a)
    if isinstance(b, int):
        return _scale(a, b)
    out: dict[Monomial, int] = {}
    for m, c in a.terms:
        for n, k in b.terms:
            mn = _times(m, n)
            out[mn] = out.get(mn, 0) + c * k
    return from_terms(out)


def _scale(a: Expr, k: int) -> Dim:
    if k in (0, 1):
        return a if k else 0
    fixed = tuple((m, c * k) for m, c in a.terms)
    return Expr(fixed, hash(fixed))


def product(dims: tuple[Dim, ...]) -> Dim:
    """The product of all; 1 for none."""
    out: Dim = 1
    for d in dims:
        out = mul(out, d)
    return out


def content(d: Dim) -> int:
    """The greatest integer that divides every weight of `d` (the absolute value of an `int`)."""
    if isinstance(d, int):
        return abs(d)
    g = 0
    for _, c in d.terms:
        g = gcd(g, c)
    return g


def primitive(d: Expr) -> tuple[Expr, int, int]:
    """(key, factor, constant) with d == factor * key + constant; proportional expressions have the same key."""
    constant = constant_of(d)
    varying = sub(d, constant) if constant else d
    factor = -content(varying) if leads_negative(varying) else content(varying)
    key = exact_quotient(varying, factor)
    assert isinstance(key, Expr)
    return key, factor, constant


def monomial_quotient(m: Monomial, n: Monomial) -> Monomial | None:
    """m / n, or None where n does not divide m."""
    if not n:
        return m
    rest = dict(m)
    for atom, p in n:
        left = rest.get(atom, 0) - p
        if left < 0:
            return None
        if left:
            rest[atom] = left
        else:
            del rest[atom]
    return tuple(rest.items())  # a part of what is sorted


def common_monomial(dims: tuple[Dim, ...]) -> Monomial:
    """The greatest product of atoms that divides every term of all."""
    common: dict[Atom, int] | None = None
    for d in dims:
        for m, _ in terms_of(d):
            powers = dict(m)
            common = powers if common is None else {a: min(p, powers[a]) for a, p in common.items() if a in powers}
    return _sorted(common) if common else ()


def exact_quotient(a: Dim, b: Dim) -> Dim | None:
    """a / b where b divides a as polynomials; None where that does not show."""
    if isinstance(b, int):
        return _exact_quotient_int(a, b)
    if len(b.terms) != 1:
        whole, rest = split_multiple(a, b)
        return whole if rest == 0 else None
    (bm, bc) = b.terms[0]
    out: dict[Monomial, int] = {}
    for m, c in terms_of(a):
        rest_m = monomial_quotient(m, bm)
        if rest_m is None or c % bc:
            return None
        out[rest_m] = c // bc
    return from_terms(out)


def _exact_quotient_int(a: Dim, b: int) -> Dim | None:
    if b in (0, 1):
        return a if b else None
    if isinstance(a, int):
        return a // b if a % b == 0 else None
    if content(a) % b:
        return None
    fixed = tuple((m, c // b) for m, c in a.terms)
    return Expr(fixed, hash(fixed))


def split_multiple(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """(whole, rest) with a == whole * b + rest, as much in `whole` as shows term by term."""
    if len(b.terms) != 1:
        return _split_multiple_of_sum(a, b)
    (bm, bc) = b.terms[0]
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for m, c in terms_of(a):
        q = monomial_quotient(m, bm)
        if q is None or c % bc:
            rest[m] = c
        else:
            whole[q] = c // bc
    return from_terms(whole), from_terms(rest)


def _split_multiple_of_sum(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """Multiples of the sum are taken out where fewer terms are left then (`m + x + y - 1` by `x + y`: `m - 1`)."""
    whole: Dim = 0
    rest = a
    (bm, bc) = b.terms[0]
    for m, c in terms_of(a):
        q_m = monomial_quotient(m, bm)
        if q_m is None or c % bc:
            continue
        q = of_term(q_m, c // bc)
        left = sub(rest, mul(q, b))
        if len(terms_of(left)) < len(terms_of(rest)):
            whole, rest = add(whole, q), left
    return whole, rest
