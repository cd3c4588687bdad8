"""What JAX can prove of a computed start: that it is a multiple, by the operations that made it.

Mirrors `is_known_divisible` of jax/experimental/mosaic/gpu/utils.py: a product is a multiple where one of its factors
is, a sum where both sides are; division and what is loaded from memory prove nothing.
"""

from __future__ import annotations

from ...domain.array import Array, Operation
from ...domain.python import Int, Value
from ..view import CallView

#: What each operation is called without its module.
_SUMS = frozenset(("add", "subtract", "sub", "minimum", "maximum", "min", "max"))
_QUOTIENTS = frozenset(("floor_divide", "div", "right_shift", "shift_right_logical", "shift_right_arithmetic"))
_LOADS = frozenset(("ref.get", "load"))
_DEPTH = 10


def proves_nothing(v: CallView, x: Value, depth: int = _DEPTH) -> bool:
    """Whether JAX certainly cannot prove that a number is a multiple of anything but 1."""
    if isinstance(x, Int):
        return v.exact(x) in (1, -1)
    if not isinstance(x, Array) or x.shape != () or x.by is None:
        return False
    return depth > 0 and _of_operation(v, x, x.by, depth - 1)


def _of_operation(v: CallView, x: Array, by: Operation, depth: int) -> bool:
    name = by.name.rpartition(".")[2] if by.name.startswith(("jax.numpy.", "jax.lax.")) else by.name
    if name == "lax.axis_index":
        return _varies(v, x)
    if name in _LOADS or name in _QUOTIENTS:
        return True
    sides = [by.operands.get("x"), by.operands.get("y")]
    if name in _SUMS:
        return any(proves_nothing(v, s, depth) for s in sides)
    if name in ("multiply", "mul"):
        return all(proves_nothing(v, s, depth) for s in sides)
    return False


def _varies(v: CallView, x: Array) -> bool:
    """Whether an index has more than one value."""
    if x.index is None:
        return False
    low, high = v.fact.facts.span(x.index.dim)
    return low is not None and (high is None or high > low)
