"""Whether `d <= 0` follows from several facts together: bounds, and what an operation's value tells of its arguments.

Each step adds a multiple of something that is at least zero, so that a term goes away: `i*64 - n` with `i <= n//64 - 1` becomes
`(n//64)*64 - 64 - n`, and with `(n//64)*64 <= n` becomes -64. Steps are tried breadth first within a fixed budget.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import gcd

from . import dim as dims
from .dim import Dim, Expr, Op
from .known import Known, span_of, span_of_monomial

_BUDGET = 24  # sums looked at for one question


def never_positive(known: Known, d: Dim) -> bool:
    """Certainly d <= 0."""
    queue = deque([_without_common_factor(known, d)])
    seen = set(queue)
    for _ in range(_BUDGET):
        if not queue:
            return False
        e = queue.popleft()
        high = span_of(known, e)[1]
        if high is not None and high <= 0:
            return True
        if isinstance(e, int):
            continue
        for weaker in _raised(known, e):
            if weaker not in seen:
                seen.add(weaker)
                queue.append(weaker)
    return False


def _without_common_factor(known: Known, d: Dim) -> Dim:
    """x*(a - b) <= 0 where x >= 0 and a - b <= 0."""
    common = dims.common_monomial((d,))
    if common and len(dims.terms_of(d)) > 1:
        low, _ = span_of_monomial(known, common)
        if low is not None and low >= 0:
            rest = dims.exact_quotient(d, dims.of_term(common, 1))
            assert rest is not None
            return rest
    return d


def _raised(known: Known, d: Expr) -> Iterator[Dim]:
    """Sums that are at least k*d for a k > 0, each with a term of d gone."""
    for small in _never_positive_sums(known, d):
        for m, c in small.terms:
            if not m:
                continue
            for n, k in d.terms:
                if (c > 0) != (k > 0):
                    continue
                factor = dims.monomial_quotient(n, m)
                if factor is None or (factor and not _never_negative(known, factor)):
                    continue
                g = gcd(c, k)
                removed = dims.mul(dims.of_term(factor, abs(k) // g), small)
                yield dims.sub(dims.mul(abs(c) // g, d), removed)


def _never_negative(known: Known, m: dims.Monomial) -> bool:
    low, _ = span_of_monomial(known, m)
    return low is not None and low >= 0


def _never_positive_sums(known: Known, d: Expr) -> Iterator[Expr]:
    """Facts as sums that are at most zero: those on operations in `d` first, then the bounds learnt."""
    candidates: list[Dim] = []
    for m, _ in d.terms:
        for atom, _ in m:
            if isinstance(atom, Op):
                candidates.extend(_of_op(known, atom))
    for key, (low, high) in known.bounds.items():
        if len(key.terms) > 1:  # one product alone: its span is in the terms' spans already
            candidates.extend(() if high is None else (dims.sub(key, high),))
            candidates.extend(() if low is None else (dims.sub(low, key),))
    for dividend, by in known.multiples:
        low, _ = span_of(known, dividend)
        if low is not None and low > 0:  # a positive multiple is not less than its divisor
            candidates.append(dims.sub(by, dividend))
    return (c for c in candidates if isinstance(c, Expr))


def _of_op(known: Known, op: Op) -> list[Dim]:
    me = dims.of_atom(op)
    if op.name == "min":
        return [dims.sub(me, a) for a in op.args]
    if op.name == "max":
        return [dims.sub(a, me) for a in op.args]
    if op.name not in ("//", "%"):
        return []
    a, by = op.args
    low, _ = span_of(known, a)
    by_low, _ = span_of(known, by)
    if by_low is None or by_low <= 0:
        return []
    shrinks = [dims.sub(me, a)] if low is not None and low >= 0 else []
    if op.name == "%":
        return [dims.add(dims.sub(me, by), 1), *shrinks]
    rest = dims.sub(a, dims.mul(me, by))  # 0 <= a - (a//by)*by < by
    return [dims.neg(rest), dims.add(dims.sub(rest, by), 1), *shrinks]
