"""Operations element by element: how their element types follow from the operands', and the models made from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.array import Array, ElementType
from ..domain.dtype import DTYPES, DType
from ..domain.python import Call, Opaque, Value
from . import index, registers, shapes
from .convert import FLOAT32, as_array
from .promote import known_type, result_type


@dataclass(frozen=True, slots=True)
class Rule:
    """How the element type of a result follows from the operands' common type.

    Attributes:
      to: "same"; "inexact" (integers become float32); "real" (complex becomes its real type); or the name of a fixed
      type.
      refused: families that JAX refuses.
      weak: a weak operand makes a weak result.
      bool_to: what bool becomes ("bool" as it is).
    """

    to: str = "same"
    refused: str = ""
    weak: bool = True
    bool_to: str = "bool"

    def apply(self, m: Any, d: ElementType, weak: bool) -> tuple[ElementType, bool]:
        """The result's type and whether it is weak."""
        if self.to in DTYPES:
            return DTYPES[self.to], False
        d = known_type(m, d)
        if isinstance(d, DType):
            return self._known(m, d, weak)
        keeps = isinstance(d, Opaque) and self.to == "same" and (self.bool_to == "bool" or "bool" in self.refused)
        return (d, False) if keeps else (m.unknown("the element type of a result whose operand is not known", d), False)

    def _known(self, m: Any, d: DType, weak: bool) -> tuple[ElementType, bool]:
        if d.family in self.refused.split():
            return m.unknown(f"an operation without a rule for {d.name}"), False
        if d.family == "bool":
            d = DTYPES[self.bool_to]
        if self.to == "inexact" and d.family not in ("float", "complex"):
            d = FLOAT32
        if d.family == "complex" and self.to == "real":
            return FLOAT32, False
        return d, weak and self.weak and d.family != "bool"


SAME = Rule()
NUMBER = Rule(refused="bool")
NOT_COMPLEX = Rule(refused="complex")
COUNTED = Rule(bool_to="int32")
COUNTED_REAL = Rule(bool_to="int32", refused="complex")
INEXACT = Rule("inexact")
INEXACT_STRONG = Rule("inexact", weak=False)
REAL_INEXACT = Rule("inexact", refused="complex")
REAL_INEXACT_STRONG = Rule("inexact", refused="complex", weak=False)
REAL = Rule("real")
BITS = Rule(refused="float complex")
SHIFTED = Rule(refused="float complex", bool_to="int32")
TRUTH = Rule("bool")
FLOATING = Rule(refused="bool int uint complex")
FLOAT_OR_COMPLEX = Rule(refused="bool int uint")


def combine(m: Any, operands: Sequence[Array], rule: Rule) -> Array:
    """An elementwise operation on arrays, promoted and broadcast as jnp does."""
    dtype, weak = result_type(m, operands)
    return _result(m, operands, *rule.apply(m, dtype, weak))


def combine_strictly(m: Any, operands: Sequence[Array], rule: Rule) -> Array:
    """An elementwise operation of lax: the element types must be the same."""
    types = {known_type(m, a.dtype) for a in operands}
    weak = all(a.weak for a in operands)
    dtype: ElementType = (
        types.pop() if len(types) == 1 else m.unknown("an operation of lax on different element types", *types)
    )
    return _result(m, operands, *rule.apply(m, dtype, weak))


def _result(m: Any, operands: Sequence[Array], dtype: ElementType, weak: bool) -> Array:
    shape = shapes.broadcast(m, [a.shape for a in operands])
    return Array(shape, dtype, weak, registers.elementwise(m, operands, shape))


# -- models ----------------------------------------------------------------------------------------

Combine = Callable[[Any, Sequence[Array], Rule], Array]


def unary_model(rule: Rule, run: Combine = combine) -> Callable[..., Value]:
    """A model of a function of one array."""

    def model(m: Any, call: Call, x: Value, **options: Value) -> Value:
        return run(m, [as_array(m, x)], rule)

    return model


def binary_model(name: str, rule: Rule, run: Combine = combine) -> Callable[..., Value]:
    """A model of a function of two arrays; scalars that stand for known integers keep them."""

    def model(m: Any, call: Call, x: Value, y: Value, **options: Value) -> Value:
        return binary(m, name, x, y, rule, run)

    return model


def binary(m: Any, name: str, x: Value, y: Value, rule: Rule, run: Combine = combine) -> Array:
    """The operation `name` ("add", "lax.rem", ...) on two values."""
    a, b = as_array(m, x), as_array(m, y)
    out = run(m, [a, b], rule)
    return index.with_index(out, index.of_binary(m, name, a, b)) if out.shape == () else out
