"""Scalars whose integer value is known: offsets and slots computed from program indices keep their value as a Dim.

Only where JAX's arithmetic on 32-bit integers and Python's agree, overflow aside: `lax.rem` and `lax.div` truncate,
so they are kept for
operands that are known not to be negative; unsigned and narrow types are not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.dim import Dim
from ..domain.dtype import DType
from ..domain.python import Int

_ANY_SIGN: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": dims.add,
    "subtract": dims.sub,
    "multiply": dims.mul,
    "floor_divide": dims.floordiv,
    "remainder": dims.mod,
    "minimum": dims.minimum,
    "maximum": dims.maximum,
}
_NOT_NEGATIVE: dict[str, Callable[[Dim, Dim], Dim]] = {"lax.rem": dims.mod, "lax.div": dims.floordiv}
_POSITIVE_DIVISOR = ("floor_divide", "remainder", "lax.rem", "lax.div")


def of_binary(m: Any, name: str, a: Array, b: Array) -> Int | None:
    """The integer that `a op b` stands for, where both are known."""
    x, y = known_index(a), known_index(b)
    if x is None or y is None:
        return None
    run = _ANY_SIGN.get(name) or _NOT_NEGATIVE.get(name)
    if run is None or (name in _NOT_NEGATIVE and not at_least(m, x.dim, 0)):
        return None
    if name in _POSITIVE_DIVISOR and not at_least(m, y.dim, 1):
        return None
    return Int(m.simplify(run(x.dim, y.dim)))


def known_index(a: Array) -> Int | None:
    """The integer that a signed scalar of 32 bits stands for."""
    fits = isinstance(a.dtype, DType) and a.dtype.name == "int32"
    return a.index if fits and a.shape == () else None


def at_least(m: Any, d: Dim, low: int) -> bool:
    """Whether `d >= low` always."""
    return m.decide(conds.at_most(low, d)) is True


def with_index(a: Array, index: Int | None) -> Array:
    """The array with the integer that it stands for, where its type can hold it."""
    fits = isinstance(a.dtype, DType) and a.dtype.name == "int32"
    return replace(a, index=index) if index is not None and fits else a
