"""What is known of integers (equalities, divisibility, residues and bounds), and what follows for an expression.

`Known` is the part of `domain.facts.Facts` that speaks of integers. The functions here look at an expression's parts
one by one; `domain.entail` combines several facts, `domain.rewrite` simplifies with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import dim as dims
from . import interval, residue
from .dim import Atom, Dim, Expr, Monomial, Op, Sym
from .interval import Span
from .residue import Residue
from .witness import Witness

DEPTH = 5  # questions nest (a divisor of a quotient of a minimum, ...): deeper ones are given up, never guessed


@dataclass(frozen=True, slots=True)
class Known:
    """Facts on integers, each true on the path.

    Attributes:
      equal: atoms that equal another Dim on this path; no key occurs in a value.
      multiples: (dividend, divisor) pairs with a symbolic divisor: dividend % divisor == 0.
      residues: (modulus, remainder) of expressions in their primitive form (see `dim.primitive`).
      bounds: inclusive bounds (low, high) of expressions in their primitive form.
    """

    equal: dict[Atom, Dim] = field(default_factory=dict[Atom, Dim])
    multiples: tuple[tuple[Dim, Expr], ...] = ()
    residues: dict[Expr, Residue] = field(default_factory=dict[Expr, Residue])
    bounds: dict[Expr, Span] = field(default_factory=dict[Expr, Span])

    def witnesses(self) -> list[Witness]:
        """Bindings that satisfy these facts, as far as some are known."""
        return []


def substitute(known: Known, d: Dim) -> Dim:
    """`d` with equalities put in; as it is where an operation would then have no value."""
    if isinstance(d, int) or not known.equal or dims.atoms(d).isdisjoint(known.equal):
        return d
    return rebuilt(d, known.equal)


def rebuilt(d: Dim, leaf: Mapping[Atom, Dim]) -> Dim:
    """`d` with atoms replaced, or as it is where an operation then has no value (the path that does it never runs)."""
    try:
        return dims.rebuild(d, leaf)
    except (ZeroDivisionError, ValueError):
        return d


# -- bounds -----------------------------------------------------------------------------------------------------------


def span_of(known: Known, d: Dim, depth: int = DEPTH) -> Span:
    """Inclusive bounds of `d`: those of its terms added up, and what is known of the sum itself."""
    if isinstance(d, int):
        return d, d
    out: Span = (0, 0)
    for m, c in d.terms:
        part = interval.scale(span_of_monomial(known, m, depth), c) if m else (c, c)
        out = interval.add(out, part)
    if known.bounds and dims.single_atom(d) is None:
        key, factor, constant = dims.primitive(d)
        if key in known.bounds:
            direct = interval.add(interval.scale(known.bounds[key], factor), (constant, constant))
            out = interval.meet(out, direct)
    return out


def span_of_monomial(known: Known, m: Monomial, depth: int = DEPTH) -> Span:
    """Inclusive bounds of a product of atoms."""
    out: Span | None = None
    for atom, p in m:
        part = span_of_atom(known, atom, depth)
        if p > 1:
            part = interval.power(part, p)
        out = part if out is None else interval.mul(out, part)
    return (1, 1) if out is None else out


def span_of_atom(known: Known, atom: Atom, depth: int = DEPTH) -> Span:
    """Inclusive bounds of an atom, by construction and as learnt."""
    out = (atom.low, atom.high) if isinstance(atom, Sym) else _span_of_op(known, atom, depth)
    learnt = known.bounds.get(dims.of_atom(atom)) if known.bounds else None
    return out if learnt is None else interval.meet(out, learnt)


def _span_of_op(known: Known, op: Op, depth: int) -> Span:
    if op.name == "bits":
        return 1, 128
    if depth == 0:
        return interval.ANY
    spans = [span_of(known, a, depth - 1) for a in op.args]
    match op.name:
        case "min":
            return interval.smallest(spans)
        case "max":
            return interval.largest(spans)
        case "//":
            return interval.floordiv(spans[0], spans[1])
        case "%":
            return interval.mod(spans[0], spans[1])
        case _:
            return _span_of_bits(op.name, spans)


def _span_of_bits(name: str, spans: list[Span]) -> Span:
    """Shifts, powers and masks, of arguments that are not negative."""
    (low, high), (other_low, other_high) = spans
    if name == "&":  # as many ones as the least of those that are not negative
        tops = [h for lo, h in spans if lo is not None and lo >= 0]
        known_tops = [h for h in tops if h is not None]
        return (0, min(known_tops, default=None)) if tops else interval.ANY
    if low is None or low < 0 or other_low is None or other_low < 0:
        return interval.ANY
    match name:
        case ">>":
            return 0, high
        case "<<":
            return low, None
        case "|":
            return max(low, other_low), None if high is None or other_high is None else high + other_high
        case "^":
            return 0, None if high is None or other_high is None else high + other_high
        case "**":
            return min(low, 1), None
        case _:
            return interval.ANY


# -- residues ---------------------------------------------------------------------------------------------------------


def residue_of(known: Known, d: Dim, depth: int = DEPTH) -> Residue:
    """The residue class that `d` is certainly in."""
    if isinstance(d, int):
        return 0, d
    out: Residue = (0, 0)
    for m, c in d.terms:
        part: Residue = (0, c)
        for atom, p in m:
            one = residue_of_atom(known, atom, depth)
            for _ in range(p):
                part = residue.mul(part, one)
        out = residue.add(out, part)
    if known.residues and dims.single_atom(d) is None:
        key, factor, constant = dims.primitive(d)
        if key in known.residues:
            out = _meet(out, residue.add(residue.mul(known.residues[key], (0, factor)), (0, constant)))
    for dividend, by in known.multiples if depth else ():
        if dividend == d:
            out = _meet(out, (_divisor(known, by, depth - 1), 0))
    return out


def residue_of_atom(known: Known, atom: Atom, depth: int = DEPTH) -> Residue:
    """The residue class that an atom is certainly in."""
    if depth == 0:
        return residue.ANY
    out = _residue_of_op(known, atom, depth - 1) if isinstance(atom, Op) else residue.ANY
    if known.residues or known.multiples:
        me = dims.of_atom(atom)
        out = _meet(out, known.residues.get(me, residue.ANY))
        for dividend, by in known.multiples:
            if dividend == me:
                out = _meet(out, (_divisor(known, by, depth - 1), 0))
    return out


def _meet(a: Residue, b: Residue) -> Residue:
    """Both; where they exclude each other the path never runs and any answer is right."""
    out = residue.meet(a, b)
    return a if out is None else out


def _divisor(known: Known, d: Dim, depth: int) -> int:
    """At least 1: a divisor is never zero."""
    return max(1, residue.divisor(residue_of(known, d, depth)))


def _residue_of_op(known: Known, op: Op, depth: int) -> Residue:
    if op.name == "//":
        by = op.args[1]
        return residue.floordiv(residue_of(known, op.args[0], depth), by) if isinstance(by, int) else residue.ANY
    if op.name == "<<":
        return _divisor(known, op.args[0], depth), 0
    if op.name not in ("min", "max", "%"):
        return residue.ANY
    parts = [residue_of(known, a, depth) for a in op.args]
    if op.name == "%":
        return residue.mod(parts[0], parts[1])
    out = parts[0]
    for part in parts[1:]:
        out = residue.join(out, part)
    return out


# -- symbolic divisors ------------------------------------------------------------------------------------------------


def multiple_of(known: Known, d: Dim, by: Dim, depth: int = DEPTH) -> bool:
    """Certainly d % by == 0, if that has a value: as a whole, or each term by itself."""
    if depth == 0:
        return False
    if isinstance(by, int):
        g, r = residue_of(known, d, depth)
        return by != 0 and g % by == 0 and r % by == 0
    if _holds_multiple(known, d, by, depth):
        return True
    if isinstance(d, int) or len(d.terms) == 1:
        return False
    return all(_holds_multiple(known, dims.of_term(m, c), by, depth) for m, c in d.terms)


def _holds_multiple(known: Known, d: Dim, by: Dim, depth: int) -> bool:
    """`d` has the factor `by`, or a dividend among its factors whose divisor, put in its place, makes it a multiple."""
    if dims.exact_quotient(d, by) is not None:
        return True
    for dividend, divisor in known.multiples:
        rest = dims.exact_quotient(d, dividend)
        if rest is not None and multiple_of(known, dims.mul(rest, divisor), by, depth - 1):
            return True
    return False


def exact_division(known: Known, term: Dim, by: Dim) -> Dim | None:
    """term / by where that is certainly whole, as a product with one quotient in it; None where it does not show."""
    q = dims.exact_quotient(term, by)
    if q is not None:
        return q
    for dividend, divisor in known.multiples:
        rest = dims.exact_quotient(term, dividend)
        if rest is not None and multiple_of(known, divisor, by, DEPTH - 1):
            return dims.mul(rest, dims.floordiv(dividend, by))
    if isinstance(by, int) and isinstance(term, Expr) and len(term.terms) == 1:
        for atom, _ in term.terms[0][0]:
            if multiple_of(known, dims.of_atom(atom), by):
                rest = dims.exact_quotient(term, dims.of_atom(atom))
                assert rest is not None
                return dims.mul(rest, dims.floordiv(dims.of_atom(atom), by))
    return None
