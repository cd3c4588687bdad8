"""Reductions and scans of jax.numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..domain.array import Array, ElementType, Shape
from ..domain.dtype import DTYPES, DType
from ..domain.python import Call, Int, Value
from . import allocations, registers, shapes
from .convert import BOOL, FLOAT32, INT32, as_array, as_axes, as_jax_dtype
from .promote import known_type
from .registry import Registry

TypeRule = Callable[[Any, ElementType], ElementType]


def register(r: Registry) -> None:
    """Registers reductions, index reductions and scans."""
    _reductions(r)
    _positions(r)
    _scans(r)


# -- element types ---------------------------------------------------------------------------------


def same_type(m: Any, d: ElementType) -> ElementType:
    """The operand's type: max, min."""
    return d


def summed_type(m: Any, d: ElementType) -> ElementType:
    """sum, prod: bool and narrow integers become 32 bits wide."""
    known = known_type(m, d)
    if not isinstance(known, DType):
        return m.unknown("the element type of a sum of a type that is not known", d)
    if known.family in ("bool", "int"):
        return INT32 if known.bits <= 32 else known
    return DTYPES["uint32"] if known.family == "uint" and known.bits <= 32 else known


def counted_type(m: Any, d: ElementType) -> ElementType:
    """cumsum: bool counts."""
    known = known_type(m, d)
    return INT32 if known == BOOL else known if isinstance(known, DType) else m.unknown("the element type of a scan", d)


def mean_type(m: Any, d: ElementType) -> ElementType:
    """mean, median: integers become float32."""
    known = known_type(m, d)
    if not isinstance(known, DType):
        return m.unknown("the element type of a mean of a type that is not known", d)
    return known if known.family in ("float", "complex") else FLOAT32


def real_mean_type(m: Any, d: ElementType) -> ElementType:
    """var, std: as the mean, and real."""
    found = mean_type(m, d)
    return FLOAT32 if isinstance(found, DType) and found.family == "complex" else found


def truth_type(m: Any, d: ElementType) -> ElementType:
    """any, all."""
    return BOOL


def position_type(m: Any, d: ElementType) -> ElementType:
    """argmax, count_nonzero."""
    return INT32


# -- shapes ----------------------------------------------------------------------------------------


def reduced(m: Any, a: Array, axis: Value, keepdims: Value, dtype: ElementType) -> Array:
    """`a` reduced over `axis` (None: all)."""
    keep = keepdims is True
    if not isinstance(a.shape, tuple) or not isinstance(keepdims, bool):
        whole = axis is None and keepdims is False
        shape: Shape = () if whole else m.unknown("the shape of a reduction", a.shape, axis, keepdims)
        return Array(shape, dtype, layout=registers.reduced(m, a, None, keep))
    axes = as_axes(m, axis, len(a.shape))
    if axes is None:
        return Array(
            m.unknown("the shape of a reduction over unknown axes", axis),
            dtype,
            layout=registers.reduced(m, a, None, keep),
        )
    shape = tuple(Int(1) if i in axes else e for i, e in enumerate(a.shape)) if keep else shapes.without(a.shape, axes)
    return Array(shape, dtype, layout=registers.reduced(m, a, axes, keep))


_WITH_DTYPE: dict[str, TypeRule] = {
    "sum": summed_type,
    "prod": summed_type,
    "nansum": summed_type,
    "nanprod": summed_type,
    "mean": mean_type,
    "nanmean": mean_type,
    "var": real_mean_type,
    "std": real_mean_type,
}
_WITHOUT_DTYPE: dict[str, TypeRule] = {
    "max": same_type,
    "min": same_type,
    "amax": same_type,
    "amin": same_type,
    "nanmax": same_type,
    "nanmin": same_type,
    "ptp": same_type,
    "any": truth_type,
    "all": truth_type,
    "count_nonzero": position_type,
    "median": mean_type,
}
_PROMOTED = ("sum", "prod", "nansum", "nanprod")


def _reductions(r: Registry) -> None:
    for name, rule in _WITH_DTYPE.items():
        options = "ddof=0" if name in ("var", "std") else "initial=None, promote_integers=True"
        signature = (
            f"a, axis=None, dtype=None, out=None, keepdims=False, {options}, where=None, mean=None, correction=None"
        )
        r.function(f"jax.numpy.{name}", signature)(_with_dtype(name, rule))
    for name, rule in _WITHOUT_DTYPE.items():
        r.function(f"jax.numpy.{name}", "a, axis=None, out=None, keepdims=False, initial=None, where=None")(
            _without_dtype(name, rule)
        )


def _with_dtype(name: str, rule: TypeRule) -> Callable[..., Value]:
    def model(
        m: Any, call: Call, a: Value, axis: Value, dtype: Value, keepdims: Value, where: Value, **options: Value
    ) -> Value:
        x = as_array(m, a)
        if options.get("promote_integers", True) is not True:
            default: ElementType = x.dtype if name in _PROMOTED else rule(m, x.dtype)
        else:
            default = rule(m, x.dtype)
        allocations.note_reduction(m, call.site, name, x, axis)
        return reduced(m, x, axis, keepdims, as_jax_dtype(m, dtype, default))

    return model


def _without_dtype(name: str, rule: TypeRule) -> Callable[..., Value]:
    def model(m: Any, call: Call, a: Value, axis: Value, keepdims: Value, initial: Value, **options: Value) -> Value:
        x = as_array(m, a)
        allocations.note_reduction(m, call.site, name, x, axis)
        return reduced(m, x, axis, keepdims, rule(m, x.dtype))

    return model


def _positions(r: Registry) -> None:
    @r.function(
        "jax.numpy.argmax jax.numpy.argmin jax.numpy.nanargmax jax.numpy.nanargmin",
        "a, axis=None, out=None, keepdims=None",
    )
    def argmax(m: Any, call: Call, a: Value, axis: Value, out: Value, keepdims: Value) -> Value:
        return reduced(
            m, as_array(m, a), axis, keepdims is True if keepdims in (None, True, False) else keepdims, INT32
        )


# -- scans -----------------------------------------------------------------------------------------


def _scans(r: Registry) -> None:
    @r.function("jax.numpy.cumsum jax.numpy.cumprod", "a, axis=None, dtype=None, out=None")
    def cumsum(m: Any, call: Call, a: Value, axis: Value, dtype: Value, out: Value) -> Value:
        x = as_array(m, a)
        shape: Shape = (shapes.size(m, x.shape),) if axis is None else x.shape
        return Array(shape, as_jax_dtype(m, dtype, counted_type(m, x.dtype)), layout=registers.moved(m, x))

    @r.function("jax.numpy.average", "a, axis=None, weights=None, returned=False, keepdims=False")
    def average(m: Any, call: Call, a: Value, axis: Value, weights: Value, returned: Value, keepdims: Value) -> Value:
        x = as_array(m, a)
        if weights is not None or returned is not False:
            return m.unknown("a weighted average", a, weights, site=call.site)
        return reduced(m, x, axis, keepdims, mean_type(m, x.dtype))
