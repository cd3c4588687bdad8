"""Arrays made from nothing: `jnp.zeros`, `jnp.full`, `jnp.arange`, `jnp.array`, and their kind."""

from __future__ import annotations

import math
from typing import Any

from ..domain import dim as dims
from ..domain.array import Array, ElementType, Extent
from ..domain.dtype import DType
from ..domain.python import Call, Int, ListCell, Opaque, Value
from . import registers, shapes
from .convert import FLOAT32, INT32, as_array, as_jax_dtype, as_shape
from .operate import contents
from .promote import result_type
from .registry import Registry


def register(r: Registry) -> None:
    """Registers the constructors of jax.numpy."""
    _filled(r)
    _like(r)
    _counted(r)
    _converted(r)


def _filled(r: Registry) -> None:
    options = "*, device=None, out_sharding=None"

    @r.function("jax.numpy.zeros jax.numpy.ones jax.numpy.empty", f"shape, dtype=None, {options}")
    def zeros(m: Any, call: Call, shape: Value, dtype: Value, **_: Value) -> Value:
        return Array(as_shape(m, shape), as_jax_dtype(m, dtype, FLOAT32), layout=registers.created(m))

    @r.function("jax.numpy.full", f"shape, fill_value, dtype=None, {options}")
    def full(m: Any, call: Call, shape: Value, fill_value: Value, dtype: Value, **_: Value) -> Value:
        return filled(m, shape, fill_value, dtype)

    @r.function("jax.numpy.eye", "N, M=None, k=0, dtype=None, *, device=None")
    def eye(m: Any, call: Call, N: Value, M: Value, k: Value, dtype: Value, device: Value) -> Value:
        extents = as_shape(m, (N, N if M is None else M))
        return Array(extents, as_jax_dtype(m, dtype, FLOAT32), layout=registers.generated(m))

    @r.function("jax.numpy.identity", "n, dtype=None")
    def identity(m: Any, call: Call, n: Value, dtype: Value) -> Value:
        return Array(as_shape(m, (n, n)), as_jax_dtype(m, dtype, FLOAT32), layout=registers.generated(m))

    @r.function("jax.numpy.tri", "N, M=None, k=0, dtype=None")
    def tri(m: Any, call: Call, N: Value, M: Value, k: Value, dtype: Value) -> Value:
        extents = as_shape(m, (N, N if M is None else M))
        return Array(extents, as_jax_dtype(m, dtype, FLOAT32), layout=registers.generated(m))


def filled(m: Any, shape: Value, fill: Value, dtype: Value) -> Array:
    """`full`: the fill value's type unless one is given; a scalar makes a splat."""
    a = as_array(m, fill)
    d = as_jax_dtype(m, dtype, a.dtype)
    layout = registers.created(m) if a.shape == () else registers.moved(m, a)
    return Array(as_shape(m, shape), d, a.weak and dtype is None, layout)


def _like(r: Registry) -> None:
    @r.function(
        "jax.numpy.zeros_like jax.numpy.ones_like jax.numpy.empty_like",
        "a, dtype=None, shape=None, *, device=None, out_sharding=None",
    )
    def zeros_like(m: Any, call: Call, a: Value, dtype: Value, shape: Value, **_: Value) -> Value:
        return like(m, a, dtype, shape)

    @r.function("jax.numpy.full_like", "a, fill_value, dtype=None, shape=None, *, device=None")
    def full_like(m: Any, call: Call, a: Value, fill_value: Value, dtype: Value, shape: Value, device: Value) -> Value:
        return like(m, a, dtype, shape)


def like(m: Any, v: Value, dtype: Value, shape: Value) -> Array:
    """An array of one value with the shape and type of another."""
    a = as_array(m, v)
    extents = a.shape if shape is None else as_shape(m, shape)
    return Array(extents, as_jax_dtype(m, dtype, a.dtype), a.weak and dtype is None, registers.created(m))


# -- ranges ----------------------------------------------------------------------------------------


def _counted(r: Registry) -> None:
    @r.function("jax.numpy.arange", "start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None")
    def arange(m: Any, call: Call, start: Value, stop: Value, step: Value, dtype: Value, **_: Value) -> Value:
        first, last = (Int(0), start) if stop is None else (start, stop)
        given = [as_array(m, v) for v in (start, stop, step) if v is not None]
        common, _weak = result_type(m, given)
        extent = _range_extent(m, first, last, Int(1) if step is None else step)
        return Array((extent,), as_jax_dtype(m, dtype, common), layout=registers.generated(m))

    @r.function(
        "jax.numpy.linspace", "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None"
    )
    def linspace(
        m: Any, call: Call, start: Value, stop: Value, num: Value, retstep: Value, dtype: Value, axis: Value, **_: Value
    ) -> Value:
        ends = [as_array(m, start), as_array(m, stop)]
        if retstep is not False or any(a.shape != () for a in ends) or any(_is_complex(a.dtype) for a in ends):
            return m.unknown("linspace of values that are not known", start, stop, site=call.site)
        default = result_type(m, [*ends, Array((), FLOAT32, weak=True)])[0]
        return Array(as_shape(m, (num,)), as_jax_dtype(m, dtype, default), layout=registers.generated(m))


def _is_complex(d: ElementType) -> bool:
    return not isinstance(d, DType) or d.family == "complex"


def _range_extent(m: Any, start: Value, stop: Value, step: Value) -> Extent:
    bounds = [v if isinstance(v, float) else m.as_int(v) for v in (start, stop, step)]
    whole = [n.dim for n in bounds if isinstance(n, Int)]
    if len(whole) == 3:
        return _integer_extent(m, whole[0], whole[1], whole[2])
    values = [n.dim if isinstance(n, Int) else n for n in bounds]
    known = [n for n in values if isinstance(n, (int, float))]
    if len(known) == 3 and known[2]:
        return Int(max(0, math.ceil((known[1] - known[0]) / known[2])))
    return m.unknown("the length of a range that is not known", start, stop, step)


def _integer_extent(m: Any, start: Any, stop: Any, step: Any) -> Extent:
    if not isinstance(step, int) or step == 0:
        return m.unknown("the length of a range with an unknown step", Int(step))
    whole = dims.sub(stop, start) if step > 0 else dims.sub(start, stop)
    count = dims.floordiv(dims.add(whole, abs(step) - 1), abs(step))
    low, _ = m.path.facts.span(count)
    return Int(count if low is not None and low >= 0 else dims.maximum(count, 0))


# -- from values -----------------------------------------------------------------------------------


def _converted(r: Registry) -> None:
    @r.function(
        "jax.numpy.array", "object, dtype=None, *, copy=True, order='K', ndmin=0, device=None, out_sharding=None"
    )
    def array(m: Any, call: Call, object: Value, dtype: Value, ndmin: Value, **_: Value) -> Value:
        a = converted(m, object, dtype)
        return a if ndmin == Int(0) else m.unknown("an array with a least number of axes", object, site=call.site)

    @r.function("jax.numpy.asarray", "a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None")
    def asarray(m: Any, call: Call, a: Value, dtype: Value, **_: Value) -> Value:
        return converted(m, a, dtype)

    @r.function("jax.device_put jax.device_get", "x, device=None, *, src=None, donate=False, may_alias=None")
    def device_put(m: Any, call: Call, x: Value, **_: Value) -> Value:
        return x


def converted(m: Any, v: Value, dtype: Value) -> Value:
    """`jnp.array(v)`: arrays, scalars and nested lists."""
    a = nested(m, v) if isinstance(v, ListCell) or type(v) is tuple else as_array(m, v)
    plain = not isinstance(v, (Array, Opaque))
    keeps_weak = a.weak and dtype is None and not isinstance(v, (ListCell, tuple))
    index = a.index if dtype is None or as_jax_dtype(m, dtype, INT32) == INT32 else None
    return Array(
        a.shape,
        as_jax_dtype(m, dtype, a.dtype),
        keeps_weak,
        registers.created(m) if plain and a.shape == () else a.layout,
        index,
    )


def nested(m: Any, v: Value) -> Array:
    """A list of lists as an array; lists of one length only."""

    def stacked(items: Value) -> Value:
        if type(items) is not tuple:
            return as_array(m, items)
        if not items:
            return Array((Int(0),), FLOAT32)
        rows = [nested(m, x) if isinstance(x, ListCell) or type(x) is tuple else as_array(m, x) for x in items]
        dtype, _ = result_type(m, rows)
        return (
            Array((Int(len(rows)), *_row_shape(m, rows)), dtype)
            if isinstance(rows[0].shape, tuple)
            else as_array(m, rows[0].shape)
        )

    out = m.lift(stacked, contents(m, v))
    return out if isinstance(out, Array) else as_array(m, m.unknown("an array from one of several lists", v))


def _row_shape(m: Any, rows: list[Array]) -> tuple[Extent, ...]:
    first = rows[0].shape
    assert isinstance(first, tuple)
    if any(a.shape != first for a in rows):
        return shapes.unknown_extents(m, len(first), "rows of different shapes")
    return first
