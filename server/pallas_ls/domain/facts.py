"""What is known on a path, and the questions it answers: "always", "never" or "cannot tell".

Facts are of three kinds: equality (kept as a substitution), divisibility (`m % tile_m == 0`) and bounds. They are learnt from
conditions; what cannot be used is kept only to answer the same question again. Every answer holds for each binding that
satisfies the facts; where an answer would need a search, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from . import cond as conds
from . import dim as dims
from . import entail, interval, residue, rewrite
from .cond import And, Cond, NonPos, Not, Or, Same, Truth, Zero
from .dim import Atom, Dim, Expr, Op, Sym
from .interval import Span
from .known import Known, multiple_of, residue_of, residue_of_atom, span_of, span_of_atom
from .residue import Residue

_CONSEQUENCES = 8  # how far a fact's consequences have consequences of their own; further ones are not drawn


@dataclass(frozen=True, slots=True)
class Facts(Known):
    """An immutable set of facts.

    Attributes:
      assumed: conditions taken as true, as they were learnt.
      values: objects that equal a constant on this path, by name.
      contradictory: no binding satisfies them; code on such a path never runs.
    """

    assumed: frozenset[Cond] = frozenset()
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    contradictory: bool = False

    def learn(self, c: Cond) -> Facts:
        """These facts and `c`."""
        return self._learn(c, _CONSEQUENCES)

    def _learn(self, c: Cond, depth: int) -> Facts:
        known = self.decide(c)
        if known is True or self.contradictory:
            return self
        if known is False:
            return replace(self, contradictory=True)
        if isinstance(c, And):
            out = self
            for part in sorted(c.conds, key=conds.text):
                out = out._learn(part, depth)
            return out
        out = replace(self, assumed=self.assumed | {c})
        return out._consequences(c, depth - 1) if depth else out

    def _learn_all(self, cs: Iterable[Cond], depth: int) -> Facts:
        out = self
        for c in cs:
            out = out._learn(c, depth)
        return out

    def _consequences(self, c: Cond, depth: int) -> Facts:
        match c:
            case Zero():
                e = self.simplify(c.expr)
                return self._learn_zero(e, depth) if isinstance(e, Expr) else self
            case NonPos():
                return self._learn_bound(self.simplify(c.expr), depth)
            case Same():
                return replace(self, values={**self.values, c.name: c.value})
            case Not(cond=Zero(expr=e)):
                return self._learn_not_zero(self.simplify(e), depth)
            case Or():
                open_parts = [x for x in c.conds if self.decide(x) is not False]
                return self._learn(open_parts[0], depth) if len(open_parts) == 1 else self
            case _:
                return self

    # -- equality ------------------------------------------------------------------------------------------------------

    def _learn_zero(self, e: Expr, depth: int) -> Facts:
        op = dims.as_op(e, "%")
        if op is not None:
            return self._learn_multiple(op.args[0], op.args[1], depth)
        solved = _solve(e)
        if solved is not None:
            return self._substitute(*solved, depth)
        return self._learn_bound(e, depth)._learn_bound(dims.neg(e), depth)

    def _substitute(self, atom: Atom, value: Dim, depth: int) -> Facts:
        """Puts `value` in the atom's place in all facts; what is known of the atom is known of its value as well."""
        inherited = [*_within(value, span_of_atom(self, atom)), *_in_class(value, residue_of_atom(self, atom))]
        kept, touched = self._split_by(atom)
        equal = {**kept.equal, atom: value}
        out = replace(kept, equal={a: _rebuilt(d, {atom: value}) for a, d in equal.items()})
        renewed = [r for c in touched for r in _renewed(c, {atom: value})]
        implied = _implied_by_value(self, atom, value) if isinstance(atom, Op) else []
        return out._learn_all([*inherited, *renewed, *implied], depth)

    def _split_by(self, atom: Atom) -> tuple[Facts, list[Cond]]:
        """The facts that do not speak of the atom, and those that do as conditions to be learnt anew."""

        def speaks(d: Dim) -> bool:
            return atom in dims.atoms(d)

        touched: list[Cond] = [
            conds.equal(dims.of_atom(a), d) for a, d in self.equal.items() if speaks(dims.of_atom(a))
        ]
        touched += [conds.divides(by, d) for d, by in self.multiples if speaks(d) or speaks(by)]
        for key, known in self.residues.items():
            touched += _in_class(key, known) if speaks(key) else []
        for key, span in self.bounds.items():
            touched += _within(key, span) if speaks(key) else []
        kept = replace(
            self,
            equal={a: d for a, d in self.equal.items() if not speaks(dims.of_atom(a))},
            multiples=tuple((d, by) for d, by in self.multiples if not (speaks(d) or speaks(by))),
            residues={k: r for k, r in self.residues.items() if not speaks(k)},
            bounds={k: s for k, s in self.bounds.items() if not speaks(k)},
        )
        return kept, touched

    # -- divisibility --------------------------------------------------------------------------------------------------

    def _learn_multiple(self, dividend: Dim, by: Dim, depth: int) -> Facts:
        if isinstance(by, int):
            return self._learn_residue(dividend, (by, 0))
        assert isinstance(by, Expr)
        out = replace(self, multiples=(*self.multiples, (dividend, by)))
        if isinstance(dividend, int):  # and not zero: it has divisors of its own size at most
            size = abs(dividend)
            return out._learn_all(_within(by, (-size, size)), depth)
        return out

    def _learn_residue(self, d: Dim, known: Residue) -> Facts:
        """d is in the class. A factor that has no common divisor with the modulus is divided out."""
        if isinstance(d, int) or known[0] < 2:
            return self
        key, factor, constant = dims.primitive(d)
        modulus, remainder = residue.add(known, (0, -constant))
        common = residue.divisor((modulus, factor))
        if remainder % common:
            return replace(self, contradictory=True)
        modulus //= common
        inverse = pow(factor // common, -1, modulus)
        found = residue.make(modulus, remainder // common * inverse)
        both = residue.meet(self.residues.get(key, residue.ANY), found)
        if both is None:
            return replace(self, contradictory=True)
        return replace(self, residues={**self.residues, key: both})

    # -- bounds --------------------------------------------------------------------------------------------------------

    def _learn_bound(self, d: Dim, depth: int) -> Facts:
        """d <= 0, kept as a bound of its primitive form."""
        if isinstance(d, int):
            return self
        key, factor, constant = dims.primitive(d)
        limit = -constant // abs(factor) if factor > 0 else -(-constant // abs(factor))
        old = self.bounds.get(key, interval.ANY)
        new = interval.meet(old, (None, limit) if factor > 0 else (limit, None))
        if new == old:
            return self
        if interval.is_empty(new):
            return replace(self, contradictory=True)
        out = replace(self, bounds={**self.bounds, key: new})
        if depth == 0:
            return out
        low, high = interval.meet(span_of(out, key), new)
        exact = [conds.equal(key, low)] if low is not None and low == high else []
        atom = dims.single_atom(key)
        implied = _implied_by_span(self, atom, new) if isinstance(atom, Op) else []
        return out._learn_all([*exact, *implied], depth - 1)

    def _learn_not_zero(self, e: Dim, depth: int) -> Facts:
        """A bound that is excluded moves by one."""
        low, high = self.span(e)
        if low == 0:
            return self._learn(conds.less(0, e), depth)
        return self._learn(conds.less(e, 0), depth) if high == 0 else self

    # -- questions -----------------------------------------------------------------------------------------------------

    def decide(self, c: Cond) -> bool | None:
        """True: always; False: never; None: cannot tell."""
        if isinstance(c, bool):
            return c
        if self.assumed:
            if c in self.assumed:
                return True
            if conds.negate(c) in self.assumed:
                return False
        match c:
            case Zero():
                return self._decide_zero(c.expr)
            case NonPos():
                return self._decide_nonpos(c.expr)
            case Same():
                return self._decide_same(c)
            case Truth():
                return False if self._is_none(c.name) else None
            case Not():
                inner = self.decide(c.cond)
                return None if inner is None else not inner
            case And():
                return _all_of(self.decide(x) for x in c.conds)
            case Or():
                return _any_of(self.decide(x) for x in c.conds)

    def _is_none(self, name: str) -> bool:
        return name in self.values and self.values[name] is None

    def _decide_same(self, c: Same) -> bool | None:
        if c.name in self.values:
            return self.values[c.name] == c.value
        return False if c.value is None and Truth(c.name) in self.assumed else None

    def _decide_zero(self, e: Expr) -> bool | None:
        c = conds.zero(self.simplify(e))
        if not isinstance(c, Zero):
            return c if isinstance(c, bool) else None
        if c in self.assumed or Not(c) in self.assumed:
            return c in self.assumed
        d = c.expr
        low, high = span_of(self, d)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        if low == 0 == high or self._whole(d):
            return True
        g, r = residue_of(self, d)
        if r and (g == 0 or r % g):
            return False
        if self._equal_in_quotients(d):
            return True
        return self._decide_zero_by_order(d)

    def _whole(self, d: Expr) -> bool:
        op = dims.as_op(d, "%")
        return op is not None and multiple_of(self, op.args[0], op.args[1])

    def _equal_in_quotients(self, d: Expr) -> bool:
        """`m//128*64 == m//2`: what is divisible is written as its divisor times a quotient, and then all cancels."""
        leaf = self._as_products(d)
        try:
            return bool(leaf) and dims.rebuild(d, leaf) == 0
        except (ZeroDivisionError, ValueError):
            return False

    def _as_products(self, d: Expr) -> dict[Atom, Dim]:
        """Atoms that are divisible, and remainders, by quotients; empty where `d` has no operation that these would resolve."""
        found = dims.atoms(d)
        if not any(isinstance(a, Op) and a.name in ("//", "%") for a in found):
            return {}
        leaf: dict[Atom, Dim] = {}
        for atom in found:
            if isinstance(atom, Op) and atom.name == "%":
                a, by = atom.args
                leaf[atom] = dims.sub(a, dims.mul(dims.floordiv(a, by), by))
        for dividend, by in self.multiples:
            atom = dims.single_atom(dividend)
            if atom in found and isinstance(atom, Sym):
                leaf[atom] = dims.mul(by, dims.symbol(f"<{atom.name} / {dims.text(by)}>"))
        for key, (g, r) in self.residues.items():
            atom = dims.single_atom(key)
            if atom in found and isinstance(atom, Sym) and g:
                leaf.setdefault(atom, dims.add(r, dims.mul(g, dims.symbol(f"<{atom.name} / {g}>"))))
        return leaf

    def _decide_zero_by_order(self, d: Expr) -> bool | None:
        """Neither more nor less than zero, or always one of them."""
        if entail.never_positive(self, dims.add(d, 1)) or entail.never_positive(self, dims.sub(1, d)):
            return False
        if entail.never_positive(self, d) and entail.never_positive(self, dims.neg(d)):
            return True
        return None

    def _decide_nonpos(self, e: Expr) -> bool | None:
        c = conds.nonpos(self.simplify(e))
        if not isinstance(c, NonPos):
            return c if isinstance(c, bool) else None
        if c in self.assumed:
            return True
        if entail.never_positive(self, c.expr):
            return True
        return False if entail.never_positive(self, dims.sub(1, c.expr)) else None

    def divisor(self, d: Dim) -> int:
        """The largest integer known to divide `d` (0 for zero, at least 1 otherwise)."""
        return residue.divisor(residue_of(self, self.simplify(d)))

    def span(self, d: Dim) -> Span:
        """Known inclusive bounds of `d`."""
        e = self.simplify(d)
        low, high = span_of(self, e)
        g, r = residue_of(self, e)
        if g > 1:
            low = None if low is None else residue.next_up((g, r), low)
            high = None if high is None else residue.next_down((g, r), high)
        return low, high

    def simplify(self, d: Dim) -> Dim:
        """`d` with equalities put in, decided minimums and remainders resolved, and `x // k * k` folded where k divides x."""
        return rewrite.simplify(self, d)


def _all_of(answers: Iterable[bool | None]) -> bool | None:
    seen = list(answers)
    return False if False in seen else None if None in seen else True


def _any_of(answers: Iterable[bool | None]) -> bool | None:
    seen = list(answers)
    return True if True in seen else None if None in seen else False


def _solve(e: Expr) -> tuple[Atom, Dim] | None:
    """(atom, value) from e == 0: an atom of weight 1 or -1 that its value does not speak of; symbols before operations."""
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


def _rebuilt(d: Dim, leaf: dict[Atom, Dim]) -> Dim:
    try:
        return dims.rebuild(d, leaf)
    except (ZeroDivisionError, ValueError):
        return d


def _renewed(c: Cond, leaf: dict[Atom, Dim]) -> list[Cond]:
    """The condition with atoms replaced; none where an operation then has no value (what it said is given up)."""
    try:
        if isinstance(c, Zero):
            return [conds.zero(dims.rebuild(c.expr, leaf))]
        if isinstance(c, NonPos):
            return [conds.nonpos(dims.rebuild(c.expr, leaf))]
    except (ZeroDivisionError, ValueError):
        return []
    return [c]


def _within(d: Dim, span: Span) -> list[Cond]:
    low, high = span
    above = [] if low is None else [conds.at_most(low, d)]
    return above if high is None else [*above, conds.at_most(d, high)]


def _in_class(d: Dim, known: Residue) -> list[Cond]:
    g, r = known
    return [conds.divides(g, dims.sub(d, r))] if g > 1 else []


def _implied_by_value(known: Known, op: Op, value: Dim) -> list[Cond]:
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


def _implied_by_span(known: Known, op: Op, span: Span) -> list[Cond]:
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
