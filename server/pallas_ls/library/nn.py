"""`jax.nn`: activations and what they share with jax.scipy.special."""

from __future__ import annotations

from typing import Any

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.python import Call, Int, Value
from . import allocations, jnp_reduce, registers, shapes
from . import elementwise as e
from .convert import FLOAT32, as_array, as_extent, as_jax_dtype
from .elementwise import Rule
from .registry import Registry

#: Activations by how the result's type follows. Measured on JAX; tests/library/test_operations.py compares. Truth
#: values
#: and some integers are left out: their results are weak in ways of their own.
ACTIVATIONS: tuple[tuple[Rule, str], ...] = (
    (e.FLOAT_OR_COMPLEX, "sigmoid silu swish"),
    (e.SAME, "identity"),
    (e.INEXACT_STRONG, "gelu"),
    (Rule(refused="bool int uint"), "relu6 hard_sigmoid hard_silu hard_swish elu celu selu leaky_relu"),
    (Rule("inexact", refused="bool"), "softplus soft_sign mish squareplus log_sigmoid"),
    (Rule("inexact", weak=False, refused="bool"), "softmax log_softmax"),
)
_OPTIONS = {
    "gelu": ", approximate=True",
    "softmax": ", axis=-1, where=None",
    "log_softmax": ", axis=-1, where=None",
    "leaky_relu": ", negative_slope=0.01",
    "elu": ", alpha=1.0",
    "celu": ", alpha=1.0",
    "squareplus": ", b=4.0",
}


def register(r: Registry) -> None:
    """Registers jax.nn."""
    for rule, names in ACTIVATIONS:
        for name in names.split():
            r.function(f"jax.nn.{name}", "x" + _OPTIONS.get(name, ""))(e.unary_model(rule))

    @r.function("jax.nn.relu", "x")
    def relu(m: Any, call: Call, x: Value) -> Value:
        return e.combine(m, [as_array(m, x)], e.NUMBER)

    @r.function("jax.nn.one_hot", "x, num_classes, *, dtype=None, axis=-1, out_sharding=None")
    def one_hot(m: Any, call: Call, x: Value, num_classes: Value, dtype: Value, axis: Value, **_: Value) -> Value:
        a = as_array(m, x)
        if axis != Int(-1):
            return m.unknown("one_hot along another axis", x, axis, site=call.site)
        shape = shapes.joined(m, "the shape of one_hot", a.shape, (as_extent(m, num_classes),))
        return Array(shape, as_jax_dtype(m, dtype, FLOAT32), layout=registers.moved(m, a))

    @r.function(
        "jax.nn.logsumexp jax.scipy.special.logsumexp",
        "a, axis=None, b=None, keepdims=False, return_sign=False, where=None",
    )
    def logsumexp(
        m: Any, call: Call, a: Value, axis: Value, b: Value, keepdims: Value, return_sign: Value, where: Value
    ) -> Value:
        x = as_array(m, a)
        if b is not None or return_sign is not False or not isinstance(x.dtype, DType):
            return m.unknown("logsumexp of values that are not known", a, b, site=call.site)
        allocations.note_reduction(m, call.site, "sum", x, axis)
        return jnp_reduce.reduced(m, x, axis, keepdims, jnp_reduce.mean_type(m, x.dtype))
