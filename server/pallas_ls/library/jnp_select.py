"""Functions of jax.numpy that choose elements: where, clip, take, sort, and their kind."""

from __future__ import annotations

from typing import Any

from ..domain.array import Array, Shape
from ..domain.dtype import DType
from ..domain.python import Call, Value
from . import elementwise as e
from . import registers, shapes
from .convert import INT32, as_array
from .promote import result_type
from .registry import Registry


def register(r: Registry) -> None:
    """Registers them."""
    _chosen(r)
    _taken(r)
    _sorted(r)


def _chosen(r: Registry) -> None:
    @r.function("jax.numpy.where", "condition, x=None, y=None, *, size=None, fill_value=None")
    def where(m: Any, call: Call, condition: Value, x: Value, y: Value, size: Value, fill_value: Value) -> Value:
        if x is None or y is None:
            return m.unknown("where with one argument", condition, site=call.site)
        return selected(m, condition, x, y)

    @r.function("jax.numpy.clip", "arr, min=None, max=None")
    def clip(m: Any, call: Call, arr: Value, min: Value, max: Value) -> Value:
        return e.combine(m, [as_array(m, v) for v in (arr, min, max) if v is not None], e.NOT_COMPLEX)

    @r.function("jax.numpy.nan_to_num", "x, copy=True, nan=0.0, posinf=None, neginf=None")
    def nan_to_num(m: Any, call: Call, x: Value, **_: Value) -> Value:
        a = as_array(m, x)
        weak = a.weak and isinstance(a.dtype, DType) and a.dtype.is_integer
        return Array(a.shape, a.dtype, weak, a.layout)


def selected(m: Any, condition: Value, x: Value, y: Value) -> Array:
    """`where(condition, x, y)`."""
    c, a, b = (as_array(m, v) for v in (condition, x, y))
    dtype, weak = result_type(m, [a, b])
    shape = shapes.broadcast(m, [v.shape for v in (c, a, b)])
    return Array(shape, dtype, weak, registers.elementwise(m, [c, a, b], shape))


# -- positions -------------------------------------------------------------------------------------


def _taken(r: Registry) -> None:
    @r.function(
        "jax.numpy.take",
        "a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None",
    )
    def take(m: Any, call: Call, a: Value, indices: Value, axis: Value, **_: Value) -> Value:
        x, i = as_array(m, a), as_array(m, indices)
        return Array(_taken_shape(m, x, i, axis), x.dtype, x.weak, registers.moved(m, x))

    @r.function(
        "jax.numpy.take_along_axis", "arr, indices, axis=-1, mode=None, fill_value=None, *, wrap_negative_indices=True"
    )
    def take_along_axis(m: Any, call: Call, arr: Value, indices: Value, axis: Value, **_: Value) -> Value:
        x, i = as_array(m, arr), as_array(m, indices)
        if axis is None or not (
            isinstance(x.shape, tuple) and isinstance(i.shape, tuple) and len(x.shape) == len(i.shape)
        ):
            return Array(
                m.unknown("the shape of elements taken", x.shape, i.shape), x.dtype, x.weak, registers.moved(m, x)
            )
        at = shapes.axis(m, axis, len(x.shape))
        if at is None:
            return Array(shapes.unknown_extents(m, len(x.shape), "an axis that is not known", axis), x.dtype, x.weak)
        rest = shapes.broadcast(m, [shapes.without(x.shape, (at,)), shapes.without(i.shape, (at,))])
        shape: Shape = (*rest[:at], i.shape[at], *rest[at:]) if isinstance(rest, tuple) else rest
        return Array(shape, x.dtype, x.weak, registers.moved(m, x))


def _taken_shape(m: Any, x: Array, i: Array, axis: Value) -> Shape:
    if axis is None:
        return i.shape
    if not (isinstance(x.shape, tuple) and isinstance(i.shape, tuple)):
        return m.unknown("the shape of elements taken", x.shape, i.shape)
    at = shapes.axis(m, axis, len(x.shape))
    if at is None:
        return m.unknown("the shape of elements taken along an unknown axis", axis)
    return (*x.shape[:at], *i.shape, *x.shape[at + 1 :])


# -- order -----------------------------------------------------------------------------------------


def _sorted(r: Registry) -> None:
    @r.function("jax.numpy.sort", "a, axis=-1, *, kind=None, order=None, stable=True, descending=False")
    def sort(m: Any, call: Call, a: Value, axis: Value, **_: Value) -> Value:
        x = as_array(m, a)
        shape: Shape = (shapes.size(m, x.shape),) if axis is None else x.shape
        return Array(shape, x.dtype, x.weak, registers.moved(m, x))

    @r.function("jax.numpy.argsort", "a, axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None")
    def argsort(m: Any, call: Call, a: Value, axis: Value, dtype: Value, **_: Value) -> Value:
        x = as_array(m, a)
        shape: Shape = (shapes.size(m, x.shape),) if axis is None else x.shape
        if dtype is not None:
            return m.unknown("argsort with another type", a, site=call.site)
        return Array(shape, INT32, layout=registers.moved(m, x))
