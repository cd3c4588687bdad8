"""Symbolic integers: dimensions, tile sizes, byte counts.

A `Dim` is a plain `int`, or an `Expr`: a sum of integer-weighted products of atoms. Atoms are symbols named by their origin
(`q.shape[0]`, `config.tile_m`) and the operations that sums and products cannot express: floor division, modulo, minimum,
maximum. Arithmetic is Python's on unbounded integers and needs no facts; `domain.facts` decides questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Union


@dataclass(frozen=True, slots=True)
class Sym:
    """An integer named by where it comes from.

    Attributes:
      name: an expression over names of the source ("tile_m", "q.shape[0]"), also what is shown.
      sure: it is certainly a Python integer (a dimension, an annotated parameter). A parameter without annotation that is
        used in arithmetic may be an array as well.
      low, high: inclusive bounds known by construction (0 for a dimension), or None.
    """

    name: str
    sure: bool = True
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """An operation that sums of products cannot express: "//", "%", "min", "max", "<<", ">>", "**", "&", "|", "^", "bits"."""

    name: str
    args: tuple[Dim, ...]


Atom = Union[Sym, Op]
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


Dim = Union[int, Expr]


@lru_cache(maxsize=1 << 16)
def _order(atom: Atom) -> str:
    """A total order on atoms by what they print as."""
    return atom_text(atom)


def _expr(terms: dict[Monomial, int]) -> Dim:
    kept = [(m, c) for m, c in terms.items() if c]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    if len(kept) > 1:
        kept.sort(key=lambda t: (-sum(p for _, p in t[0]), [(_order(a), p) for a, p in t[0]]))
    fixed = tuple(kept)
    return Expr(fixed, hash(fixed))


def symbol(name: str, *, sure: bool = True, low: int | None = None, high: int | None = None) -> Expr:
    """The symbol as a Dim."""
    return of_atom(Sym(name, sure, low, high))


def of_atom(atom: Atom) -> Expr:
    """An atom as a Dim."""
    terms = (((((atom, 1),), 1)),)
    return Expr(terms, hash(terms))


def _terms(d: Dim) -> tuple[tuple[Monomial, int], ...]:
    return d.terms if isinstance(d, Expr) else ((((), d),) if d else ())


def add(a: Dim, b: Dim) -> Dim:
    """a + b."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    out = dict(_terms(a))
    for m, c in _terms(b):
        out[m] = out.get(m, 0) + c
    return _expr(out)


def neg(a: Dim) -> Dim:
    """-a."""
    return -a if isinstance(a, int) else _expr({m: -c for m, c in a.terms})


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
    return tuple(sorted(powers.items(), key=lambda t: _order(t[0])))


def mul(a: Dim, b: Dim) -> Dim:
    """a * b."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    out: dict[Monomial, int] = {}
    for m, c in _terms(a):
        for n, k in _terms(b):
            mn = _times(m, n)
            out[mn] = out.get(mn, 0) + c * k
    return _expr(out)


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


def exact_quotient(a: Dim, b: Dim) -> Dim | None:
    """a / b where b divides a as polynomials (b a single product); None where that does not show."""
    if isinstance(b, int):
        if b == 0:
            return None
        if isinstance(a, int):
            return a // b if a % b == 0 else None
        if content(a) % b:
            return None
        return _expr({m: c // b for m, c in a.terms})
    if len(b.terms) != 1:
        return 1 if a == b else None
    (bm, bc) = b.terms[0]
    out: dict[Monomial, int] = {}
    for m, c in _terms(a):
        if c % bc:
            return None
        rest = dict(m)
        for atom, p in bm:
            left = rest.get(atom, 0) - p
            if left < 0:
                return None
            if left:
                rest[atom] = left
            else:
                del rest[atom]
        out[tuple(sorted(rest.items(), key=lambda t: _order(t[0])))] = c // bc
    return _expr(out)


def floordiv(a: Dim, b: Dim) -> Dim:
    """a // b, Python's; raises ZeroDivisionError for a literal zero."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(b, int):
        if b == 0:
            raise ZeroDivisionError
        return _floordiv_int(a, b)
    # b may be zero or negative: only what holds for each such b is simplified. x // x == 1 whenever it has a value.
    q = exact_quotient(a, b)
    if q is not None:
        return q
    whole, rest = _split_multiple(a, b)
    if whole != 0:
        return add(whole, floordiv(rest, b))
    if isinstance(a, Expr) and len(a.terms) == 1:
        inner = _nested_floordiv(a, b)
        if inner is not None:
            return inner
    return of_atom(Op("//", (a, b)))


def _nested_floordiv(a: Expr, b: Dim) -> Dim | None:
    """(x // c) // d == x // (c * d) for positive integers c, d."""
    (m, c) = a.terms[0]
    if c == 1 and len(m) == 1 and m[0][1] == 1 and isinstance(m[0][0], Op) and m[0][0].name == "//":
        x, inner = m[0][0].args
        if isinstance(inner, int) and isinstance(b, int) and inner > 0 and b > 0:
            return floordiv(x, inner * b)
    return None


def _floordiv_int(a: Dim, b: int) -> Dim:
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for m, c in _terms(a):
        if c % b == 0:
            whole[m] = c // b
        elif not m:
            whole[m], rest[m] = divmod(c, b)
        else:
            rest[m] = c
    left = _expr(rest)
    if left == 0:
        return _expr(whole)
    if isinstance(left, int):
        return add(_expr(whole), left // b)
    if b == 1:
        return a
    nested = _nested_floordiv(left, b) if len(left.terms) == 1 else None
    if nested is not None:
        return add(_expr(whole), nested)
    common = gcd(content(left), abs(b))
    if common > 1:
        reduced = exact_quotient(left, common)
        assert reduced is not None
        return add(_expr(whole), floordiv(reduced, b // common))
    return add(_expr(whole), of_atom(Op("//", (left, b))))


def _split_multiple(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """The part of a that is a multiple of the product b (divided by it), and the rest."""
    whole: Dim = 0
    rest: Dim = 0
    for m, c in _terms(a):
        term = _expr({m: c})
        q = exact_quotient(term, b)
        if q is None:
            rest = add(rest, term)
        else:
            whole = add(whole, q)
    return whole, rest


def mod(a: Dim, b: Dim) -> Dim:
    """a % b, Python's (the sign of b); raises ZeroDivisionError for a literal zero."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if isinstance(b, int):
        if b == 0:
            raise ZeroDivisionError
        if abs(b) == 1:
            return 0
        rest: dict[Monomial, int] = {m: c % b for m, c in _terms(a)}
        left = _expr(rest)
        if isinstance(left, int):
            return left % b
        return of_atom(Op("%", (left, b)))
    _, rest_dim = _split_multiple(a, b)
    if rest_dim == 0:
        return 0
    return of_atom(Op("%", (rest_dim, b)))


def minimum(a: Dim, b: Dim) -> Dim:
    """min(a, b)."""
    return _extreme("min", a, b)


def maximum(a: Dim, b: Dim) -> Dim:
    """max(a, b)."""
    return _extreme("max", a, b)


def _extreme(name: str, a: Dim, b: Dim) -> Dim:
    pick = min if name == "min" else max
    delta = sub(a, b)
    if isinstance(delta, int):
        return a if (delta <= 0) == (name == "min") else b
    flat: list[Dim] = []
    for d in (a, b):
        inner = _as_op(d, name)
        flat.extend(inner.args if inner else (d,))
    constants = [d for d in flat if isinstance(d, int)]
    others = sorted({d for d in flat if not isinstance(d, int)}, key=text)
    args: tuple[Dim, ...] = (*others, *((pick(constants),) if constants else ()))
    return args[0] if len(args) == 1 else of_atom(Op(name, args))


def _as_op(d: Dim, name: str) -> Op | None:
    if isinstance(d, Expr) and len(d.terms) == 1:
        m, c = d.terms[0]
        if c == 1 and len(m) == 1 and m[0][1] == 1 and isinstance(m[0][0], Op) and m[0][0].name == name:
            return m[0][0]
    return None


def as_op(d: Dim, name: str) -> Op | None:
    """The operation that `d` is, where it is exactly one of that name."""
    return _as_op(d, name)


def as_symbol(d: Dim) -> Sym | None:
    """The symbol that `d` is, where it is exactly one."""
    if isinstance(d, Expr) and len(d.terms) == 1:
        m, c = d.terms[0]
        if c == 1 and len(m) == 1 and m[0][1] == 1 and isinstance(m[0][0], Sym):
            return m[0][0]
    return None


def power(a: Dim, n: Dim) -> Dim:
    """a ** n for n >= 0; other exponents than small integers are kept as an operation."""
    if isinstance(a, int) and isinstance(n, int):
        if not 0 <= n <= 4096:
            raise ValueError("exponent out of range")
        return a**n
    if isinstance(n, int) and 0 <= n <= 8:
        return product((a,) * n)
    return of_atom(Op("**", (a, n)))


_INT_OPS = {
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def bitwise(name: str, a: Dim, b: Dim) -> Dim:
    """Shifts and bit operations; raises ValueError for a negative or absurd shift."""
    if name in ("<<", ">>") and isinstance(b, int):
        if not 0 <= b <= 4096:
            raise ValueError("shift count out of range")
        return mul(a, 1 << b) if name == "<<" else floordiv(a, 1 << b)
    if isinstance(a, int) and isinstance(b, int):
        return _INT_OPS[name](a, b)
    return of_atom(Op(name, (a, b)))


def atoms(d: Dim) -> set[Atom]:
    """All atoms in `d`, those inside operations included."""
    out: set[Atom] = set()
    stack: list[Dim] = [d]
    while stack:
        for m, _ in _terms(stack.pop()):
            for atom, _ in m:
                if atom not in out:
                    out.add(atom)
                    if isinstance(atom, Op):
                        stack.extend(atom.args)
    return out


def symbols(d: Dim) -> set[Sym]:
    """All symbols in `d`."""
    return set() if isinstance(d, int) else {a for a in atoms(d) if isinstance(a, Sym)}


def rebuild(d: Dim, leaf: dict[Atom, Dim]) -> Dim:
    """`d` with atoms replaced; raises ZeroDivisionError or ValueError where an operation then has no value."""
    if isinstance(d, int):
        return d
    out: Dim = 0
    for m, c in d.terms:
        term: Dim = c
        for atom, p in m:
            for _ in range(p):
                term = mul(term, _rebuild_atom(atom, leaf))
        out = add(out, term)
    return out


def _rebuild_atom(atom: Atom, leaf: dict[Atom, Dim]) -> Dim:
    if atom in leaf:
        return leaf[atom]
    if isinstance(atom, Sym):
        return of_atom(atom)
    args = tuple(rebuild(a, leaf) for a in atom.args)
    return of_atom(atom) if args == atom.args else apply_op(atom.name, args)


def apply_op(name: str, args: tuple[Dim, ...]) -> Dim:
    """The operation of an `Op`, evaluated on other arguments."""
    if name in ("min", "max"):
        out = args[0]
        for a in args[1:]:
            out = _extreme(name, out, a)
        return out
    if name in _BINARY:
        return _BINARY[name](args[0], args[1])
    if name in _INT_OPS:
        return bitwise(name, args[0], args[1])
    return of_atom(Op(name, args))


_BINARY = {"//": floordiv, "%": mod, "**": power}


def text(d: Dim) -> str:
    """The Dim as a Python expression over the source's names."""
    if isinstance(d, int):
        return str(d)
    out = ""
    for m, c in d.terms:
        body = "*".join(_factor(a, p) for a, p in m)
        size = abs(c)
        part = body if m and size == 1 else (f"{size}*{body}" if m else str(size))
        if not out:
            out = f"-{part}" if c < 0 else part
        else:
            out += f" {'-' if c < 0 else '+'} {part}"
    return out


def _factor(a: Atom, p: int) -> str:
    shown = atom_text(a)
    if isinstance(a, Op) and a.name not in ("min", "max", "bits"):
        shown = f"({shown})"
    return shown if p == 1 else f"{shown}**{p}"


def atom_text(a: Atom) -> str:
    """An atom as a Python expression."""
    if isinstance(a, Sym):
        return a.name
    if a.name in ("min", "max", "bits"):
        return f"{a.name}({', '.join(text(x) for x in a.args)})"
    left, right = (_operand(x) for x in a.args)
    return f"{left} {a.name} {right}" if a.name in ("<<", ">>", "&", "|", "^") else f"{left}{a.name}{right}"


def _operand(d: Dim) -> str:
    shown = text(d)
    simple = isinstance(d, int) or as_symbol(d) is not None
    return shown if simple and not shown.startswith("-") else f"({shown})"
