"""Subscripts of arrays: `x[i, :, None]`, slices with symbolic bounds, arrays of positions; and iteration over rows."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, Extent, Shape
from ..domain.dtype import DType
from ..domain.python import Int, ListCell, Slice, Unknown, Value
from ..domain.ref import Ds
from ..source.span import Site
from . import registers, shapes
from .convert import as_constant
from .registry import Registry

#: More rows than this are not listed one by one.
MAX_ROWS = 64


def register(r: Registry) -> None:
    """Registers subscripts of arrays."""
    r.items[Array] = ArrayItems()


class ArrayItems:
    """Subscripts of arrays."""

    def get(self, m: Any, v: Array, index: Value, site: Site, where: Site) -> Value:
        """`v[index]`."""
        items = index if type(index) is tuple else (index,)
        return m.lift(lambda *picked: indexed(m, v, picked), *items)

    def set(self, m: Any, v: Array, index: Value, value: Value, site: Site, where: Site) -> None:
        """Arrays are immutable: JAX refuses."""

    def iterate(self, m: Any, v: Value) -> list[Value] | None:
        """The rows, where their number is known and small."""
        if not isinstance(v, Array) or not isinstance(v.shape, tuple) or not v.shape:
            return None
        n = as_constant(m, v.shape[0])
        row = Array(v.shape[1:], v.dtype, v.weak, registers.moved(m, v))
        return [row] * n if n is not None and n <= MAX_ROWS else None


def indexed(m: Any, a: Array, items: tuple[Value, ...]) -> Array:
    """An array under a tuple of index items; None inserts an axis, Ellipsis stands for whole axes."""
    shape = _indexed_shape(m, a, items)
    layout = a.layout if all(x is ... or x == _WHOLE for x in items) else registers.moved(m, a)
    if shape == () and not isinstance(layout, type(registers.created(m))):
        layout = None  # a scalar
    return Array(shape, a.dtype, a.weak, layout, a.index if a.shape == () == shape else None)


_WHOLE = Slice(None, None, None)


def _indexed_shape(m: Any, a: Array, items: tuple[Value, ...]) -> Shape:
    if not isinstance(a.shape, tuple):
        return a.shape if all(x is ... for x in items) else m.unknown("a part of an array of unknown rank", a.shape)
    filled = _filled(m, items, len(a.shape))
    if filled is None:
        return m.unknown("a part of an array under an index that is not known", *items)
    return _walk(m, a.shape, filled)


def _filled(m: Any, items: tuple[Value, ...], rank: int) -> list[Value] | None:
    """The items with the ellipsis and the missing axes spelt out; None where their number is not known or too large."""
    taken = 0
    for x in items:
        consumed = _axes_taken(m, x)
        if consumed is None:
            return None
        taken += consumed
    if taken > rank or sum(1 for x in items if x is ...) > 1:
        return None
    whole: list[Value] = [_WHOLE] * (rank - taken)
    at = next((i for i, x in enumerate(items) if x is ...), None)
    return [*items, *whole] if at is None else [*items[:at], *whole, *items[at + 1 :]]


def _axes_taken(m: Any, x: Value) -> int | None:
    """How many axes an item takes; None where that is not known."""
    if x is None or x is ...:
        return 0
    if isinstance(x, (bool, Unknown)):
        return None
    if isinstance(x, Array) and (not isinstance(x.dtype, DType) or x.dtype.family == "bool"):
        return None  # a mask takes as many axes as it has, and its result has no fixed size
    return 1


def _walk(m: Any, shape: tuple[Extent, ...], items: list[Value]) -> Shape:
    out: list[Extent] = []
    gathered: list[Shape] = []
    positions: list[int] = []
    insert_at = 0
    rest = list(shape)
    for i, x in enumerate(items):
        if x is None:
            out.append(Int(1))
            continue
        extent = rest.pop(0)
        if isinstance(x, (Slice, Ds)):
            out.append(slice_extent(m, extent, x))
            continue
        where = _positions(m, x)
        if where is None:
            return m.unknown("a part of an array under an index that is not known", x)
        positions.append(i)
        gathered.append(where)
        if len(positions) == 1:
            insert_at = len(out)
    if not any(g != () for g in gathered):
        return tuple(out)
    together = positions[-1] - positions[0] == len(positions) - 1
    common = shapes.broadcast(m, gathered)
    if not isinstance(common, tuple):
        return common
    at = insert_at if together else 0
    return (*out[:at], *common, *out[at:])


def _positions(m: Any, x: Value) -> Shape | None:
    """The shape of an index that picks positions: () for an integer."""
    if isinstance(x, ListCell) or type(x) is tuple:
        items = m.program.items.iterate(m, x)
        return None if items is None else (Int(len(items)),)
    if isinstance(x, Array):
        return x.shape
    return () if m.as_int(x) is not None else None


def slice_extent(m: Any, extent: Extent, s: Slice | Ds) -> Extent:
    """Extent of an axis after a slice, clamped as Python does."""
    if isinstance(s, Ds):
        return s.size
    if s.start is None and s.stop is None and s.step is None:
        return extent
    step = 1 if s.step is None else as_constant(m, s.step)
    if not isinstance(extent, Int) or step is None or step == 0:
        return m.unknown("the extent of a slice", extent, s.step)
    if step < 0:
        return _backward(m, extent, s, step)
    low, high = bound(m, s.start, 0, extent), bound(m, s.stop, extent.dim, extent)
    if low is None or high is None:
        return m.unknown("the extent of a slice with bounds that are not known", s.start, s.stop)
    width = dims.sub(high, low)
    if not isinstance(width, int) and m.decide(conds.at_most(0, width)) is not True:
        width = dims.maximum(width, 0)
    count = width if step == 1 else dims.floordiv(dims.add(width, step - 1), step)
    return Int(max(0, count) if isinstance(count, int) else count)


def _backward(m: Any, extent: Int, s: Slice, step: int) -> Extent:
    if s.start is None and s.stop is None:
        return Int(dims.floordiv(dims.add(extent.dim, -step - 1), -step))
    bounds = [extent.dim, *(None if b is None else as_constant(m, b) for b in (s.start, s.stop))]
    if not isinstance(bounds[0], int) or any(
        n is None and b is not None for n, b in zip(bounds[1:], (s.start, s.stop), strict=True)
    ):
        return m.unknown("the extent of a slice", extent, s.start, s.stop)
    return Int(len(range(*slice(bounds[1], bounds[2], step).indices(bounds[0]))))


def bound(m: Any, v: Value, default: dims.Dim, extent: Int) -> dims.Dim | None:
    """A bound of a slice from 0 to the extent; None where its sign is not known."""
    if v is None:
        return default
    n = m.as_int(v) if not isinstance(v, Array) else None
    if n is None:
        return None
    if m.decide(conds.at_most(0, n.dim)) is True:
        inside = m.decide(conds.at_most(n.dim, extent.dim))
        return n.dim if inside is True else dims.minimum(n.dim, extent.dim)
    if m.decide(conds.less(n.dim, 0)) is True:
        shifted = dims.add(extent.dim, n.dim)
        return shifted if m.decide(conds.at_most(0, shifted)) is True else dims.maximum(shifted, 0)
    return None
