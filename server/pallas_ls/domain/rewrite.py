"""Expressions made simpler by what is known: equalities put in, remainders and minimums that are decided, ..."""

from __future__ import annotations

from . import dim as dims
from . import entail
from .dim import Atom, Dim, Expr, Op
from .known import DEPTH, Known, exact_division, multiple_of, rebuilt, residue_of, span_of, substitute


def simplify(known: Known, d: Dim, depth: int = DEPTH) -> Dim:
    """An expression of the same value on the path."""
    for _ in range(depth):
        if isinstance(d, int):
            return d
        out = _fold(known, _simplify_ops(known, substitute(known, d), depth))
        if out == d:
            return out
        d = out
    return d


def _simplify_ops(known: Known, d: Dim, depth: int) -> Dim:
    """Each operation in a term simplified, its arguments first."""
    if isinstance(d, int):
        return d
    leaf: dict[Atom, Dim] = {}
    for m, _ in d.terms:
        for atom, _ in m:
            if isinstance(atom, Op) and atom not in leaf:
                simpler = _simplify_op(known, atom, depth)
                if simpler != dims.of_atom(atom):
                    leaf[atom] = simpler
    return rebuilt(d, leaf) if leaf else d


def _simplify_op(known: Known, op: Op, depth: int) -> Dim:
    args = tuple(simplify(known, a, depth - 1) for a in op.args)
    if args != op.args:
        try:
            return dims.apply_op(op.name, args)
        except (ZeroDivisionError, ValueError):  # no value on this path: left as it was written
            return dims.of_atom(op)
    match op.name:
        case "min" | "max":
            return _decided_extreme(known, op)
        case "%":
            return _simplify_mod(known, op.args[0], op.args[1])
        case "//":
            return _simplify_floordiv(known, op.args[0], op.args[1])
        case _:
            return dims.of_atom(op)


def _decided_extreme(known: Known, op: Op) -> Dim:
    """Arguments that another one is never beaten by are dropped."""
    kept = list(op.args)
    for d in op.args:
        others = [x for x in kept if x != d]
        if any(_never_positive(known, dims.sub(x, d) if op.name == "min" else dims.sub(d, x)) for x in others):
            kept = others
    return dims.apply_op(op.name, tuple(kept))


def _simplify_mod(known: Known, a: Dim, by: Dim) -> Dim:
    if isinstance(by, int):
        g, r = residue_of(known, a)
        if g % by == 0:
            return r % by
    _, rest = _split_exact(known, a, by)
    for k in _whole_steps(known, rest, by):
        return dims.sub(rest, dims.mul(k, by))
    return dims.of_atom(Op("%", (a, by))) if rest == a else dims.mod(rest, by)


def _simplify_floordiv(known: Known, a: Dim, by: Dim) -> Dim:
    """Terms that `by` divides are divided one by one; what is left is often less than a divisor (`(m + t - 1)//t`)."""
    whole, rest = _split_exact(known, a, by)
    for k in _whole_steps(known, rest, by):
        return dims.add(whole, k)
    if rest == a:
        return _rounded_up(known, a, by)
    return dims.add(whole, dims.floordiv(rest, by))


def _rounded_up(known: Known, a: Dim, by: Dim) -> Dim:
    """-(-m // t) is (m + t - 1) // t for t > 0, and the latter is how it is usually written."""
    if isinstance(by, Expr) and dims.leads_negative(a) and _at_least(known, by, 1):
        return dims.neg(dims.floordiv(dims.sub(dims.add(dims.neg(a), by), 1), by))
    return dims.of_atom(Op("//", (a, by)))


def _split_exact(known: Known, a: Dim, by: Dim) -> tuple[Dim, Dim]:
    """(whole, rest) with a == whole * by + rest, as much in `whole` as is known to divide."""
    whole: Dim = 0
    rest: Dim = 0
    for m, c in dims.terms_of(a):
        term = dims.of_term(m, c)
        q = exact_division(known, term, by)
        if q is None:
            rest = dims.add(rest, term)
        else:
            whole = dims.add(whole, q)
    return whole, rest


def _whole_steps(known: Known, rest: Dim, by: Dim) -> list[int]:
    """[rest // by] where that is known to be 0 or -1."""
    if rest == 0:
        return [0]
    if not (_at_least(known, by, 1) or _never_positive(known, dims.sub(1, by))):
        return []
    for k in (0, -1):
        left = dims.sub(rest, dims.mul(k, by))  # 0 <= left < by
        if _at_least(known, left, 0) and _never_positive(known, dims.add(dims.sub(left, by), 1)):
            return [k]
    return []


def _at_least(known: Known, d: Dim, least: int) -> bool:
    low, _ = span_of(known, d)
    return low is not None and low >= least


def _never_positive(known: Known, d: Dim) -> bool:
    return entail.never_positive(known, d, entail.SMALL_BUDGET)


def _fold(known: Known, d: Dim) -> Dim:
    """`x // k * k` is x where k divides x."""
    if isinstance(d, int):
        return d
    for m, c in d.terms:
        for atom, _ in m:
            if isinstance(atom, Op) and atom.name == "//":
                whole, by = atom.args
                term = dims.of_term(m, c)
                rest = dims.exact_quotient(term, dims.mul(dims.of_atom(atom), by))
                if rest is not None and multiple_of(known, whole, by):
                    return _fold(known, dims.add(dims.sub(d, term), dims.mul(rest, whole)))
    return d
