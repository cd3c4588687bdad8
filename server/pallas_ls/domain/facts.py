"""What is known on a path, and the questions it answers: "always", "never" or "cannot tell".

Facts are of three kinds: equality (kept as a substitution), divisibility (`m % tile_m == 0`) and bounds. They are learnt from
conditions; what cannot be used is kept only to answer the same question again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import gcd, lcm
from typing import Any

from . import cond as conds
from . import dim as dims
from .cond import And, Cond, NonPos, Not, Or, Same, Zero
from .dim import Atom, Dim, Expr, Op, Sym

_DEPTH = 6  # questions nest (a divisor of a quotient of a minimum, ...): deeper ones are given up, never guessed


@dataclass(frozen=True, slots=True)
class Facts:
    """An immutable set of facts.

    Attributes:
      assumed: conditions taken as true, as they were learnt.
      values: objects that equal a constant on this path, by name.
      equal: atoms that equal another Dim on this path.
      multiples: (dividend, divisor) pairs: dividend % divisor == 0.
      bounds: inclusive bounds (low, high) of expressions without a constant part.
      contradictory: no binding satisfies them; code on such a path never runs.
    """

    assumed: frozenset[Cond] = frozenset()
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    equal: dict[Atom, Dim] = field(default_factory=dict[Atom, Dim])
    multiples: tuple[tuple[Expr, Dim], ...] = ()
    bounds: dict[Expr, tuple[int | None, int | None]] = field(default_factory=dict[Expr, tuple[int | None, int | None]])
    contradictory: bool = False

    def learn(self, c: Cond) -> Facts:
        """These facts and `c`."""
        known = self.decide(c)
        if known is True:
            return self
        if known is False:
            return replace(self, contradictory=True)
        if isinstance(c, And):
            out = self
            for part in sorted(c.conds, key=conds.text):
                out = out.learn(part)
            return out
        out = replace(self, assumed=self.assumed | {c})
        if isinstance(c, Zero):
            return out._learn_zero(c.expr)
        if isinstance(c, NonPos):
            return out._learn_bound(c.expr)
        if isinstance(c, Same):
            return replace(out, values={**self.values, c.name: c.value})
        return out

    def _learn_zero(self, e: Expr) -> Facts:
        op = dims.as_op(e, "%")
        if op is not None:
            dividend, divisor = op.args
            assert isinstance(dividend, Expr)
            return replace(self, multiples=(*self.multiples, (dividend, divisor)))
        for m, c in e.terms:
            if abs(c) == 1 and len(m) == 1 and m[0][1] == 1:
                atom = m[0][0]
                rest = dims.sub(e, dims.mul(c, dims.of_atom(atom)))
                value = dims.mul(-c, rest)
                if atom not in dims.atoms(value):
                    return self._substitute(atom, value)
        return self

    def _substitute(self, atom: Atom, value: Dim) -> Facts:
        """Bounds of the atom hold of its value as well; both are kept."""
        out = replace(self, equal={**self.equal, atom: value})
        low, high = _span_of_atom(self, atom, _DEPTH)
        if isinstance(value, Expr):
            if low is not None:
                out = out._learn_bound_expr(dims.sub(low, value))
            if high is not None:
                out = out._learn_bound_expr(dims.sub(value, high))
            divisor = _divisor_of_atom(self, atom, _DEPTH)
            if divisor > 1:
                out = replace(out, multiples=(*out.multiples, (value, divisor)))
        return out

    def _learn_bound_expr(self, d: Dim) -> Facts:
        return self._learn_bound(d) if isinstance(d, Expr) else self

    def _learn_bound(self, e: Expr) -> Facts:
        """e <= 0, as a bound of its varying part."""
        constant = _constant(e)
        varying = dims.sub(e, constant)
        assert isinstance(varying, Expr)
        if varying.terms[0][1] > 0:
            key, low, high = varying, None, -constant
        else:
            flipped = dims.neg(varying)
            assert isinstance(flipped, Expr)
            key, low, high = flipped, constant, None
        old_low, old_high = self.bounds.get(key, (None, None))
        new = (_tighter(max, old_low, low), _tighter(min, old_high, high))
        return replace(self, bounds={**self.bounds, key: new})

    # -- questions ---------------------------------------------------------------------------------------------------------

    def decide(self, c: Cond) -> bool | None:
        """True: always; False: never; None: cannot tell."""
        if isinstance(c, bool):
            return c
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
                return self.values[c.name] == c.value if c.name in self.values else None
            case Not():
                inner = self.decide(c.cond)
                return None if inner is None else not inner
            case And():
                return _all_of(self.decide(x) for x in c.conds)
            case Or():
                return _any_of(self.decide(x) for x in c.conds)
            case _:
                return None

    def _decide_zero(self, e: Expr) -> bool | None:
        d = self.simplify(e)
        if isinstance(d, int):
            return d == 0
        op = dims.as_op(d, "%")
        if op is not None:
            known = self._divisible(op.args[0], op.args[1])
            if known is not None:
                return known
        low, high = self.span(d)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        varying = dims.sub(d, _constant(d))
        g = self.divisor(varying)
        if g and _constant(d) % g:
            return False
        return True if low == 0 == high else None

    def _decide_nonpos(self, e: Expr) -> bool | None:
        d = self.simplify(e)
        if isinstance(d, int):
            return d <= 0
        low, high = self.span(d)
        if high is not None and high <= 0:
            return True
        return False if low is not None and low > 0 else None

    def _divisible(self, d: Dim, by: Dim) -> bool | None:
        """d % by == 0."""
        if isinstance(by, int):
            varying = dims.sub(d, _constant(d))
            g = self.divisor(varying)
            if g % by == 0:
                return _constant(d) % by == 0
            common = gcd(g, by)
            return False if common > 1 and _constant(d) % common else None
        return True if self._multiple_of(d, by, _DEPTH) else None

    def _multiple_of(self, d: Dim, by: Dim, depth: int) -> bool:
        """Certainly d % by == 0, `by` symbolic: each term holds `by`, or a factor that is a multiple of it."""
        if depth == 0:
            return False
        if d == 0 or dims.exact_quotient(d, by) is not None or (isinstance(by, int) and self.divisor(d) % by == 0):
            return True
        if any(dividend == d and self._multiple_of(divisor, by, depth - 1) for dividend, divisor in self.multiples):
            return True
        if isinstance(d, int):
            return False
        return all(self._term_multiple_of(m, c, by, depth) for m, c in d.terms)

    def _term_multiple_of(self, m: dims.Monomial, c: int, by: Dim, depth: int) -> bool:
        term = dims.mul(c, dims.product(tuple(dims.of_atom(a) for a, p in m for _ in range(p))))
        if dims.exact_quotient(term, by) is not None:
            return True
        return any(
            dims.exact_quotient(term, dividend) is not None and self._multiple_of(divisor, by, depth - 1)
            for dividend, divisor in self.multiples
        )

    def divisor(self, d: Dim) -> int:
        """The largest integer known to divide `d` (0 for zero, at least 1 otherwise)."""
        return _divisor(self, self.simplify(d), _DEPTH)

    def span(self, d: Dim) -> tuple[int | None, int | None]:
        """Known inclusive bounds of `d`."""
        return _span(self, self.simplify(d), _DEPTH)

    def simplify(self, d: Dim) -> Dim:
        """`d` with equalities put in and `x // k * k` folded to x where k divides x."""
        if isinstance(d, int) or not (self.equal or self.multiples):
            return d
        for _ in range(_DEPTH):
            out = self._fold(self._replace(d))
            if out == d or isinstance(out, int):
                return out
            d = out
        return d

    def _replace(self, d: Dim) -> Dim:
        if not self.equal or isinstance(d, int) or not (dims.atoms(d) & self.equal.keys()):
            return d
        try:
            return dims.rebuild(d, self.equal)
        except (ZeroDivisionError, ValueError):
            return d

    def _fold(self, d: Dim) -> Dim:
        if isinstance(d, int) or not self.multiples:
            return d
        out: Dim = 0
        changed = False
        for m, c in d.terms:
            term: Dim = dims.mul(c, dims.product(tuple(dims.of_atom(a) for a, p in m for _ in range(p))))
            for atom, _ in m:
                if isinstance(atom, Op) and atom.name == "//":
                    whole, by = atom.args
                    rest = dims.exact_quotient(term, dims.mul(dims.of_atom(atom), by))
                    if rest is not None and self._multiple_of(whole, by, 2):
                        term, changed = dims.mul(rest, whole), True
                        break
            out = dims.add(out, term)
        return out if changed else d


def _constant(d: Dim) -> int:
    if isinstance(d, int):
        return d
    return next((c for m, c in d.terms if not m), 0)


def _all_of(answers: Any) -> bool | None:
    seen = list(answers)
    return False if False in seen else None if None in seen else True


def _any_of(answers: Any) -> bool | None:
    seen = list(answers)
    return True if True in seen else None if None in seen else False


def _tighter(pick: Any, a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else pick(a, b)


def _divisor(f: Facts, d: Dim, depth: int) -> int:
    d = f._replace(d)  # pyright: ignore[reportPrivateUsage]
    if isinstance(d, int):
        return abs(d)
    g = 0
    for m, c in d.terms:
        part = abs(c)
        for atom, p in m:
            part *= _divisor_of_atom(f, atom, depth) ** p
        g = gcd(g, part)
    for dividend, by in f.multiples:
        if dividend == d:
            g = lcm(g, _divisor(f, by, depth - 1)) if depth else g
    return g


def _divisor_of_atom(f: Facts, atom: Atom, depth: int) -> int:
    if depth == 0:
        return 1
    out = 1
    me = dims.of_atom(atom)
    for dividend, by in f.multiples:
        if dividend == me:
            out = lcm(out, max(1, _divisor(f, by, depth - 1)))
    if isinstance(atom, Op):
        out = lcm(out, _divisor_of_op(f, atom, depth - 1))
    return out


def _divisor_of_op(f: Facts, op: Op, depth: int) -> int:
    if op.name in ("min", "max"):
        g = 0
        for a in op.args:
            g = gcd(g, _divisor(f, a, depth))
        return max(1, g)
    if op.name == "%":
        return max(1, gcd(_divisor(f, op.args[0], depth), _divisor(f, op.args[1], depth)))
    if op.name == "//" and isinstance(op.args[1], int):
        whole = _divisor(f, op.args[0], depth)
        by = abs(op.args[1])
        return whole // by if whole and whole % by == 0 else 1
    return 1


def _span(f: Facts, d: Dim, depth: int) -> tuple[int | None, int | None]:
    d = f._replace(d)  # pyright: ignore[reportPrivateUsage]
    if isinstance(d, int):
        return d, d
    low: int | None = 0
    high: int | None = 0
    for m, c in d.terms:
        a, b = _span_of_product(f, m, depth) if m else (1, 1)
        a, b = (a, b) if c > 0 else (b, a)
        low = None if low is None or a is None else low + c * a
        high = None if high is None or b is None else high + c * b
    constant = _constant(d)
    varying = dims.sub(d, constant)
    for key, sign in ((varying, 1), (dims.neg(varying), -1)):
        if isinstance(key, Expr) and key in f.bounds:
            known_low, known_high = f.bounds[key] if sign > 0 else _flip(f.bounds[key])
            low = _tighter(max, low, None if known_low is None else known_low + constant)
            high = _tighter(min, high, None if known_high is None else known_high + constant)
    return low, high


def _flip(span: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    low, high = span
    return (None if high is None else -high, None if low is None else -low)


def _span_of_product(f: Facts, m: dims.Monomial, depth: int) -> tuple[int | None, int | None]:
    low: int | None = 1
    high: int | None = 1
    for atom, p in m:
        a, b = _span_of_atom(f, atom, depth)
        if p % 2 == 0 and (a is None or a < 0):
            a, b = 0, None  # an even power: at least zero
            low, high = _multiply(low, high, a, b)
            continue
        for _ in range(p):
            low, high = _multiply(low, high, a, b)
    return low, high


def _multiply(a: int | None, b: int | None, c: int | None, d: int | None) -> tuple[int | None, int | None]:
    if a is not None and b is not None and c is not None and d is not None:
        corners = (a * c, a * d, b * c, b * d)
        return min(corners), max(corners)
    if a is not None and c is not None and a >= 0 and c >= 0:
        return a * c, None if b is None or d is None else b * d
    return None, None


def _span_of_atom(f: Facts, atom: Atom, depth: int) -> tuple[int | None, int | None]:
    low, high = (atom.low, atom.high) if isinstance(atom, Sym) else _span_of_op(f, atom, depth)
    known = f.bounds.get(dims.of_atom(atom))
    if known is not None:
        low, high = _tighter(max, low, known[0]), _tighter(min, high, known[1])
    return low, high


def _span_of_op(f: Facts, op: Op, depth: int) -> tuple[int | None, int | None]:
    if depth == 0:
        return None, None
    spans = [_span(f, a, depth - 1) for a in op.args]
    if op.name in ("min", "max"):
        return _span_of_extreme(op.name, spans)
    if op.name == "%":
        by_low, by_high = spans[1]
        if by_low is not None and by_low > 0:
            return 0, None if by_high is None else by_high - 1
    if op.name == "//":
        (low, high), (by_low, by_high) = spans
        if by_low is not None and by_low > 0 and low is not None and low >= 0:
            return (low // by_high if by_high is not None else 0), (None if high is None else high // by_low)
        if isinstance(op.args[1], int) and op.args[1] > 0:
            return (None if low is None else low // op.args[1]), (None if high is None else high // op.args[1])
    if op.name == "bits":
        return 1, 128
    return None, None


def _span_of_extreme(name: str, spans: list[tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    lows = [s[0] for s in spans]
    highs = [s[1] for s in spans]
    known_lows = [x for x in lows if x is not None]
    known_highs = [x for x in highs if x is not None]
    if name == "min":
        low = min(known_lows) if len(known_lows) == len(lows) else None
        return low, min(known_highs) if known_highs else None
    high = max(known_highs) if len(known_highs) == len(highs) else None
    return (max(known_lows) if known_lows else None), high
