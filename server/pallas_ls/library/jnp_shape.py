"""Functions of jax.numpy that move elements about: reshape, transpose, concatenate, pad, and their kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, Extent, Shape, Splat
from ..domain.python import Call, Int, Opaque, Unknown, Value
from . import registers, shapes
from .convert import as_array, as_constant, as_extent, as_jax_dtype, as_shape
from .operate import contents
from .promote import result_type
from .registry import Registry


def register(r: Registry) -> None:
    """Registers them."""
    _rearranged(r)
    _broadcast(r)
    _joined(r)
    _divided(r)
    _repeated(r)


def with_shape(m: Any, a: Array, shape: Shape) -> Array:
    """The same elements in another shape."""
    return Array(shape, a.dtype, a.weak, registers.moved(m, a), a.index if a.shape == () == shape else None)


# -- one array -------------------------------------------------------------------------------------


def _rearranged(r: Registry) -> None:
    @r.function("jax.numpy.reshape", "a, shape, order='C', *, copy=None, out_sharding=None")
    def reshape(m: Any, call: Call, a: Value, shape: Value, **_: Value) -> Value:
        return reshaped(m, as_array(m, a), shape)

    @r.function("jax.numpy.ravel", "a, order='C', *, out_sharding=None")
    def ravel(m: Any, call: Call, a: Value, **_: Value) -> Value:
        x = as_array(m, a)
        return with_shape(m, x, (shapes.size(m, x.shape),))

    @r.function("jax.numpy.transpose jax.numpy.permute_dims", "a, axes=None")
    def transpose(m: Any, call: Call, a: Value, axes: Value) -> Value:
        return transposed(m, as_array(m, a), axes)

    @r.function("jax.numpy.matrix_transpose", "a")
    def matrix_transpose(m: Any, call: Call, a: Value) -> Value:
        return swapped(m, as_array(m, a), Int(-1), Int(-2))

    @r.function("jax.numpy.swapaxes", "a, axis1, axis2")
    def swapaxes(m: Any, call: Call, a: Value, axis1: Value, axis2: Value) -> Value:
        return swapped(m, as_array(m, a), axis1, axis2)

    @r.function("jax.numpy.moveaxis", "a, source, destination")
    def moveaxis(m: Any, call: Call, a: Value, source: Value, destination: Value) -> Value:
        return moved_axes(m, as_array(m, a), source, destination)

    @r.function("jax.numpy.squeeze", "a, axis=None")
    def squeeze(m: Any, call: Call, a: Value, axis: Value) -> Value:
        return squeezed(m, as_array(m, a), axis)

    @r.function("jax.numpy.expand_dims", "a, axis")
    def expand_dims(m: Any, call: Call, a: Value, axis: Value) -> Value:
        return expanded(m, as_array(m, a), axis)

    for name in ("flip", "roll", "tril", "triu"):
        parameters = {"flip": "axis=None", "roll": "shift, axis=None"}.get(name, "k=0")
        r.function(f"jax.numpy.{name}", f"a, {parameters}")(same_shape)
    r.function("jax.numpy.flipud jax.numpy.fliplr", "a")(same_shape)


def same_shape(m: Any, call: Call, a: Value, **_: Value) -> Value:
    """An operation that keeps shape and type."""
    x = as_array(m, a)
    return with_shape(m, x, x.shape)


def reshaped(m: Any, a: Array, shape: Value) -> Array:
    """`reshape(a, shape)`."""
    return with_shape(m, a, shapes.reshaped(m, a.shape, as_shape(m, shape)))


def transposed(m: Any, a: Array, axes: Value) -> Array:
    """`transpose(a, axes)`; None reverses."""
    if not isinstance(a.shape, tuple):
        return with_shape(m, a, m.unknown("the shape of a transposed array", a.shape))
    order = tuple(reversed(range(len(a.shape)))) if axes is None else shapes.axes(m, axes, len(a.shape))
    if order is None or len(order) != len(a.shape):
        return with_shape(m, a, shapes.unknown_extents(m, len(a.shape), "a transposition that is not known", axes))
    return permuted(m, a, order)


def permuted(m: Any, a: Array, order: Sequence[int]) -> Array:
    """Axes in another order."""
    assert isinstance(a.shape, tuple)
    if tuple(order) == tuple(range(len(a.shape))):
        return a
    return with_shape(m, a, tuple(a.shape[i] for i in order))


def swapped(m: Any, a: Array, axis1: Value, axis2: Value) -> Array:
    """`swapaxes`."""
    if not isinstance(a.shape, tuple):
        return with_shape(m, a, m.unknown("the shape of an array with swapped axes", a.shape))
    i, j = shapes.axis(m, axis1, len(a.shape)), shapes.axis(m, axis2, len(a.shape))
    if i is None or j is None:
        return with_shape(m, a, shapes.unknown_extents(m, len(a.shape), "axes that are not known", axis1, axis2))
    order = list(range(len(a.shape)))
    order[i], order[j] = order[j], order[i]
    return permuted(m, a, order)


def moved_axes(m: Any, a: Array, source: Value, destination: Value) -> Array:
    """`moveaxis`."""
    if not isinstance(a.shape, tuple):
        return with_shape(m, a, m.unknown("the shape of an array with moved axes", a.shape))
    rank = len(a.shape)
    src, dst = shapes.axes(m, source, rank), shapes.axes(m, destination, rank)
    if src is None or dst is None or len(src) != len(dst):
        return with_shape(m, a, shapes.unknown_extents(m, rank, "axes that are not known", source, destination))
    order = [i for i in range(rank) if i not in src]
    for to, origin in sorted(zip(dst, src, strict=True)):
        order.insert(to, origin)
    return permuted(m, a, order)


def squeezed(m: Any, a: Array, axis: Value) -> Array:
    """`squeeze`: axes of extent 1 removed."""
    if not isinstance(a.shape, tuple):
        return with_shape(m, a, m.unknown("the shape of a squeezed array", a.shape))
    if axis is not None:
        gone = shapes.axes(m, axis, len(a.shape))
        if gone is None:
            return with_shape(m, a, m.unknown("the shape of an array squeezed at unknown axes", axis))
        return with_shape(m, a, shapes.without(a.shape, gone))
    ones = [shapes.is_extent(m, e, 1) for e in a.shape]
    if None in ones:
        return with_shape(m, a, m.unknown("the shape of a squeezed array", *a.shape))
    return with_shape(m, a, tuple(e for e, one in zip(a.shape, ones, strict=True) if not one))


def expanded(m: Any, a: Array, axis: Value) -> Array:
    """`expand_dims`: axes of extent 1 put in; counted in the result."""
    items = m.program.items.iterate(m, axis)
    count = 1 if items is None else len(items)
    if not isinstance(a.shape, tuple):
        return with_shape(m, a, m.unknown("the shape of an expanded array", a.shape))
    at = shapes.axes(m, axis, len(a.shape) + count)
    if at is None:
        return with_shape(m, a, shapes.unknown_extents(m, len(a.shape) + count, "axes that are not known", axis))
    rest = iter(a.shape)
    return with_shape(m, a, tuple(Int(1) if i in at else next(rest) for i in range(len(a.shape) + count)))


# -- broadcasting ----------------------------------------------------------------------------------


def _broadcast(r: Registry) -> None:
    @r.function("jax.numpy.broadcast_to", "array, shape, *, out_sharding=None")
    def broadcast_to(m: Any, call: Call, array: Value, shape: Value, out_sharding: Value) -> Value:
        return broadcasted(m, as_array(m, array), as_shape(m, shape))

    @r.raw("jax.numpy.broadcast_arrays")
    def broadcast_arrays(m: Any, call: Call) -> Value:
        return m.lift(lambda *args: _together(m, args), *call.args)

    @r.raw("jax.numpy.broadcast_shapes")
    def broadcast_shapes(m: Any, call: Call) -> Value:
        return m.lift(lambda *args: shapes.broadcast(m, [as_shape(m, a) for a in args]), *call.args)


def broadcasted(m: Any, a: Array, shape: Shape) -> Array:
    """An array in a larger shape: scalars become splats in registers."""
    layout = (
        a.layout
        if a.shape == shape
        else Splat()
        if m.launch is not None and registers.is_splat(a)
        else registers.moved(m, a)
    )
    return Array(shape, a.dtype, a.weak, layout, a.index if shape == () else None)


def _together(m: Any, args: tuple[Value, ...]) -> Value:
    arrays = [as_array(m, a) for a in args]
    shape = shapes.broadcast(m, [a.shape for a in arrays])
    return tuple(broadcasted(m, a, shape) for a in arrays)


# -- several arrays --------------------------------------------------------------------------------


def _joined(r: Registry) -> None:
    @r.function("jax.numpy.concatenate", "arrays, axis=0, dtype=None")
    def concatenate(m: Any, call: Call, arrays: Value, axis: Value, dtype: Value) -> Value:
        return over_arrays(m, arrays, lambda rows: concatenated(m, rows, axis, dtype))

    @r.function("jax.numpy.concat", "arrays, *, axis=0")
    def concat(m: Any, call: Call, arrays: Value, axis: Value) -> Value:
        return over_arrays(m, arrays, lambda rows: concatenated(m, rows, axis, None))

    @r.function("jax.numpy.stack", "arrays, axis=0, out=None, dtype=None")
    def stack(m: Any, call: Call, arrays: Value, axis: Value, out: Value, dtype: Value) -> Value:
        return over_arrays(m, arrays, lambda rows: concatenated(m, [expanded(m, a, axis) for a in rows], axis, dtype))


def over_arrays(m: Any, sequence: Value, run: Callable[[list[Array]], Value]) -> Value:
    """`run` on the arrays of a sequence."""
    if isinstance(sequence, Array):
        return m.unknown("an operation on the rows of an array", sequence)

    def each(*items: Value) -> Value:
        return run([as_array(m, x) for x in items])

    def cases(items: Value) -> Value:
        return (
            m.lift(each, *items)
            if type(items) is tuple and items
            else m.unknown("an operation on unknown arrays", items)
        )

    return m.lift(cases, contents(m, sequence))


def concatenated(m: Any, rows: list[Array], axis: Value, dtype: Value) -> Value:
    """`concatenate`: extents along the axis add up."""
    common, weak = result_type(m, rows)
    d = as_jax_dtype(m, dtype, common)
    layout = registers.moved(m, *rows)
    known = [a.shape for a in rows if isinstance(a.shape, tuple)]
    if not known or axis is None:
        return Array(
            m.unknown("the shape of joined arrays", axis, *(a.shape for a in rows)), d, weak and dtype is None, layout
        )
    rank = len(known[0])
    at = shapes.axis(m, axis, rank)
    if at is None or any(len(s) != rank for s in known):
        return Array(
            shapes.unknown_extents(m, rank, "arrays joined along an unknown axis", axis),
            d,
            weak and dtype is None,
            layout,
        )
    return Array(_joined_shape(m, rows, known, at), d, weak and dtype is None, layout)


def _joined_shape(m: Any, rows: list[Array], known: list[tuple[Extent, ...]], at: int) -> Shape:
    out = list(known[0])
    for s in known[1:]:
        out = [shapes.merge_equal(m, x, y) for x, y in zip(out, s, strict=True)]
    complete = len(known) == len(rows)
    out[at] = (
        shapes.total(m, [s[at] for s in known]) if complete else m.unknown("the extent of joined arrays", rows[0].shape)
    )
    return tuple(out)


# -- parts -----------------------------------------------------------------------------------------


def _divided(r: Registry) -> None:
    @r.function("jax.numpy.split", "ary, indices_or_sections, axis=0")
    def split(m: Any, call: Call, ary: Value, indices_or_sections: Value, axis: Value) -> Value:
        return divided(m, as_array(m, ary), indices_or_sections, axis)

    @r.function("jax.numpy.unstack", "x, *, axis=0")
    def unstack(m: Any, call: Call, x: Value, axis: Value) -> Value:
        a = as_array(m, x)
        at = shapes.axis(m, axis, len(a.shape)) if isinstance(a.shape, tuple) else None
        count = as_constant(m, a.shape[at]) if at is not None and isinstance(a.shape, tuple) else None
        if count is None or at is None or not isinstance(a.shape, tuple):
            return m.unknown("an unknown number of arrays", x, site=call.site)
        return (with_shape(m, a, shapes.without(a.shape, (at,))),) * count


def divided(m: Any, a: Array, sections: Value, axis: Value) -> Value:
    """`split`: into a number of equal parts, or at positions."""
    at = shapes.axis(m, axis, len(a.shape)) if isinstance(a.shape, tuple) else None
    positions = m.program.items.iterate(m, sections)
    n = as_constant(m, sections) if positions is None else None
    if positions is not None:
        return _at_positions(m, a, positions, at)
    if n is None or n < 1:
        return m.unknown("an unknown number of parts", sections)
    if at is None or not isinstance(a.shape, tuple):
        return (Array(m.unknown("the shape of a part", a.shape, axis), a.dtype, a.weak),) * n
    extent = a.shape[at]
    part: Extent = m.unknown("the extent of a part", extent)
    if isinstance(extent, Int) and m.decide(conds.divides(n, extent.dim)) is not False:
        part = Int(dims.floordiv(extent.dim, n))
    return (with_shape(m, a, shapes.replaced(a.shape, at, part)),) * n


def _at_positions(m: Any, a: Array, positions: list[Value], at: int | None) -> Value:
    cuts = [as_constant(m, p) for p in positions]
    if at is None or not isinstance(a.shape, tuple):
        return (Array(m.unknown("the shape of a part", a.shape), a.dtype, a.weak),) * (len(positions) + 1)
    whole = as_constant(m, a.shape[at])
    ends = [0, *cuts, whole]
    parts: list[Value] = []
    for low, high in pairwise(ends):
        known = low is not None and high is not None and low >= 0 and high >= 0 and whole is not None
        extent: Extent = m.unknown("the extent of a part", a.shape[at])
        if known and low is not None and high is not None and whole is not None:
            extent = Int(max(0, min(high, whole) - min(low, whole)))
        parts.append(with_shape(m, a, shapes.replaced(a.shape, at, extent)))
    return tuple(parts)


def _repeated(r: Registry) -> None:
    @r.function("jax.numpy.repeat", "a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None")
    def repeat(
        m: Any, call: Call, a: Value, repeats: Value, axis: Value, total_repeat_length: Value, out_sharding: Value
    ) -> Value:
        return _repeat(m, as_array(m, a), repeats, axis, total_repeat_length)

    @r.function("jax.numpy.tile", "A, reps")
    def tile(m: Any, call: Call, A: Value, reps: Value) -> Value:
        x = as_array(m, A)
        counts = as_shape(m, reps)
        if not isinstance(x.shape, tuple) or not isinstance(counts, tuple):
            return with_shape(m, x, m.unknown("the shape of a repeated array", x.shape, reps))
        rank = max(len(x.shape), len(counts))
        old, times = ((Int(1),) * (rank - len(s)) + s for s in (x.shape, counts))
        return with_shape(m, x, tuple(shapes.product(m, pair) for pair in zip(old, times, strict=True)))

    @r.function("jax.numpy.pad", "array, pad_width, mode='constant', **options")
    def pad(m: Any, call: Call, array: Value, pad_width: Value, **_: Value) -> Value:
        x = as_array(m, array)
        if not isinstance(x.shape, tuple):
            return with_shape(m, x, m.unknown("the shape of a padded array", x.shape))
        widths = _pad_widths(m, pad_width, len(x.shape))
        if widths is None:
            return with_shape(m, x, shapes.unknown_extents(m, len(x.shape), "padding that is not known", pad_width))
        return with_shape(
            m, x, tuple(shapes.total(m, [low, e, high]) for e, (low, high) in zip(x.shape, widths, strict=True))
        )


def _repeat(m: Any, a: Array, repeats: Value, axis: Value, total: Value) -> Array:
    n = m.as_int(repeats) if not isinstance(repeats, Array) else None
    shape = (shapes.size(m, a.shape),) if axis is None else a.shape
    if not isinstance(shape, tuple):
        return with_shape(m, a, m.unknown("the shape of a repeated array", shape))
    at = 0 if axis is None else shapes.axis(m, axis, len(shape))
    if at is None:
        return with_shape(m, a, shapes.unknown_extents(m, len(shape), "an axis that is not known", axis))
    if total is not None:
        extent = as_extent(m, total)
    else:
        extent = (
            shapes.product(m, [shape[at], n]) if n is not None else m.unknown("repeats that are not known", repeats)
        )
    return with_shape(m, a, shapes.replaced(shape, at, extent))


def _pad_widths(m: Any, width: Value, rank: int) -> list[tuple[Extent, Extent]] | None:
    """(before, after) for each axis: NumPy takes one number, one pair, or a pair for each axis."""
    items = m.program.items.iterate(m, width)
    if items is None:
        n = m.as_int(width) if not isinstance(width, (Unknown, Opaque)) else None
        return [(n, n)] * rank if n is not None else None
    rows = [m.program.items.iterate(m, x) for x in items]
    if all(r is None for r in rows) and len(rows) in (1, 2):
        return [(as_extent(m, items[0]), as_extent(m, items[-1]))] * rank
    pairs = [(as_extent(m, r[0]), as_extent(m, r[-1])) for r in rows if r is not None and len(r) in (1, 2)]
    if len(pairs) != len(rows):
        return None
    return pairs * rank if len(pairs) == 1 else pairs if len(pairs) == rank else None
