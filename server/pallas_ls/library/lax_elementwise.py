"""The elementwise operations of jax.lax: no promotion, the element types must agree."""

from __future__ import annotations

from typing import Any

from ..domain.array import Array
from ..domain.python import Call, Value
from . import elementwise as e
from . import index, registers
from .convert import as_array, as_jax_dtype
from .elementwise import Rule
from .registry import Registry

#: Operations of one array, by how the result's type follows. Measured on JAX; tests/library/test_operations.py
#: compares.
UNARY: tuple[tuple[Rule, str], ...] = (
    (Rule("real", refused="bool uint"), "abs"),
    (e.NUMBER, "neg sign square"),
    (e.FLOATING, "floor ceil cbrt erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e"),
    (
        e.FLOAT_OR_COMPLEX,
        "exp exp2 expm1 log log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
        "logistic reciprocal",
    ),
    (Rule("bool", refused="bool int uint complex"), "is_finite"),
    (e.BITS, "bitwise_not"),
    (Rule(refused="bool float complex"), "population_count clz"),
    (Rule("real", refused="bool int uint float"), "real imag"),
)

#: Operations of two arrays.
BINARY: tuple[tuple[Rule, str], ...] = (
    (e.NUMBER, "add sub mul div"),
    (Rule(refused="bool complex"), "rem"),
    (e.SAME, "max min"),
    (e.FLOAT_OR_COMPLEX, "atan2"),
    (e.FLOATING, "nextafter"),
    (e.BITS, "bitwise_and bitwise_or bitwise_xor"),
    (Rule(refused="bool float complex"), "shift_left shift_right_arithmetic shift_right_logical"),
    (e.TRUTH, "eq ne"),
    (Rule("bool", refused="complex"), "lt le gt ge"),
)
#: Names under which the integers of scalars are tracked.
_INDEX_NAMES = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "max": "maximum",
    "min": "minimum",
    "rem": "lax.rem",
    "div": "lax.div",
}


def register(r: Registry) -> None:
    """Registers the tables and what does not fit them."""
    for rule, names in UNARY:
        for name in names.split():
            r.function(f"jax.lax.{name}", "x, *, accuracy=None")(e.unary_model(rule, e.combine_strictly))
    for rule, names in BINARY:
        for name in names.split():
            r.function(f"jax.lax.{name}", "x, y")(
                e.binary_model(_INDEX_NAMES.get(name, name), rule, e.combine_strictly)
            )
    _special(r)


def _special(r: Registry) -> None:
    @r.function("jax.lax.round", "x, rounding_method=None")
    def round_(m: Any, call: Call, x: Value, rounding_method: Value) -> Value:
        return e.combine_strictly(m, [as_array(m, x)], e.FLOATING)

    @r.function("jax.lax.integer_pow", "x, y")
    def integer_pow(m: Any, call: Call, x: Value, y: Value) -> Value:
        return e.combine_strictly(m, [as_array(m, x)], e.NUMBER)

    @r.function("jax.lax.pow", "x, y")
    def pow_(m: Any, call: Call, x: Value, y: Value) -> Value:
        a, b = as_array(m, x), as_array(m, y)
        return e.combine_strictly(m, [a, Array(b.shape, a.dtype, b.weak, b.layout)], e.FLOAT_OR_COMPLEX)

    @r.function("jax.lax.clamp", "min, x, max")
    def clamp(m: Any, call: Call, min: Value, x: Value, max: Value) -> Value:
        a = e.combine_strictly(m, [as_array(m, x)], e.NOT_COMPLEX)
        return Array(
            as_array(m, x).shape, a.dtype, a.weak and as_array(m, min).weak and as_array(m, max).weak, a.layout
        )

    @r.function("jax.lax.reduce_precision", "operand, exponent_bits, mantissa_bits")
    def reduce_precision(m: Any, call: Call, operand: Value, exponent_bits: Value, mantissa_bits: Value) -> Value:
        return e.combine_strictly(m, [as_array(m, operand)], e.FLOATING)

    @r.function("jax.lax.select", "pred, on_true, on_false")
    def select(m: Any, call: Call, pred: Value, on_true: Value, on_false: Value) -> Value:
        return selected(m, pred, on_true, on_false)

    @r.function("jax.lax.select_n", "which, *cases")
    def select_n(m: Any, call: Call, which: Value, cases: Value) -> Value:
        if type(cases) is not tuple or not cases:
            return m.unknown("a selection among cases that are not known", cases)
        return selected(m, which, *cases)

    @r.function("jax.lax.convert_element_type", "operand, new_dtype")
    def convert_element_type(m: Any, call: Call, operand: Value, new_dtype: Value) -> Value:
        a = as_array(m, operand)
        out = Array(a.shape, as_jax_dtype(m, new_dtype, a.dtype), False, a.layout)
        return index.with_index(out, a.index)


def selected(m: Any, which: Value, *cases: Value) -> Array:
    """lax.select, lax.select_n: the cases have one shape and type; what selects has that shape or none."""
    chosen = [as_array(m, v) for v in cases]
    out = e.combine_strictly(m, chosen, e.SAME)
    return Array(out.shape, out.dtype, out.weak, registers.elementwise(m, [as_array(m, which), *chosen], out.shape))
