"""Arithmetic on shapes whose extents may be symbolic or unknown: broadcasting, reshaping, removing axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Extent, Shape
from ..domain.python import Int, Unknown, Value
from .convert import as_constant


def rank_of(shape: Shape) -> int | None:
    """Number of axes; None where unknown."""
    return len(shape) if isinstance(shape, tuple) else None


def is_extent(m: Any, e: Extent, n: int) -> bool | None:
    """Whether an extent is the integer `n`."""
    return m.decide(conds.equal(e.dim, n)) if isinstance(e, Int) else None


def same_extent(m: Any, a: Extent, b: Extent) -> bool | None:
    """Whether two extents are equal."""
    if isinstance(a, Int) and isinstance(b, Int):
        return m.decide(conds.equal(a.dim, b.dim))
    return None


def broadcast(m: Any, shapes: Iterable[Shape]) -> Shape:
    """The shape that all broadcast to, taken that JAX accepts them."""
    rows = [s for s in shapes if s != ()]
    if not rows:
        return ()
    out = rows[0]
    for s in rows[1:]:
        out = _broadcast_two(m, out, s)
    return out


def _broadcast_two(m: Any, a: Shape, b: Shape) -> Shape:
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return a if a == b else m.unknown("the shape of operands that are broadcast", a, b)
    if len(a) < len(b):
        a, b = b, a
    head, tail = a[: len(a) - len(b)], a[len(a) - len(b) :]
    return (*head, *(_broadcast_extent(m, x, y) for x, y in zip(tail, b, strict=True)))


def _broadcast_extent(m: Any, a: Extent, b: Extent) -> Extent:
    if same_extent(m, a, b) or is_extent(m, b, 1):
        return a
    if is_extent(m, a, 1):
        return b
    if same_extent(m, a, b) is False and is_extent(m, a, 1) is False and is_extent(m, b, 1) is False:
        return m.unknown("extents that do not broadcast", a, b)
    for x in (a, b):
        if is_extent(m, x, 1) is False:
            return x  # the other is this or 1, else JAX refuses
    return m.unknown("an extent that may be broadcast", a, b)


def product(m: Any, extents: Sequence[Extent]) -> Extent:
    """The product of extents."""
    for e in extents:
        if isinstance(e, Int) and e.dim == 0:
            return Int(0)
    unknown = next((e for e in extents if not isinstance(e, Int)), None)
    if unknown is not None:
        return m.unknown("a product of extents that are not known", unknown)
    return Int(dims.product(tuple(e.dim for e in extents if isinstance(e, Int))))


def total(m: Any, extents: Sequence[Extent]) -> Extent:
    """The sum of extents."""
    out: Any = 0
    for e in extents:
        if not isinstance(e, Int):
            return m.unknown("a sum of extents that are not known", e)
        out = dims.add(out, e.dim)
    return Int(out)


def size(m: Any, shape: Shape) -> Extent:
    """Number of elements."""
    return product(m, shape) if isinstance(shape, tuple) else m.unknown("the size of an array of unknown shape", shape)


def axis(m: Any, v: Value, rank: int) -> int | None:
    """One axis as a number from 0; None where it is not known or out of range."""
    n = as_constant(m, v)
    return n % rank if n is not None and -rank <= n < rank else None


def axes(m: Any, v: Value, rank: int) -> tuple[int, ...] | None:
    """Axes in the order given, as numbers from 0; None where one is not known, out of range or there twice."""
    items = m.program.items.iterate(m, v)
    out = [axis(m, x, rank) for x in ([v] if items is None else items)]
    if None in out or len(set(out)) != len(out):
        return None
    return tuple(a for a in out if a is not None)


def without(shape: Sequence[Extent], removed: Iterable[int]) -> tuple[Extent, ...]:
    """The shape without some axes."""
    gone = set(removed)
    return tuple(e for i, e in enumerate(shape) if i not in gone)


def replaced(shape: Sequence[Extent], at: int, extent: Extent) -> tuple[Extent, ...]:
    """The shape with another extent at one axis."""
    return (*shape[:at], extent, *shape[at + 1 :])


def unknown_extents(m: Any, rank: int, why: str, *sources: Value) -> tuple[Extent, ...]:
    """A shape of which only the rank is known."""
    return tuple(m.unknown(why, *sources) for _ in range(rank))


def reshaped(m: Any, shape: Shape, new: Shape) -> Shape:
    """`reshape`: -1 stands for what is left of the size, taken that it divides."""
    if not isinstance(new, tuple):
        return new
    wild = [i for i, e in enumerate(new) if is_extent(m, e, -1)]
    if not wild:
        return new
    rest = product(m, [e for i, e in enumerate(new) if i not in wild])
    return replaced(new, wild[0], _quotient(m, size(m, shape), rest))


def _quotient(m: Any, whole: Extent, part: Extent) -> Extent:
    if not (isinstance(whole, Int) and isinstance(part, Int)) or m.simplify(part.dim) == 0:
        return m.unknown("an extent left open by reshape", whole, part)
    exact = dims.exact_quotient(m.simplify(whole.dim), m.simplify(part.dim))
    return Int(exact if exact is not None else dims.floordiv(whole.dim, part.dim))


def merge_equal(m: Any, a: Extent, b: Extent) -> Extent:
    """Two extents that must be equal in a program that JAX accepts: the better known one."""
    if not isinstance(a, Int):
        return b
    if isinstance(b, Int) and not isinstance(a.dim, int) and isinstance(b.dim, int):
        return b
    return a


def as_unknown(shape: Shape) -> Unknown | None:
    """The reason why a shape is not known, where it is not."""
    return shape if isinstance(shape, Unknown) else None


def joined(m: Any, why: str, *parts: Shape) -> Shape:
    """The axes of all parts, one after another; unknown where a part is."""
    out: tuple[Extent, ...] = ()
    for part in parts:
        if not isinstance(part, tuple):
            return m.unknown(why, *parts)
        out += part
    return out
