"""Bindings that satisfy what is known on a path, kept to show quickly what does not follow from it.

Most conditions that a kernel tests are open, and a proof is looked for longest where there is none. One binding under
which the condition holds and one under which it does not settle that. Bindings are kept from path to path, and changed
by a symbol or two where they fit no longer; that none is found says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from . import dim as dims
from .cond import Cond, NonPos, Not, Zero
from .dim import Atom, Dim, Expr, Op, Sym

#: A condition on integers.
IntCond = Zero | NonPos | Not

_TRIES = 12  # changed bindings that are tried for one condition
_HUGE = 1 << 64  # an operation whose value is larger has none here
#: What the symbols of the first bindings are, in the order in which they come up.
_STYLES = ((4096, 8192, 2048, 16384), (64, 128, 64, 256), (1,), (7, 11, 5, 13, 3), (10007, 20011, 30011))


class NoValue(Exception):
    """An operation has no value under the binding (a division by zero), or none of a reasonable size."""


class Witness:
    """A binding of symbols; those it has not met yet get a value when they are first asked for."""

    __slots__ = ("_free", "_ops", "_style")

    def __init__(self, style: int, free: dict[Atom, int]) -> None:
        self._style = style
        self._free = free
        self._ops: dict[Atom, int] = {}

    def value(self, d: Dim) -> int:
        """The value of a Dim. Raises `NoValue`."""
        if isinstance(d, int):
            return d
        total = 0
        for m, c in d.terms:
            for atom, p in m:
                c *= self.atom(atom) ** p
            total += c
        return total

    def atom(self, atom: Atom) -> int:
        """The value of an atom. Raises `NoValue`."""
        known = self._free.get(atom)
        if known is None:
            known = self._ops.get(atom)
        if known is not None:
            return known
        if is_free(atom):
            known = self._free[atom] = self._first(atom)
        else:
            assert isinstance(atom, Op)
            known = self._ops[atom] = _operation(atom.name, [self.value(a) for a in atom.args])
        return known

    def _first(self, atom: Atom) -> int:
        values = _STYLES[self._style]
        value = values[len(self._free) % len(values)]
        return inside(atom, value)

    def changed(self, atom: Atom, value: int) -> Witness:
        """The binding with another value for a symbol."""
        return Witness(self._style, {**self._free, atom: value})

    def holds(self, c: IntCond) -> bool | None:
        """Whether a condition holds; None where it has no value."""
        try:
            match c:
                case Zero():
                    return self.value(c.expr) == 0
                case NonPos():
                    return self.value(c.expr) <= 0
                case Not(cond=Zero(expr=e)):
                    return self.value(e) != 0
                case _:
                    return None
        except NoValue:
            return None

    def positive(self, d: Dim) -> bool:
        """Whether a Dim certainly is more than zero."""
        try:
            return self.value(d) > 0
        except NoValue:
            return False


def first_witnesses() -> tuple[Witness, ...]:
    """Bindings for a path of which nothing is known yet."""
    return tuple(Witness(style, {}) for style in range(len(_STYLES)))


def is_free(atom: Atom) -> bool:
    """Whether the atom's value follows from no other atom's."""
    return isinstance(atom, Sym) or atom.name == "bits"


def inside(atom: Atom, value: int) -> int:
    """The nearest value that the atom's own bounds allow."""
    low, high = (atom.low, atom.high) if isinstance(atom, Sym) else (1, 128)
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value


def _operation(name: str, args: list[int]) -> int:
    a, b = args[0], args[-1]
    match name:
        case "min":
            return min(args)
        case "max":
            return max(args)
        case "//" | "%" if b:
            return a // b if name == "//" else a % b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<" | ">>" | "**" if 0 <= b <= 64:
            value = a << b if name == "<<" else a >> b if name == ">>" else a**b
            if abs(value) < _HUGE:
                return value
    raise NoValue


def of_integers(c: Cond) -> bool:
    """Whether a condition speaks of integers alone."""
    return isinstance(c, (Zero, NonPos)) or (isinstance(c, Not) and isinstance(c.cond, Zero))


def expression(c: IntCond) -> Expr:
    """The Dim that a condition on integers speaks of."""
    e = c.cond if isinstance(c, Not) else c
    assert isinstance(e, (Zero, NonPos))
    return e.expr


@lru_cache(maxsize=1 << 14)
def free_atoms(e: Expr) -> tuple[Atom, ...]:
    """The atoms that decide an expression's value, in a fixed order."""
    return tuple(sorted((a for a in dims.atoms(e) if is_free(a)), key=dims.atom_order))


def towards(w: Witness, c: IntCond, required: Iterable[IntCond]) -> Witness | None:
    """A binding like `w` for which `c` holds, and still all that is required; None where none was found.

    `w` satisfies `required`.
    """
    about: dict[Atom, list[IntCond]] = {}
    tried: set[tuple[Atom, int]] = set()
    for atom, wanted in _moves(w, c):
        value = inside(atom, wanted)
        if (atom, value) in tried or w.atom(atom) == value:
            continue
        if len(tried) == _TRIES:
            return None
        tried.add((atom, value))
        if atom not in about:
            about[atom] = [r for r in required if atom in free_atoms(expression(r))]
        new = w.changed(atom, value)
        if new.holds(c) and all(new.holds(r) for r in about[atom]):
            return new
    return None


def _moves(w: Witness, c: IntCond) -> Iterator[tuple[Atom, int]]:
    """Values for one symbol that are likely to make the condition true: solved for it first, then usual ones."""
    e = expression(c)
    atoms = free_atoms(e)
    now: Mapping[Atom, int] = {a: w.atom(a) for a in atoms}
    try:
        off = w.value(e)
    except NoValue:
        off = None
    if off is not None:
        yield from _solved(c, e, now, off)
    if isinstance(c, Not):
        for atom in atoms:
            yield atom, now[atom] + 1
    for atom in atoms:
        yield from ((atom, v) for v in (128, 1, 4096, now[atom] * 2, now[atom] - 1, 0))


def _solved(c: IntCond, e: Expr, now: Mapping[Atom, int], off: int) -> Iterator[tuple[Atom, int]]:
    for m, k in e.terms:
        atom = m[0][0] if len(m) == 1 and m[0][1] == 1 else None
        if atom is None:
            continue
        if atom in now:
            if isinstance(c, NonPos):
                yield atom, now[atom] - (-(-off // k) if k > 0 else off // k)
            elif off % k == 0 and not isinstance(c, Not):
                yield atom, now[atom] - off // k
        elif isinstance(atom, Op) and atom.name == "%":
            yield from _next_multiples(atom, now)


def _next_multiples(op: Op, now: Mapping[Atom, int]) -> Iterator[tuple[Atom, int]]:
    dividend, divisor = (dims.single_atom(a) if isinstance(a, Expr) else a for a in op.args)
    by = divisor if isinstance(divisor, int) else now.get(divisor) if divisor is not None else None
    if by and not isinstance(dividend, int) and dividend in now:
        down = now[dividend] - now[dividend] % by
        yield dividend, down
        yield dividend, down + by
