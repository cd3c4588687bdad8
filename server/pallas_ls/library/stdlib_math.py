"""`math`: exact on constants; products, ceilings and floors of symbolic integers as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..domain.python import Call, Int, NotConstant, Ratio, Value
from .builtin import pure
from .operate import binary, contents, plain, some_float, whole, wrapped
from .registry import Registry

_CONSTANTS = ("pi", "e", "tau", "inf", "nan")
#: Functions whose result is a float, whatever the arguments.
_FLOAT = [
    "sqrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "erf",
    "erfc",
    "gamma",
    "lgamma",
    "pow",
    "fabs",
    "fmod",
    "hypot",
    "copysign",
    "degrees",
    "radians",
    "ldexp",
    "cbrt",
    "fsum",
]
#: Functions whose result is an integer or a truth value: computed on constants only.
_OTHER = ("gcd", "lcm", "isqrt", "comb", "perm", "factorial", "isfinite", "isinf", "isnan", "isclose")
_ROUNDING = ("ceil", "floor", "trunc")


def register(r: Registry) -> None:
    """Registers `math`."""
    for name in _CONSTANTS:
        r.value(f"math.{name}", getattr(math, name))
    for name in _FLOAT:
        r.raw(f"math.{name}")(_float_function(name, getattr(math, name)))
    for name in _OTHER:
        r.raw(f"math.{name}")(_constant_function(getattr(math, name)))
    for name in _ROUNDING:
        r.function(f"math.{name}", "x")(_rounding(getattr(math, name)))

    @r.function("math.prod", "iterable, *, start=1")
    def prod(m: Any, call: Call, iterable: Value, start: Value) -> Value:
        return m.lift(lambda items: _prod(m, items, start, call), contents(m, iterable))


def _prod(m: Any, items: Value, start: Value, call: Call) -> Value:
    if type(items) is not tuple:
        return m.unknown("the product of an unknown iterable", items, site=call.site)
    out = start
    for x in items:
        out = m.lift(lambda a, b: binary(m, "*", a, b, call.site), out, x)
    return out


def _float_function(name: str, run: Callable[..., Any]) -> Callable[..., Value]:
    def model(m: Any, call: Call) -> Value:
        return m.lift(lambda *args: _float_of(m, name, run, args, call), *call.args)

    return model


def _float_of(m: Any, name: str, run: Callable[..., Any], args: tuple[Value, ...], call: Call) -> Value:
    if call.kwargs or call.open:
        return m.unknown(f"math.{name} of values that are not known", *args, site=call.site)
    try:
        return wrapped(run(*(plain(a) for a in args)))
    except NotConstant:
        return some_float(m, name, *args)
    except (TypeError, ValueError, OverflowError) as e:
        return m.unknown(f"math.{name} raises {type(e).__name__}", *args, site=call.site)


def _constant_function(run: Callable[..., Any]) -> Callable[..., Value]:
    def model(m: Any, call: Call) -> Value:
        return m.lift(lambda *args: pure(m, run, call.site, *args, **call.kwargs), *call.args)

    return model


def _rounding(run: Callable[..., Any]) -> Callable[..., Value]:
    def model(m: Any, call: Call, x: Value) -> Value:
        if isinstance(x, Ratio):
            return whole(m, x, run.__name__, call.site)
        return x if isinstance(x, Int) else pure(m, run, call.site, x)

    return model
