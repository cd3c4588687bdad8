"""What a symbolic integer is made of: symbols and operations, products of them, sums of products; and its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Sym:
    """An integer named by where it comes from.

    Attributes:
      name: an expression over names of the source ("tile_m", "q.shape[0]"), also what is shown.
      sure: it is certainly a Python integer (a dimension, an annotated parameter). A parameter without annotation that
        is used in arithmetic may be an array as well.
      low, high: inclusive bounds known by construction (0 for a dimension), or None.
      key: the hash, worked out once: atoms are looked up all the time.
    """

    name: str
    sure: bool = True
    low: int | None = None
    high: int | None = None
    key: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((self.name, self.sure, self.low, self.high)))

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True, slots=True)
class Op:
    """An operation that is no sum of products: "//", "%", "min", "max", "<<", ">>", "**", "&", "|", "^", "bits"."""

    name: str
    args: tuple[Dim, ...]
    key: int = field(init=False, repr=False, compare=False, default=0)
    size: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((self.name, self.args)))
        object.__setattr__(self, "size", 1 + sum(size(a) for a in self.args))

    def __hash__(self) -> int:
        return self.key


Atom = Sym | Op
#: A product of atoms with their powers, sorted; () is the constant 1.
Monomial = tuple[tuple[Atom, int], ...]


@dataclass(frozen=True, slots=True)
class Expr:
    """A sum of weighted products, sorted, without zero weights, and not a plain constant (that is an `int`)."""

    terms: tuple[tuple[Monomial, int], ...]
    key: int

    def __hash__(self) -> int:
        return self.key

    def __str__(self) -> str:
        return text(self)


Dim = int | Expr


def symbol(name: str, *, sure: bool = True, low: int | None = None, high: int | None = None) -> Expr:
    """The symbol as a Dim."""
    return of_atom(Sym(name, sure, low, high))


def of_atom(atom: Atom) -> Expr:
    """An atom as a Dim."""
    terms = (((((atom, 1),), 1)),)
    return Expr(terms, hash(terms))


def of_term(m: Monomial, c: int) -> Dim:
    """One weighted product as a Dim."""
    if not m or not c:
        return c
    terms = ((m, c),)
    return Expr(terms, hash(terms))


def terms_of(d: Dim) -> tuple[tuple[Monomial, int], ...]:
    """The weighted products whose sum is `d`; none for 0."""
    return d.terms if isinstance(d, Expr) else ((((), d),) if d else ())


def single_atom(d: Dim) -> Atom | None:
    """The atom that `d` is, where it is exactly one."""
    if isinstance(d, Expr) and len(d.terms) == 1:
        m, c = d.terms[0]
        if c == 1 and len(m) == 1 and m[0][1] == 1:
            return m[0][0]
    return None


def size(d: Dim) -> int:
    """How many atoms a text of `d` names. Each reuse of a value doubles it: who evaluates loops should set a limit."""
    if isinstance(d, int):
        return 1
    return sum(1 if isinstance(a, Sym) else a.size for m, _ in d.terms for a, _ in m)


_CALLS = ("min", "max", "bits")
_BESIDE_SUMS = ("//", "%", "**")  # bind tighter than + and -
_DIGITS = 4096  # bits; Python refuses to print much longer integers in decimal


def text(d: Dim) -> str:
    """The Dim as a Python expression over the source's names."""
    if isinstance(d, int):
        return _int_text(d)
    out = ""
    for m, c in d.terms:
        part = _term_text(m, abs(c), alone=len(d.terms) == 1 and c > 0, first_negative=not out and c < 0)
        if not out:
            out = f"-{part}" if c < 0 else part
        else:
            out += f" {'-' if c < 0 else '+'} {part}"
    return out


def _int_text(n: int) -> str:
    return str(n) if n.bit_length() < _DIGITS else hex(n)


def _term_text(m: Monomial, size: int, alone: bool, first_negative: bool) -> str:
    if not m:
        return _int_text(size)
    if size == 1 and len(m) == 1 and m[0][1] == 1:
        atom = m[0][0]
        if alone or (isinstance(atom, Op) and atom.name in _BESIDE_SUMS and not first_negative):
            return atom_text(atom)
    body = "*".join(_factor(a, p) for a, p in m)
    return body if size == 1 else f"{_int_text(size)}*{body}"


def _factor(a: Atom, p: int) -> str:
    shown = atom_text(a)
    if not _is_primary(a):
        shown = f"({shown})"
    return shown if p == 1 else f"{shown}**{p}"


def atom_text(a: Atom) -> str:
    """An atom as a Python expression."""
    if isinstance(a, Sym):
        return a.name
    if a.name in _CALLS:
        return f"{a.name}({', '.join(text(x) for x in a.args)})"
    left, right = (_operand(x) for x in a.args)
    return f"{left} {a.name} {right}" if a.name in ("<<", ">>", "&", "|", "^") else f"{left}{a.name}{right}"


def _operand(d: Dim) -> str:
    shown = text(d)
    if isinstance(d, int):
        return f"({shown})" if d < 0 else shown
    atom = single_atom(d)
    return shown if atom is not None and _is_primary(atom) else f"({shown})"


def _is_primary(a: Atom) -> bool:
    return is_primary(a.name) if isinstance(a, Sym) else a.name in _CALLS


@lru_cache(maxsize=1 << 14)
def is_primary(name: str) -> bool:
    """The text of an expression needs no brackets beside an operator (a name, an attribute, an index, a call)."""
    if name.isidentifier():
        return True
    try:
        node = ast.parse(name, mode="eval").body
    except SyntaxError:  # a name made for showing only
        return True
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


@lru_cache(maxsize=1 << 16)
def atom_order(atom: Atom) -> tuple[str, str]:
    """A total order on atoms: what they print as, then (two symbols of one name but other bounds) all they are."""
    return atom_text(atom), repr(atom)
