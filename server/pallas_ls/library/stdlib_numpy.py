"""NumPy on the host: element types, shapes of arrays, products of shapes.

NumPy's default types have 64 bits, and JAX narrows them when such an array reaches it: an element type is claimed
only where the program
names one of at most 32 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..domain.array import Array, ElementType
from ..domain.dtype import DTYPES, DType
from ..domain.python import Call, Int, ListCell, Value
from . import jnp_create
from .builtin import pure
from .convert import as_array, as_jax_dtype, as_shape
from .operate import binary, contents
from .registry import Registry

_SCALARS = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def register(r: Registry) -> None:
    """Registers numpy."""
    for name in _SCALARS:
        r.value(f"numpy.{name}", DTYPES[name])
    r.value("numpy.bool_", DTYPES["bool"])
    for name, value in (
        ("pi", 3.141592653589793),
        ("e", 2.718281828459045),
        ("inf", float("inf")),
        ("nan", float("nan")),
        ("newaxis", None),
    ):
        r.value(f"numpy.{name}", value)
        r.value(f"jax.numpy.{name}", value)
    _types(r)
    _arrays(r)
    _sizes(r)


def _types(r: Registry) -> None:
    for name in ("dtype", "finfo", "iinfo", "issubdtype"):
        r.raw(f"numpy.{name}")(_same_as(r, f"jax.numpy.{name}"))


def _same_as(r: Registry, name: str) -> Callable[..., Value]:
    """The function of jax.numpy, looked up when it is called: it is registered later."""

    def model(m: Any, call: Call) -> Value:
        return r.names[name].run(m, call)

    return model


def _named_type(m: Any, dtype: Value) -> ElementType:
    """The type that the program names; NumPy's defaults are not claimed."""
    default = m.unknown("a default type of NumPy, which JAX may narrow")
    return as_jax_dtype(m, dtype, default) if isinstance(dtype, (DType, str)) else default


def _arrays(r: Registry) -> None:
    @r.function("numpy.zeros numpy.ones numpy.empty", "shape, dtype=None, order='C'")
    def zeros(m: Any, call: Call, shape: Value, dtype: Value, order: Value) -> Value:
        return Array(as_shape(m, shape), _named_type(m, dtype))

    @r.function("numpy.full", "shape, fill_value, dtype=None, order='C'")
    def full(m: Any, call: Call, shape: Value, fill_value: Value, dtype: Value, order: Value) -> Value:
        return Array(as_shape(m, shape), _named_type(m, dtype))

    @r.function("numpy.zeros_like numpy.ones_like numpy.empty_like", "a, dtype=None")
    def zeros_like(m: Any, call: Call, a: Value, dtype: Value) -> Value:
        x = as_array(m, a)
        return Array(x.shape, x.dtype if dtype is None and isinstance(a, Array) else _named_type(m, dtype))

    @r.raw("numpy.arange")
    def arange(m: Any, call: Call) -> Value:
        out = r.names["jax.numpy.arange"].run(m, call)
        return Array(out.shape, _named_type(m, call.kwargs.get("dtype"))) if isinstance(out, Array) else out

    @r.function("numpy.array numpy.asarray", "object, dtype=None, *, copy=None, order='K', ndmin=0")
    def array(m: Any, call: Call, object: Value, dtype: Value, **_: Value) -> Value:
        a = jnp_create.converted(m, object, None)
        keeps = dtype is None and isinstance(object, Array)
        return Array(a.shape, a.dtype if keeps else _named_type(m, dtype))


def _sizes(r: Registry) -> None:
    @r.function("numpy.prod", "a")
    def prod(m: Any, call: Call, a: Value) -> Value:
        return m.lift(
            lambda items: _prod(m, items, call), m.unknown("an array", a) if isinstance(a, Array) else contents(m, a)
        )

    @r.function("numpy.ceil numpy.floor", "x")
    def ceil(m: Any, call: Call, x: Value) -> Value:
        return m.unknown("a rounded number", x, site=call.site)

    for name in ("gcd", "lcm"):
        r.function(f"numpy.{name}", "a, b")(_of_constants(name))

    @r.raw("numpy.testing.assert_allclose numpy.testing.assert_array_equal numpy.set_printoptions numpy.random.seed")
    def nothing(m: Any, call: Call) -> Value:
        return None


def _of_constants(name: str) -> Callable[..., Value]:
    return lambda m, call, a, b: pure(m, getattr(math, name), call.site, a, b)


def _prod(m: Any, items: Value, call: Call) -> Value:
    """The product of a shape: an integer."""
    if type(items) is not tuple or any(isinstance(x, (Array, ListCell, float)) for x in items):
        return m.unknown("a product of values that are not known", items, site=call.site)
    out: Value = Int(1)
    for x in items:
        out = m.lift(lambda a, b: binary(m, "*", a, b, call.site), out, x)
    return out
