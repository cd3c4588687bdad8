"""Whether `d <= 0` or `d == 0` follows from several facts together, and from what operations tell of their arguments.

For `d <= 0`, each step adds a multiple of something that is at least zero, so that a term goes away: `i*64 - n` with
`i <= n//64 - 1` becomes `(n//64)*64 - 64 - n`, and with `(n//64)*64 <= n` becomes -64. Steps are
tried breadth first within a fixed budget.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import gcd

from . import dim as dims
from .dim import Atom, Dim, Expr, Op, Sym
from .known import Known, span_of, span_of_monomial

BUDGET = 16  # sums looked at for one question
SMALL_BUDGET = 4  # the same, where a question is one of many inside another


def never_positive(known: Known, d: Dim, budget: int = BUDGET) -> bool:
    """Certainly d <= 0."""
    if isinstance(d, int):
        return d <= 0
    if any(w.positive(d) for w in known.witnesses()):
        return False
    queue = deque([_without_common_factor(known, d)])
    seen = set(queue)
    while queue:
        e = queue.popleft()
        high = span_of(known, e)[1]
        if high is not None and high <= 0:
            return True
        if isinstance(e, int) or len(seen) >= budget:
            continue
        new = [weaker for weaker in _raised(known, e) if weaker not in seen][: budget - len(seen)]
        seen.update(new)
        queue.extend(new)
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
    """Facts as sums that are at most zero: those on operations in `d` first, then what was learnt."""
    candidates: list[Dim] = []
    found = {atom for m, _ in d.terms for atom, _ in m}
    for atom in sorted((a for a in found if isinstance(a, Op)), key=dims.atom_order):
        candidates.extend(_of_op(known, atom))
    for key, (low, high) in known.bounds.items():
        if len(key.terms) > 1 and _mentions(key, found):  # one product alone: its span is in the terms' spans already
            candidates.extend(() if high is None else (dims.sub(key, high),))
            candidates.extend(() if low is None else (dims.sub(low, key),))
    for dividend, by in known.multiples:
        if _mentions(dividend, found) or _mentions(by, found):
            low, _ = span_of(known, dividend)
            if low is not None and low > 0:  # a positive multiple is not less than its divisor
                candidates.append(dims.sub(by, dividend))
    return (c for c in candidates if isinstance(c, Expr))


def _mentions(d: Dim, found: set[Atom]) -> bool:
    return any(atom in found for m, _ in dims.terms_of(d) for atom, _ in m)


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


def equal_in_quotients(known: Known, d: Expr) -> bool:
    """Certainly d == 0, as `m//128*64 - m//2` for 128 | m.

    What is divisible is written as its divisor times a quotient, and then all cancels.
    """
    found = dims.atoms(d)
    remainders = [a for a in found if isinstance(a, Op) and a.name == "%"]
    if not remainders and not any(isinstance(a, Op) and a.name == "//" for a in found):
        return False
    try:
        in_quotients = dims.rebuild(d, {a: _without_remainder(a) for a in remainders})
        return in_quotients == 0 or dims.rebuild(in_quotients, _as_products(known, found)) == 0
    except (ZeroDivisionError, ValueError):
        return False


def _without_remainder(op: Op) -> Dim:
    a, by = op.args
    return dims.sub(a, dims.mul(dims.floordiv(a, by), by))


def _as_products(known: Known, found: set[Atom]) -> dict[Atom, Dim]:
    """Symbols that are divisible, by their divisor times a new symbol."""
    leaf: dict[Atom, Dim] = {}
    for dividend, by in known.multiples:
        atom = dims.single_atom(dividend)
        if isinstance(atom, Sym) and atom in found:
            leaf[atom] = dims.mul(by, dims.symbol(f"<{atom.name} / {dims.text(by)}>"))
    for key, (g, r) in known.residues.items():
        atom = dims.single_atom(key)
        if isinstance(atom, Sym) and atom in found and g:
            leaf.setdefault(atom, dims.add(r, dims.mul(g, dims.symbol(f"<{atom.name} / {g}>"))))
    return leaf
