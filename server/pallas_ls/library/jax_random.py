"""`jax.random`: shapes and types of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..domain.array import Array, ElementType
from ..domain.dtype import DTYPES, DType
from ..domain.python import Call, Int, Value
from . import shapes
from .convert import BOOL, FLOAT32, INT32, as_array, as_jax_dtype, as_shape
from .registry import Registry

#: The type of `jax.random.key(seed)`.
KEY = DType("key<fry>", 64, "key")
_UINT32 = DTYPES["uint32"]

#: Samplers by the parameters before and after the shape, and their default type.
_SAMPLERS: tuple[tuple[str, str, ElementType], ...] = (
    ("normal", "key, shape=(), dtype=None", FLOAT32),
    ("uniform", "key, shape=(), dtype=None, minval=0.0, maxval=1.0", FLOAT32),
    ("randint", "key, shape, minval, maxval, dtype=None", INT32),
    ("bits", "key, shape=(), dtype=None", _UINT32),
    ("exponential", "key, shape=(), dtype=None", FLOAT32),
    ("laplace", "key, shape=(), dtype=None", FLOAT32),
    ("gumbel", "key, shape=(), dtype=None", FLOAT32),
    ("cauchy", "key, shape=(), dtype=None", FLOAT32),
    ("logistic", "key, shape=(), dtype=None", FLOAT32),
    ("rademacher", "key, shape=(), dtype=None", INT32),
)


def register(r: Registry) -> None:
    """Registers jax.random."""
    for name, parameters, default in _SAMPLERS:
        r.function(f"jax.random.{name}", f"{parameters}, *, out_sharding=None, mode=None")(_sampler(default))
    _keys(r)
    _shaped(r)


def _sampler(default: ElementType) -> Callable[..., Value]:
    def model(m: Any, call: Call, shape: Value, dtype: Value, **_: Value) -> Value:
        return Array(as_shape(m, shape), as_jax_dtype(m, dtype, default))

    return model


def _keys(r: Registry) -> None:
    @r.function("jax.random.key", "seed, *, impl=None, dtype=None")
    def key(m: Any, call: Call, seed: Value, **_: Value) -> Value:
        return Array(as_array(m, seed).shape, KEY)

    @r.function("jax.random.PRNGKey", "seed, *, impl=None")
    def prng_key(m: Any, call: Call, seed: Value, impl: Value) -> Value:
        if impl is not None:
            return m.unknown("a key of another implementation", seed, site=call.site)
        shape = as_array(m, seed).shape
        return Array((*shape, Int(2)) if isinstance(shape, tuple) else shape, _UINT32)

    @r.function("jax.random.split", "key, num=2")
    def split(m: Any, call: Call, key: Value, num: Value) -> Value:
        a = as_array(m, key)
        return Array(shapes.joined(m, "the shape of split keys", as_shape(m, num), a.shape), a.dtype)

    @r.function("jax.random.fold_in", "key, data")
    def fold_in(m: Any, call: Call, key: Value, data: Value) -> Value:
        a = as_array(m, key)
        return Array(a.shape, a.dtype)


def _shaped(r: Registry) -> None:
    @r.function("jax.random.bernoulli", "key, p=0.5, shape=None, mode='low', *, out_sharding=None")
    def bernoulli(m: Any, call: Call, key: Value, p: Value, shape: Value, **_: Value) -> Value:
        return Array(as_array(m, p).shape if shape is None else as_shape(m, shape), BOOL)

    @r.function("jax.random.truncated_normal", "key, lower, upper, shape=None, dtype=None, *, out_sharding=None")
    def truncated_normal(
        m: Any, call: Call, key: Value, lower: Value, upper: Value, shape: Value, dtype: Value, **_: Value
    ) -> Value:
        if shape is None:
            return m.unknown("samples in the shape of their bounds", lower, upper, site=call.site)
        return Array(as_shape(m, shape), as_jax_dtype(m, dtype, FLOAT32))

    @r.function("jax.random.permutation", "key, x, axis=0, independent=False, *, out_sharding=None")
    def permutation(m: Any, call: Call, key: Value, x: Value, **_: Value) -> Value:
        if isinstance(x, Int):
            return Array((x,), INT32)
        a = as_array(m, x)
        return Array(a.shape, a.dtype, a.weak)
