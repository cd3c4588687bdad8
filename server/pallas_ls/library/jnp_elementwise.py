"""The elementwise functions of jax.numpy, and the operators on arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.python import Call, Int, Value
from . import elementwise as e
from .convert import as_array
from .elementwise import Rule
from .registry import Registry

#: Functions of one array, by how the result's type follows. Measured on JAX; tests/library/test_operations.py compares.
UNARY: tuple[tuple[Rule, str], ...] = (
    (e.REAL, "abs absolute real imag"),
    (e.REAL_INEXACT, "fabs cbrt i0"),
    (e.NUMBER, "negative sign"),
    (e.SAME, "positive conj conjugate copy"),
    (e.COUNTED, "square"),
    (e.NOT_COMPLEX, "floor ceil trunc"),
    (e.BITS, "invert bitwise_not bitwise_invert"),
    (e.TRUTH, "logical_not isinf isnan isfinite"),
    (Rule("bool", refused="complex"), "isposinf isneginf signbit"),
    (
        e.INEXACT,
        "exp exp2 expm1 log log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
        "asin acos atan asinh acosh atanh reciprocal",
    ),
    (e.INEXACT_STRONG, "log10"),
)

#: Functions of two arrays.
BINARY: tuple[tuple[Rule, str], ...] = (
    (e.SAME, "add multiply maximum minimum fmax fmin"),
    (e.NUMBER, "subtract"),
    (e.INEXACT, "divide true_divide float_power arctan2 atan2 logaddexp"),
    (e.COUNTED_REAL, "floor_divide remainder mod fmod"),
    (e.REAL_INEXACT, "nextafter copysign"),
    (e.BITS, "bitwise_and bitwise_or bitwise_xor"),
    (e.SHIFTED, "left_shift right_shift bitwise_left_shift bitwise_right_shift"),
    (e.TRUTH, "logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal"),
)

#: The function behind each operator.
OPERATORS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "floor_divide",
    "%": "remainder",
    "**": "power",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "left_shift",
    ">>": "right_shift",
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
    "@": "matmul",
}
_UNARY_OPERATORS = {"-": "negative", "+": "positive", "~": "invert"}
_CANONICAL = {"mod": "remainder"}


def register(r: Registry) -> None:
    """Registers the tables and the operators."""
    for rule, names in UNARY:
        for name in names.split():
            r.function(f"jax.numpy.{name}", "x")(e.unary_model(rule))
    for rule, names in BINARY:
        for name in names.split():
            r.function(f"jax.numpy.{name}", "x, y")(e.binary_model(_CANONICAL.get(name, name), rule))
    _special(r)
    _operators(r)


def _special(r: Registry) -> None:
    @r.function("jax.numpy.round jax.numpy.around", "a, decimals=0, out=None")
    def round_(m: Any, call: Call, a: Value, decimals: Value, out: Value) -> Value:
        return e.combine(m, [as_array(m, a)], e.NUMBER)

    @r.function("jax.numpy.power jax.numpy.pow", "x1, x2")
    def power(m: Any, call: Call, x1: Value, x2: Value) -> Value:
        return _power(m, x1, x2)

    @r.function("jax.numpy.hypot", "x1, x2")
    def hypot(m: Any, call: Call, x1: Value, x2: Value) -> Value:
        return _where_strong(m, e.combine(m, [as_array(m, x1), as_array(m, x2)], e.REAL_INEXACT))

    @r.function("jax.numpy.log2", "x")
    def log2(m: Any, call: Call, x: Value) -> Value:
        return _where_strong(m, e.combine(m, [as_array(m, x)], e.INEXACT))

    @r.function("jax.numpy.isclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False")
    def isclose(m: Any, call: Call, a: Value, b: Value, **_: Value) -> Value:
        return e.combine(m, [as_array(m, a), as_array(m, b)], e.TRUTH)

    @r.function("jax.numpy.allclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False")
    def allclose(m: Any, call: Call, a: Value, b: Value, **_: Value) -> Value:
        return Array((), e.TRUTH.apply(m, as_array(m, a).dtype, False)[0])


def _where_strong(m: Any, out: Array) -> Array:
    """Whether weak operands give a weak result differs here between releases of JAX."""
    return replace(out, dtype=m.unknown("a type that is weak in some releases of JAX")) if out.weak else out


def _power(m: Any, x: Value, y: Value) -> Array:
    """A literal integer exponent keeps the base's type; otherwise both are promoted. Two weak integers make a strong
    one, and so does a weak base with a strong integer as exponent."""
    a, b = as_array(m, x), as_array(m, y)
    if isinstance(y, Int):
        return e.combine(m, [a], e.COUNTED)
    out = e.combine(m, [a, b], e.COUNTED)
    whole = [isinstance(v.dtype, DType) and (v.dtype.is_integer or v.dtype.family == "bool") for v in (a, b)]
    strong = isinstance(b.dtype, DType) and b.dtype.is_integer and not b.weak
    return replace(out, weak=False) if all(whole) or strong else out


def _operators(r: Registry) -> None:
    @r.raw("operator.binary operator.compare")
    def binary(m: Any, call: Call) -> Value:
        op, a, b = call.args
        target = r.names[f"jax.numpy.{OPERATORS[op]}"] if op in OPERATORS else None
        return (
            target.run(m, Call(call.site, (a, b), {}))
            if target
            else m.unknown(f"operator {op} on arrays", a, b, site=call.site)
        )

    @r.raw("operator.unary")
    def unary(m: Any, call: Call) -> Value:
        op, a = call.args
        return r.names[f"jax.numpy.{_UNARY_OPERATORS[op]}"].run(m, Call(call.site, (a,), {}))
