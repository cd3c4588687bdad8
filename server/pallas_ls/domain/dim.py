"""Symbolic integers: dimensions, tile sizes, byte counts.

A `Dim` is a plain `int`, or an `Expr`: a sum of integer-weighted products of atoms. Atoms are symbols named by their
origin (`q.shape[0]`, `config.tile_m`) and the operations that sums and products cannot express: floor division, modulo,
minimum, maximum. Arithmetic is Python's on unbounded integers and needs no facts; `domain.facts` decides questions.

Each operation is brought to one form, so that equal Dims are mostly the same value: integer divisors are positive,
common weights are cancelled (`2*k % 128` is `2*(k % 64)`), whole multiples of the divisor stand outside
(`(m + 255)//128` is `(m + 127)//128 + 1`), and `-(-m//128)` is `(m + 127)//128`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd

from .expression import (
    Atom,
    Dim,
    Expr,
    Monomial,
    Op,
    Sym,
    atom_order,
    atom_text,
    is_primary,
    of_atom,
    of_term,
    single_atom,
    size,
    symbol,
    terms_of,
    text,
)
from .polynomial import (
    add,
    common_monomial,
    constant_of,
    content,
    exact_quotient,
    from_terms,
    leads_negative,
    monomial_quotient,
    mul,
    neg,
    order,
    primitive,
    product,
    split_multiple,
    sub,
)

__all__ = [
    "Atom",
    "Dim",
    "Expr",
    "Monomial",
    "Op",
    "Sym",
    "add",
    "apply_op",
    "as_op",
    "as_symbol",
    "atom_order",
    "atom_text",
    "atoms",
    "bitwise",
    "common_monomial",
    "constant_of",
    "content",
    "exact_quotient",
    "floordiv",
    "from_terms",
    "is_primary",
    "leads_negative",
    "maximum",
    "minimum",
    "mod",
    "monomial_quotient",
    "mul",
    "neg",
    "of_atom",
    "of_term",
    "order",
    "power",
    "primitive",
    "product",
    "rebuild",
    "single_atom",
    "size",
    "split_multiple",
    "sub",
    "symbol",
    "symbols",
    "terms_of",
    "text",
]

_MAX_SHIFT = 4096  # larger shifts and exponents are mistakes, and would only cost memory
_MAX_BITS = 1 << 16
_EXPANDED_POWER, _EXPANDED_TERMS = 8, 256  # powers within these are multiplied out


def floordiv(a: Dim, b: Dim) -> Dim:
    """a // b, Python's; raises ZeroDivisionError for a literal zero."""
    if isinstance(b, int):
        if isinstance(a, int):
            return a // b
        if b == 0:
            raise ZeroDivisionError
        return _floordiv_int(a, b) if b > 0 else _floordiv_int(neg(a), -b)
    # b may be zero or negative: only what holds for each such b is simplified. x // x == 1 whenever it has a value.
    if leads_negative(b):
        a, b = neg(a), neg(b)
        assert isinstance(b, Expr)
    whole, rest = split_multiple(a, b)
    if rest == 0:
        return whole
    reduced, by = _cancel(rest, b)
    if isinstance(by, int) or by != b:
        return add(whole, floordiv(reduced, by))
    return add(whole, of_atom(Op("//", (rest, b))))


def _cancel(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """The common weight and the common atoms of both taken out: (x*a) // (x*b) == a // b for every x but 0."""
    common = of_term(common_monomial((a, b)), gcd(content(a), content(b)))
    top, bottom = exact_quotient(a, common), exact_quotient(b, common)
    assert top is not None and bottom is not None
    return top, bottom


def _floordiv_int(a: Dim, b: int) -> Dim:
    """a // b for b > 0."""
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for m, c in terms_of(a):
        if c % b == 0:
            whole[m] = c // b
        elif not m:
            whole[m], rest[m] = divmod(c, b)
        else:
            rest[m] = c
    left = from_terms(rest)
    outside = from_terms(whole)
    if isinstance(left, int):
        return add(outside, left // b)
    return add(outside, _floordiv_rest(left, b))


def _floordiv_rest(a: Expr, b: int) -> Dim:
    """a // b for b > 0, where no weight of a is a multiple of b and its constant is in [0, b)."""
    constant = constant_of(a)
    varying = sub(a, constant)
    common = gcd(content(varying), b)
    if common > 1:  # (g*x + r) // (g*b) == (x + r//g) // b
        reduced = exact_quotient(varying, common)
        assert reduced is not None
        return _floordiv_int(add(reduced, constant // common), b // common)
    if leads_negative(varying):  # -x // b is -ceil(x / b)
        return neg(_floordiv_int(add(neg(a), b - 1), b))
    nested = as_op(varying, "//")
    if nested is not None:  # (x//c + k) // b == (x + k*c) // (c*b): rounding down twice is rounding down once
        x, c = nested.args
        return floordiv(add(x, mul(c, constant)), mul(c, b))
    return of_atom(Op("//", (a, b)))


def mod(a: Dim, b: Dim) -> Dim:
    """a % b, Python's (the sign of b); raises ZeroDivisionError for a literal zero."""
    if isinstance(b, int):
        if isinstance(a, int):
            return a % b
        if b == 0:
            raise ZeroDivisionError
        return _mod_int(a, b) if b > 0 else neg(_mod_int(neg(a), -b))
    if leads_negative(b):
        return neg(mod(neg(a), neg(b)))
    _, rest = split_multiple(a, b)
    if rest == 0:
        return 0
    common = gcd(content(rest), content(b))
    top, bottom = exact_quotient(rest, common), exact_quotient(b, common)
    assert top is not None and bottom is not None
    return mul(common, of_atom(Op("%", (top, bottom))))


def _mod_int(a: Dim, b: int) -> Dim:
    """a % b for b > 0. Weights are taken from (-b/2, b/2], so that -x stays -x; the constant from [0, b)."""
    reduced: dict[Monomial, int] = {}
    for m, c in terms_of(_without_inner_mod(a, b)):
        r = c % b
        reduced[m] = r - b if m and 2 * r > b else r
    left = from_terms(reduced)
    if isinstance(left, int):
        return left % b
    constant = constant_of(left)
    common = gcd(content(sub(left, constant)), b)
    if common > 1:  # (g*x + r) % (g*b) == g * ((x + r//g) % b) + r % g
        inner = exact_quotient(sub(left, constant % common), common)
        assert inner is not None
        return add(mul(common, _mod_int(inner, b // common)), constant % common)
    return of_atom(Op("%", (left, b)))


def _without_inner_mod(a: Dim, b: int) -> Dim:
    """Each weighted `c*(x % n)` in a sum that is taken modulo b, where b divides c*n, is as good as `c*x`."""
    out = a
    for m, c in terms_of(a):
        inner = m[0][0] if len(m) == 1 and m[0][1] == 1 else None
        if isinstance(inner, Op) and inner.name == "%":
            x, n = inner.args
            if isinstance(n, int) and c * n % b == 0:
                out = add(sub(out, of_term(m, c)), mul(c, x))
    return out if out == a else _without_inner_mod(out, b)


def minimum(a: Dim, b: Dim) -> Dim:
    """min(a, b)."""
    return _extreme("min", a, b)


def maximum(a: Dim, b: Dim) -> Dim:
    """max(a, b)."""
    return _extreme("max", a, b)


def _extreme(name: str, a: Dim, b: Dim) -> Dim:
    """The arguments of nested ones are joined; of two that differ by a constant, one stays."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b) if name == "min" else max(a, b)
    kept: list[Dim] = []
    for d in (a, b):
        inner = as_op(d, name)
        for x in inner.args if inner else (d,):
            _keep_extreme(name, kept, x)
    if len(kept) == 1:
        return kept[0]
    constants: list[Dim] = [d for d in kept if isinstance(d, int)]
    others = sorted((d for d in kept if isinstance(d, Expr)), key=order)
    return of_atom(Op(name, (*others, *constants)))


def _keep_extreme(name: str, kept: list[Dim], d: Dim) -> None:
    for i, other in enumerate(kept):
        delta = sub(d, other)
        if isinstance(delta, int):
            if (delta < 0) == (name == "min"):
                kept[i] = d
            return
    kept.append(d)


def as_op(d: Dim, name: str) -> Op | None:
    """The operation that `d` is, where it is exactly one of that name."""
    atom = single_atom(d)
    return atom if isinstance(atom, Op) and atom.name == name else None


def as_symbol(d: Dim) -> Sym | None:
    """The symbol that `d` is, where it is exactly one."""
    atom = single_atom(d)
    return atom if isinstance(atom, Sym) else None


def power(a: Dim, n: Dim) -> Dim:
    """a ** n for n >= 0; raises ValueError for a literal negative or absurd exponent.

    Exponents other than small integers are kept as an operation.
    """
    if isinstance(n, int):
        if not 0 <= n <= _MAX_SHIFT or (isinstance(a, int) and abs(a) > 1 and a.bit_length() * n > _MAX_BITS):
            raise ValueError("exponent out of range")
        if isinstance(a, int):
            return a**n
        if n <= _EXPANDED_POWER and len(a.terms) ** n <= _EXPANDED_TERMS:
            return product((a,) * n)
    return of_atom(Op("**", (a, n)))


_INT_OPS: dict[str, Callable[[int, int], int]] = {
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def bitwise(name: str, a: Dim, b: Dim) -> Dim:
    """Shifts and bit operations; raises ValueError for a negative or absurd shift."""
    if name in ("<<", ">>"):
        if isinstance(b, int):
            if not 0 <= b <= _MAX_SHIFT:
                raise ValueError("shift count out of range")
            return mul(a, 1 << b) if name == "<<" else floordiv(a, 1 << b)
        return of_atom(Op(name, (a, b)))
    if isinstance(a, int):
        if isinstance(b, int):
            return _INT_OPS[name](a, b)
        a, b = b, a
    simpler = _bits_with_constant(name, a, b) if isinstance(b, int) else _bits_of_same(name, a) if a == b else None
    if simpler is not None:
        return simpler
    if isinstance(b, Expr) and order(b) < order(a):
        a, b = b, a
    return of_atom(Op(name, (a, b)))


def _bits_with_constant(name: str, a: Expr, b: int) -> Dim | None:
    """Masks that are a remainder or a rounding down, for negative `a` too: Python's integers have endless sign bits."""
    if name == "&":
        if b & (b + 1) == 0 and b >= 0:  # ones at the end: 0, 1, 3, 7, ...
            return mod(a, b + 1)
        if b < 0 and -b & (-b - 1) == 0:  # zeros at the end: -1, -2, -4, ...
            return mul(floordiv(a, -b), -b)
        return None
    if b == 0:
        return a
    return -1 if name == "|" and b == -1 else sub(-1, a) if b == -1 else None


def _bits_of_same(name: str, a: Expr) -> Dim:
    return 0 if name == "^" else a


def atoms(d: Dim) -> set[Atom]:
    """All atoms in `d`, those inside operations included."""
    out: set[Atom] = set()
    stack: list[Dim] = [d]
    while stack:
        for m, _ in terms_of(stack.pop()):
            for atom, _ in m:
                if atom not in out:
                    out.add(atom)
                    if isinstance(atom, Op):
                        stack.extend(atom.args)
    return out


def symbols(d: Dim) -> set[Sym]:
    """All symbols in `d`."""
    return set() if isinstance(d, int) else {a for a in atoms(d) if isinstance(a, Sym)}


def rebuild(d: Dim, leaf: Mapping[Atom, Dim]) -> Dim:
    """`d` with atoms replaced; raises ZeroDivisionError or ValueError where an operation then has no value."""
    if isinstance(d, int):
        return d
    out: Dim = 0
    kept: dict[Monomial, int] = {}
    for m, c in d.terms:
        factors = [(a, p, _rebuild_atom(a, leaf)) for a, p in m]
        if all(new is None for _, _, new in factors):
            kept[m] = c
            continue
        term: Dim = c
        for atom, p, new in factors:
            term = mul(term, product((of_atom(atom) if new is None else new,) * p))
        out = add(out, term)
    return d if len(kept) == len(d.terms) else add(out, from_terms(kept))


def _rebuild_atom(atom: Atom, leaf: Mapping[Atom, Dim]) -> Dim | None:
    """The atom's replacement, or None where it stays."""
    if atom in leaf:
        return leaf[atom]
    if isinstance(atom, Sym):
        return None
    args = tuple(rebuild(a, leaf) for a in atom.args)
    return None if all(new is old for new, old in zip(args, atom.args, strict=True)) else apply_op(atom.name, args)


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


_BINARY: dict[str, Callable[[Dim, Dim], Dim]] = {"//": floordiv, "%": mod, "**": power}
