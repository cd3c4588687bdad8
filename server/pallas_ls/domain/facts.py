"""What is known on a path, and the questions it answers: "always", "never" or "cannot tell".

Facts are of three kinds: equality (kept as a substitution), divisibility (`m % tile_m == 0`) and bounds. They are
learnt from conditions; what cannot be used is kept only to answer the same question again. Every answer holds for each
binding that satisfies the facts; where an answer would need a long search, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import cond as conds
from . import dim as dims
from . import entail, interval, residue, rewrite
from .cond import And, Cond, NonPos, Not, Or, Same, Truth, Zero
from .consequences import implied_by_span, implied_by_value, in_class, renewed, solve, within
from .dim import Atom, Dim, Expr, Op
from .interval import Span
from .known import Known, multiple_of, rebuilt, residue_of, residue_of_atom, span_of, span_of_atom
from .notes import Notes, Numbers, opposite, with_integers, witnessed
from .residue import Residue
from .witness import IntCond, Witness

_CONSEQUENCES = 8  # how far a fact's consequences have consequences of their own; further ones are not drawn
#: So many disjunctions are kept for a second look; older ones stay assumed, but nothing more follows from them.
_CHOICES = 16


@dataclass(frozen=True, slots=True)
class Facts(Known):
    """An immutable set of facts.

    Attributes:
      assumed: conditions taken as true, as they were learnt.
      values: objects that equal a constant on this path, by name.
      choices: disjunctions of which more than one part is still open.
      contradictory: no binding satisfies them; code on such a path never runs.
      integers: of `assumed`, what speaks of integers alone, in the order in which it was learnt.
      notes: what was worked out already (the same question comes up several times at each branch, the same condition
        is learnt at each use of a value that differs under it).
    """

    assumed: frozenset[Cond] = frozenset()
    choices: tuple[Or, ...] = ()
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    contradictory: bool = False
    integers: tuple[IntCond, ...] = field(default=(), repr=False, compare=False)
    notes: Notes = field(default_factory=Notes, repr=False, compare=False)

    def _but(
        self,
        *,
        equal: dict[Atom, Dim] | None = None,
        multiples: tuple[tuple[Dim, Expr], ...] | None = None,
        residues: dict[Expr, Residue] | None = None,
        bounds: dict[Expr, Span] | None = None,
        assumed: frozenset[Cond] | None = None,
        choices: tuple[Or, ...] | None = None,
        values: dict[str, Any] | None = None,
        integers: tuple[IntCond, ...] | None = None,
        contradictory: bool = False,
    ) -> Facts:
        """These facts with some replaced (`dataclasses.replace` takes ten times as long)."""
        same = equal is multiples is residues is bounds is integers is None
        return Facts(
            self.equal if equal is None else equal,
            self.multiples if multiples is None else multiples,
            self.residues if residues is None else residues,
            self.bounds if bounds is None else bounds,
            self.assumed if assumed is None else assumed,
            self.choices if choices is None else choices,
            self.values if values is None else values,
            contradictory or self.contradictory,
            self.integers if integers is None else integers,
            Notes(self.notes.numbers if same else Numbers(self.notes.numbers)),
        )

    def witnesses(self) -> list[Witness]:
        """Bindings that satisfy the facts on integers, as far as some are known."""
        return self.notes.numbers.witnesses(self.integers)

    def learn(self, c: Cond) -> Facts:
        """These facts and `c`."""
        known = self.notes.learnt.get(c)
        if known is None:
            known = self._learn(c, _CONSEQUENCES)
            if known is not self:
                known = known._narrow_choices(conds.names(c), known.notes.numbers is not self.notes.numbers)
            self.notes.learnt[c] = known
        return known

    def _narrow_choices(self, touched: frozenset[str], counted: bool) -> Facts:
        """Of a disjunction learnt earlier that speaks of the same things, the only part that is still open is true.

        touched: names of what was learnt; counted: something was learnt of integers.
        """
        out = self
        for c in self.choices:
            if touched.isdisjoint(conds.names(c)):
                continue
            before, numbers = len(out.assumed), out.notes.numbers
            out = out._learn_only_open(c, _CONSEQUENCES, touched, counted)
            if len(out.assumed) > before:
                touched |= conds.names(c)
                counted = counted or out.notes.numbers is not numbers
        return out

    def _learn_only_open(self, c: Or, depth: int, touched: frozenset[str] | None = None, counted: bool = True) -> Facts:
        """`touched`, `counted`: as for `_narrow_choices`; what speaks of other things is as open as it was."""
        still_open: list[Cond] = []
        certain = False
        for x in c.conds:
            same = touched is not None and touched.isdisjoint(conds.names(x))
            answer = None if same and not (counted and conds.speaks_of_integers(x)) else self.decide(x)
            certain = certain or answer is True
            if answer is not False:
                still_open.append(x)
        if not still_open:
            return self._but(contradictory=True)
        kept = self.choices
        if len(still_open) == 1 or certain:
            kept = tuple(x for x in kept if x != c)
        elif len(still_open) < len(c.conds) or c not in kept:
            rest = Or(frozenset(still_open))
            kept = tuple(rest if x == c else x for x in kept) if c in kept else (*kept, rest)[-_CHOICES:]
        out = self if kept is self.choices else self._but(choices=kept)
        return out._learn(still_open[0], depth) if len(still_open) == 1 else out

    def _learn(self, c: Cond, depth: int) -> Facts:
        known = self.decide(c)
        if known is True or self.contradictory:
            return self
        if known is False:
            return self._but(contradictory=True)
        if isinstance(c, And):
            out = self
            for part in sorted(c.conds, key=conds.text):
                out = out._learn(part, depth)
            return out
        integers = with_integers(self.integers, c)
        out = self._but(assumed=self.assumed | {c}, integers=None if integers is self.integers else integers)
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
                return self._but(values={**self.values, c.name: c.value})
            case Not(cond=Zero(expr=e)):
                return self._learn_not_zero(self.simplify(e), depth)
            case Or():
                return self._learn_only_open(c, depth)
            case _:
                return self

    # -- equality ------------------------------------------------------------------------------------------------------

    def _learn_zero(self, e: Expr, depth: int) -> Facts:
        op = dims.as_op(e, "%")
        if op is not None:
            return self._learn_multiple(op.args[0], op.args[1], depth)
        solved = solve(e)
        if solved is not None:
            return self._substitute(*solved, depth)
        return self._learn_bound(e, depth)._learn_bound(dims.neg(e), depth)

    def _substitute(self, atom: Atom, value: Dim, depth: int) -> Facts:
        """Puts `value` in the atom's place in all facts; what is known of the atom is known of its value as well."""
        inherited = [*within(value, span_of_atom(self, atom)), *in_class(value, residue_of_atom(self, atom))]
        kept, touched = self._split_by(atom)
        equal = {**kept.equal, atom: value}
        out = kept._but(equal={a: rebuilt(d, {atom: value}) for a, d in equal.items()})
        anew = [r for c in touched for r in renewed(c, {atom: value})]
        implied = implied_by_value(self, atom, value) if isinstance(atom, Op) else []
        return out._learn_all([*inherited, *anew, *implied], depth)

    def _split_by(self, atom: Atom) -> tuple[Facts, list[Cond]]:
        """The facts that do not speak of the atom, and those that do as conditions to be learnt anew."""

        def speaks(d: Dim) -> bool:
            return atom in dims.atoms(d)

        touched: list[Cond] = [
            conds.equal(dims.of_atom(a), d) for a, d in self.equal.items() if speaks(dims.of_atom(a))
        ]
        touched += [conds.divides(by, d) for d, by in self.multiples if speaks(d) or speaks(by)]
        for key, known in self.residues.items():
            touched += in_class(key, known) if speaks(key) else []
        for key, span in self.bounds.items():
            touched += within(key, span) if speaks(key) else []
        kept = self._but(
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
        out = self._but(multiples=(*self.multiples, (dividend, by)))
        if isinstance(dividend, int):  # and not zero: it has divisors of its own size at most
            size = abs(dividend)
            return out._learn_all(within(by, (-size, size)), depth)
        return out

    def _learn_residue(self, d: Dim, known: Residue) -> Facts:
        """d is in the class. A factor that has no common divisor with the modulus is divided out."""
        if isinstance(d, int) or known[0] < 2:
            return self
        key, factor, constant = dims.primitive(d)
        modulus, remainder = residue.add(known, (0, -constant))
        common = residue.divisor((modulus, factor))
        if remainder % common:
            return self._but(contradictory=True)
        modulus //= common
        inverse = pow(factor // common, -1, modulus)
        found = residue.make(modulus, remainder // common * inverse)
        both = residue.meet(self.residues.get(key, residue.ANY), found)
        if both is None:
            return self._but(contradictory=True)
        return self._but(residues={**self.residues, key: both})

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
            return self._but(contradictory=True)
        out = self._but(bounds={**self.bounds, key: new})
        if depth == 0:
            return out
        atom = dims.single_atom(key)
        implied = implied_by_span(self, atom, new) if isinstance(atom, Op) else []
        return out._learn_all(implied, depth - 1)._learn_exact(key, depth - 1)

    def _learn_exact(self, key: Expr, depth: int) -> Facts:
        """Bounds that meet are an equality."""
        low, high = span_of(self, key)
        if low is None or low != high:
            return self
        e = self.simplify(dims.sub(key, low))
        return self._learn_zero(e, depth) if isinstance(e, Expr) and depth > 0 else self

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
        if isinstance(c, (Zero, NonPos)):
            return self._decide_numbers(c)
        answers = self.notes.answers
        if c not in answers:
            answers[c] = self._decide(c)
        return answers[c]

    def _decide_numbers(self, c: Zero | NonPos) -> bool | None:
        known = self.notes.numbers.answer(c)
        if known is None:
            known = (self._decide(c),)
            self.notes.numbers.answers[c] = known[0]
        return known[0]

    def _decide(self, c: Zero | NonPos | Truth | Same | Not | And | Or) -> bool | None:
        if self.assumed:
            if c in self.assumed:
                return True
            if conds.negate(c) in self.assumed:
                return False
        match c:
            case Zero() | NonPos():
                return self._decide_integers(c)
            case Same():
                return self._decide_same(c)
            case Truth():
                return False if self._is_none(c.name) else None
            case Not():
                inner = self.decide(c.cond)
                return None if inner is None else not inner
            case And():
                return conds.all_answers(self.decide(x) for x in c.conds)
            case Or():
                return conds.any_answer(self.decide(x) for x in c.conds)

    def _is_none(self, name: str) -> bool:
        return name in self.values and self.values[name] is None

    def _decide_same(self, c: Same) -> bool | None:
        if c.name in self.values:
            return self.values[c.name] == c.value
        return False if c.value is None and Truth(c.name) in self.assumed else None

    def _decide_integers(self, c: Zero | NonPos) -> bool | None:
        """Bindings that show the question to be open come before any search for a proof."""
        holds, fails = witnessed(self.witnesses(), c)
        if holds and fails:
            return None
        simpler = conds.zero(self.simplify(c.expr)) if isinstance(c, Zero) else conds.nonpos(self.simplify(c.expr))
        if not isinstance(simpler, (Zero, NonPos)):
            return simpler if isinstance(simpler, bool) else None
        if simpler in self.assumed or (isinstance(simpler, Zero) and Not(simpler) in self.assumed):
            return simpler in self.assumed
        plain = self._zero_by_spans(simpler.expr) if isinstance(simpler, Zero) else self._nonpos_by_span(simpler.expr)
        if plain is not None:
            return plain
        missing = opposite(c) if holds else c
        if (holds or fails) and missing is not None and self.notes.numbers.look_for(missing, self.integers):
            return None
        return self._prove_zero(simpler.expr) if isinstance(simpler, Zero) else self._prove_nonpos(simpler.expr)

    def _zero_by_spans(self, d: Expr) -> bool | None:
        low, high = span_of(self, d)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        if low == 0 == high or self._whole(d):
            return True
        g, r = residue_of(self, d)
        return False if r and (g == 0 or r % g) else None

    def _prove_zero(self, d: Expr) -> bool | None:
        if dims.as_op(d, "%") is not None:  # all that is known of multiples has been asked
            return None
        if entail.equal_in_quotients(self, d):
            return True
        return self._decide_zero_by_order(d)

    def _whole(self, d: Expr) -> bool:
        op = dims.as_op(d, "%")
        return op is not None and multiple_of(self, op.args[0], op.args[1])

    def _decide_zero_by_order(self, d: Expr) -> bool | None:
        """Neither more nor less than zero, or always one of them."""
        for side in (d, dims.neg(d)):
            if entail.never_positive(self, side):
                if entail.never_positive(self, dims.neg(side)):
                    return True
                return False if entail.never_positive(self, dims.add(side, 1)) else None
        return None

    def _nonpos_by_span(self, d: Expr) -> bool | None:
        low, high = self._span(d)
        if high is not None and high <= 0:
            return True
        return False if low is not None and low > 0 else None

    def _prove_nonpos(self, d: Expr) -> bool | None:
        if entail.never_positive(self, d):
            return True
        return False if entail.never_positive(self, dims.sub(1, d)) else None

    def divisor(self, d: Dim) -> int:
        """The largest integer known to divide `d` (0 for zero, at least 1 otherwise)."""
        return residue.divisor(residue_of(self, self.simplify(d)))

    def span(self, d: Dim) -> Span:
        """Known inclusive bounds of `d`."""
        return self._span(self.simplify(d))

    def _span(self, e: Dim) -> Span:
        """Bounds move to the next member of the residue class."""
        low, high = span_of(self, e)
        g, r = residue_of(self, e)
        if g > 1:
            low = None if low is None else residue.next_up((g, r), low)
            high = None if high is None else residue.next_down((g, r), high)
        return low, high

    def simplify(self, d: Dim) -> Dim:
        """`d` with equalities put in, decided minimums and remainders resolved, and `x // k * k` folded where k | x."""
        if isinstance(d, int):
            return d
        known = self.notes.numbers.simpler
        found = known.get(d)
        if found is None:
            found = known[d] = rewrite.simplify(self, d)
        return found
