"""Operations of jax.lax that make arrays or move their elements: iota, reshape, slices, reductions, products, sort."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..domain import cond as conds
from ..domain.array import Array, ElementType, Extent, Shape, element_bits
from ..domain.python import Call, Int, ListCell, Slice, Value
from . import allocations, jnp_reduce, registers, shapes
from .convert import INT32, as_array, as_constant, as_dtype, as_extent, as_jax_dtype, as_shape
from .jnp_contract import contracted, dot_general_shape
from .jnp_create import filled, like
from .jnp_items import slice_extent
from .jnp_shape import broadcasted, concatenated, expanded, over_arrays, same_shape, squeezed, transposed, with_shape
from .promote import known_type
from .registry import Registry


def register(r: Registry) -> None:
    """Registers them."""
    _made(r)
    _shaped(r)
    _sliced(r)
    _reduced(r)
    _ordered(r)
    _products(r)


def _made(r: Registry) -> None:
    @r.function("jax.lax.full", "shape, fill_value, dtype=None, *, sharding=None")
    def full(m: Any, call: Call, shape: Value, fill_value: Value, dtype: Value, sharding: Value) -> Value:
        return filled(m, shape, fill_value, dtype)

    @r.function("jax.lax.full_like", "x, fill_value, dtype=None, shape=None, sharding=None")
    def full_like(
        m: Any, call: Call, x: Value, fill_value: Value, dtype: Value, shape: Value, sharding: Value
    ) -> Value:
        return like(m, x, dtype, shape)

    @r.function("jax.lax.iota", "dtype, size")
    def iota(m: Any, call: Call, dtype: Value, size: Value) -> Value:
        return Array((as_extent(m, size),), as_jax_dtype(m, dtype, INT32), layout=registers.generated(m))

    @r.function("jax.lax.broadcasted_iota", "dtype, shape, dimension, *, out_sharding=None")
    def broadcasted_iota(
        m: Any, call: Call, dtype: Value, shape: Value, dimension: Value, out_sharding: Value
    ) -> Value:
        return Array(as_shape(m, shape), as_jax_dtype(m, dtype, INT32), layout=registers.generated(m))


# -- shapes ----------------------------------------------------------------------------------------


def _shaped(r: Registry) -> None:
    @r.function("jax.lax.broadcast_in_dim", "operand, shape, broadcast_dimensions, *, out_sharding=None")
    def broadcast_in_dim(
        m: Any, call: Call, operand: Value, shape: Value, broadcast_dimensions: Value, out_sharding: Value
    ) -> Value:
        return broadcasted(m, as_array(m, operand), as_shape(m, shape))

    @r.function("jax.lax.broadcast", "operand, sizes, *, out_sharding=None")
    def broadcast(m: Any, call: Call, operand: Value, sizes: Value, out_sharding: Value) -> Value:
        a, head = as_array(m, operand), as_shape(m, sizes)
        return broadcasted(m, a, shapes.joined(m, "a broadcast shape", head, a.shape))

    @r.function("jax.lax.reshape", "operand, new_sizes, dimensions=None, *, out_sharding=None")
    def reshape(m: Any, call: Call, operand: Value, new_sizes: Value, **_: Value) -> Value:
        a = as_array(m, operand)
        return with_shape(m, a, shapes.reshaped(m, a.shape, as_shape(m, new_sizes)))

    @r.function("jax.lax.transpose", "operand, permutation")
    def transpose(m: Any, call: Call, operand: Value, permutation: Value) -> Value:
        return transposed(m, as_array(m, operand), permutation)

    @r.function("jax.lax.squeeze", "array, dimensions")
    def squeeze(m: Any, call: Call, array: Value, dimensions: Value) -> Value:
        return squeezed(m, as_array(m, array), dimensions)

    @r.function("jax.lax.expand_dims", "array, dimensions")
    def expand_dims(m: Any, call: Call, array: Value, dimensions: Value) -> Value:
        return expanded(m, as_array(m, array), dimensions)

    @r.function("jax.lax.collapse", "operand, start_dimension, stop_dimension=None")
    def collapse(m: Any, call: Call, operand: Value, start_dimension: Value, stop_dimension: Value) -> Value:
        return _collapsed(m, as_array(m, operand), start_dimension, stop_dimension)

    @r.function("jax.lax.concatenate", "operands, dimension")
    def concatenate(m: Any, call: Call, operands: Value, dimension: Value) -> Value:
        return over_arrays(m, operands, lambda rows: concatenated(m, rows, dimension, None))

    @r.function("jax.lax.pad", "operand, padding_value, padding_config")
    def pad(m: Any, call: Call, operand: Value, padding_value: Value, padding_config: Value) -> Value:
        return _padded(m, as_array(m, operand), as_array(m, padding_value).weak, padding_config)

    @r.function("jax.lax.bitcast_convert_type", "operand, new_dtype")
    def bitcast_convert_type(m: Any, call: Call, operand: Value, new_dtype: Value) -> Value:
        return bitcast(m, as_array(m, operand), as_dtype(m, new_dtype))

    r.function("jax.lax.rev", "a, dimensions=()")(same_shape)


def _collapsed(m: Any, a: Array, start: Value, stop: Value) -> Array:
    if not isinstance(a.shape, tuple):
        return with_shape(m, a, m.unknown("the shape of a collapsed array", a.shape))
    low = shapes.axis(m, start, len(a.shape))
    high = len(a.shape) if stop is None else as_constant(m, stop)
    if low is None or high is None:
        return with_shape(m, a, m.unknown("the shape of a collapsed array", start, stop))
    high = high + len(a.shape) if high < 0 else high
    return with_shape(m, a, (*a.shape[:low], shapes.product(m, a.shape[low:high]), *a.shape[high:]))


def _padded(m: Any, a: Array, weak_value: bool, config: Value) -> Array:
    """Each axis: low, high and interior padding. Weak only where the padding value is, too."""
    rows = [m.program.items.iterate(m, x) for x in m.program.items.iterate(m, config) or ()]
    if not isinstance(a.shape, tuple) or len(rows) != len(a.shape) or any(r is None or len(r) != 3 for r in rows):
        rank = shapes.rank_of(a.shape)
        unknown = (
            m.unknown("the shape of a padded array", a.shape)
            if rank is None
            else shapes.unknown_extents(m, rank, "padding", config)
        )
        return Array(unknown, a.dtype, a.weak and weak_value, registers.moved(m, a))
    out = [
        _padded_extent(m, e, *(as_extent(m, x) for x in row))
        for e, row in zip(a.shape, rows, strict=True)
        if row is not None
    ]
    return Array(tuple(out), a.dtype, a.weak and weak_value, registers.moved(m, a))


def _padded_extent(m: Any, e: Extent, low: Extent, high: Extent, interior: Extent) -> Extent:
    if shapes.is_extent(m, interior, 0):
        return shapes.total(m, [low, e, high])
    return m.unknown("the extent of an axis with interior padding", e, interior)


def bitcast(m: Any, a: Array, d: ElementType) -> Array:
    """The same bits: a wider type takes the last axis, a narrower one adds an axis."""
    old, new = element_bits(a.dtype), element_bits(d)
    if old is not None and new is not None and m.decide(conds.equal(old, new)) is True:
        return Array(a.shape, d, layout=a.layout)
    if not (isinstance(old, int) and isinstance(new, int) and isinstance(a.shape, tuple)):
        return Array(m.unknown("the shape of a bitcast between widths", a.shape), d, layout=registers.moved(m, a))
    shape = (*a.shape, Int(old // new)) if old > new else a.shape[:-1]
    return Array(shape, d, layout=registers.moved(m, a))


# -- slices ----------------------------------------------------------------------------------------


def _sliced(r: Registry) -> None:
    @r.function("jax.lax.slice", "operand, start_indices, limit_indices, strides=None")
    def slice_(m: Any, call: Call, operand: Value, start_indices: Value, limit_indices: Value, strides: Value) -> Value:
        return _slice(m, as_array(m, operand), start_indices, limit_indices, strides)

    @r.function("jax.lax.slice_in_dim", "operand, start_index, limit_index, stride=1, axis=0")
    def slice_in_dim(
        m: Any, call: Call, operand: Value, start_index: Value, limit_index: Value, stride: Value, axis: Value
    ) -> Value:
        return _at_axis(
            m, as_array(m, operand), axis, lambda e: slice_extent(m, e, Slice(start_index, limit_index, stride))
        )

    @r.function("jax.lax.dynamic_slice", "operand, start_indices, slice_sizes, *, allow_negative_indices=True")
    def dynamic_slice(
        m: Any, call: Call, operand: Value, start_indices: Value, slice_sizes: Value, **_: Value
    ) -> Value:
        a = as_array(m, operand)
        return Array(as_shape(m, slice_sizes), a.dtype, a.weak, registers.moved(m, a))

    @r.function(
        "jax.lax.dynamic_slice_in_dim", "operand, start_index, slice_size, axis=0, *, allow_negative_indices=True"
    )
    def dynamic_slice_in_dim(
        m: Any, call: Call, operand: Value, start_index: Value, slice_size: Value, axis: Value, **_: Value
    ) -> Value:
        return _at_axis(m, as_array(m, operand), axis, lambda e: as_extent(m, slice_size))

    @r.function(
        "jax.lax.dynamic_index_in_dim jax.lax.index_in_dim",
        "operand, index, axis=0, keepdims=True, *, allow_negative_indices=True",
    )
    def dynamic_index_in_dim(
        m: Any, call: Call, operand: Value, index: Value, axis: Value, keepdims: Value, **_: Value
    ) -> Value:
        kept = _at_axis(m, as_array(m, operand), axis, lambda e: Int(1))
        return (
            kept
            if keepdims is True
            else squeezed(m, kept, axis)
            if keepdims is False
            else m.unknown("an axis that may be kept", keepdims)
        )

    updates = (
        ("dynamic_update_slice", "start_indices"),
        ("dynamic_update_slice_in_dim", "start_index, axis"),
        ("dynamic_update_index_in_dim", "index, axis"),
    )
    for name, rest in updates:
        r.function(f"jax.lax.{name}", f"operand, update, {rest}, *, allow_negative_indices=True")(_updated)


def _updated(m: Any, call: Call, operand: Value, update: Value, **_: Value) -> Value:
    a = as_array(m, operand)
    return Array(a.shape, a.dtype, layout=registers.moved(m, a))


def _slice(m: Any, a: Array, starts: Value, limits: Value, strides: Value) -> Array:
    low, high = m.program.items.iterate(m, starts), m.program.items.iterate(m, limits)
    steps = m.program.items.iterate(m, strides) if strides is not None else None
    if low is None or high is None or not isinstance(a.shape, tuple) or (strides is not None and steps is None):
        return with_shape(m, a, m.unknown("the shape of a slice", a.shape, starts, limits))
    steps = steps if steps is not None else [Int(1)] * len(low)
    rows = zip(a.shape, low, high, steps, strict=False)
    return with_shape(m, a, tuple(slice_extent(m, e, Slice(*bounds)) for e, *bounds in rows))


def _at_axis(m: Any, a: Array, axis: Value, extent: Callable[[Extent], Extent]) -> Array:
    """The array with one extent changed."""
    if not isinstance(a.shape, tuple):
        return with_shape(m, a, m.unknown("the shape of a slice", a.shape))
    at = shapes.axis(m, axis, len(a.shape))
    if at is None:
        return with_shape(m, a, shapes.unknown_extents(m, len(a.shape), "an axis that is not known", axis))
    return with_shape(m, a, shapes.replaced(a.shape, at, extent(a.shape[at])))


# -- reductions and order --------------------------------------------------------------------------


def _reduced(r: Registry) -> None:
    for name in ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"):
        r.function(f"jax.lax.{name}", "operand, axes, *, out_sharding=None")(_reduction(name.removeprefix("reduce_")))
    for name in ("reduce_and", "reduce_or", "reduce_xor"):
        r.function(f"jax.lax.{name}", "operand, axes, *, out_sharding=None")(_bit_reduction)

    @r.function("jax.lax.argmax jax.lax.argmin", "operand, axis, index_dtype")
    def argmax(m: Any, call: Call, operand: Value, axis: Value, index_dtype: Value) -> Value:
        return jnp_reduce.reduced(m, as_array(m, operand), axis, False, as_jax_dtype(m, index_dtype, INT32))

    @r.function("jax.lax.reduce", "operands, init_values, computation, dimensions, out_sharding=None")
    def reduce(
        m: Any,
        call: Call,
        operands: Value,
        init_values: Value,
        computation: Value,
        dimensions: Value,
        out_sharding: Value,
    ) -> Value:
        if not isinstance(operands, Array):
            return m.unknown("a reduction of several arrays", operands, site=call.site)
        return jnp_reduce.reduced(m, operands, dimensions, False, operands.dtype)

    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        r.function(f"jax.lax.{name}", "operand, axis=0, reverse=False")(_scan)


def _reduction(name: str) -> Callable[..., Array]:
    def model(m: Any, call: Call, operand: Value, axes: Value, out_sharding: Value) -> Array:
        a = as_array(m, operand)
        allocations.note_reduction(m, call.site, name, a, axes)
        return replace(jnp_reduce.reduced(m, a, axes, False, a.dtype), weak=a.weak)

    return model


def _bit_reduction(m: Any, call: Call, operand: Value, axes: Value, out_sharding: Value) -> Value:
    """Never weak, unlike the arithmetic ones."""
    a = as_array(m, operand)
    return replace(jnp_reduce.reduced(m, a, axes, False, a.dtype), weak=False)


def _scan(m: Any, call: Call, operand: Value, axis: Value, reverse: Value) -> Value:
    a = as_array(m, operand)
    return Array(a.shape, a.dtype, a.weak, registers.moved(m, a))


def _ordered(r: Registry) -> None:
    @r.function("jax.lax.sort", "operand, dimension=-1, is_stable=True, num_keys=1")
    def sort(m: Any, call: Call, operand: Value, **_: Value) -> Value:
        def sorted_(x: Value) -> Array:
            a = as_array(m, x)
            return Array(a.shape, a.dtype, a.weak, registers.moved(m, a))

        if type(operand) is tuple or isinstance(operand, ListCell):
            items = m.program.items.iterate(m, operand)
            return (
                m.unknown("sorted arrays", operand, site=call.site)
                if items is None
                else tuple(sorted_(x) for x in items)
            )
        return sorted_(operand)

    @r.function("jax.lax.top_k", "operand, k, *, axis=-1, is_stable=True")
    def top_k(m: Any, call: Call, operand: Value, k: Value, axis: Value, **_: Value) -> Value:
        best = _at_axis(m, as_array(m, operand), axis, lambda e: as_extent(m, k))
        return (best, Array(best.shape, INT32, best.weak, best.layout))

    @r.function("jax.lax.split", "operand, sizes, axis=0")
    def split(m: Any, call: Call, operand: Value, sizes: Value, axis: Value) -> Value:
        parts = m.program.items.iterate(m, sizes)
        if parts is None:
            return m.unknown("an unknown number of parts", sizes, site=call.site)
        a = as_array(m, operand)
        return ListCell({"items": tuple(_at_axis(m, a, axis, lambda e, n=n: as_extent(m, n)) for n in parts)})


def _products(r: Registry) -> None:
    options = "precision=None, preferred_element_type=None"

    @r.function("jax.lax.dot_general", f"lhs, rhs, dimension_numbers, {options}, *, out_sharding=None")
    def dot_general(
        m: Any, call: Call, lhs: Value, rhs: Value, dimension_numbers: Value, preferred_element_type: Value, **_: Value
    ) -> Value:
        a, b = as_array(m, lhs), as_array(m, rhs)
        return _product(m, a, b, dot_general_shape(m, a.shape, b.shape, dimension_numbers), preferred_element_type)

    @r.function("jax.lax.dot", f"lhs, rhs, *, dimension_numbers=None, {options}, out_sharding=None")
    def dot(
        m: Any, call: Call, lhs: Value, rhs: Value, dimension_numbers: Value, preferred_element_type: Value, **_: Value
    ) -> Value:
        a, b = as_array(m, lhs), as_array(m, rhs)
        if dimension_numbers is not None:
            return contracted(
                m, [a, b], dot_general_shape(m, a.shape, b.shape, dimension_numbers), preferred_element_type
            )
        shape: Shape = m.unknown("the shape of a product", a.shape, b.shape)
        if isinstance(a.shape, tuple) and isinstance(b.shape, tuple):
            shape = (*a.shape[:-1], *b.shape[1:])
        return _product(m, a, b, shape, preferred_element_type)


def _product(m: Any, a: Array, b: Array, shape: Shape, preferred: Value) -> Array:
    out = contracted(m, _alike(m, a, b), shape, preferred)
    return replace(out, weak=a.weak and b.weak)


def _alike(m: Any, a: Array, b: Array) -> list[Array]:
    """The operands of a product, whose type is known only where theirs is the same: lax has rules of its own for
    others."""
    if known_type(m, a.dtype) == known_type(m, b.dtype):
        return [a, b]
    unknown = m.unknown("the element type of a product of different types", a.dtype, b.dtype)
    return [replace(a, dtype=unknown), replace(b, dtype=unknown)]
