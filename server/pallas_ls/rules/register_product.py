"""Rules about `plgpu.mma`, the product of values in registers."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain.array import Array, Extent
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Int, Value
from ..domain.target import JaxVersion
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView, show_shape

#: Where `plgpu.mma` checks its operands as they are traced.
_TRACED = "jax/_src/pallas/mosaic_gpu/primitives.py, _mma_abstract_eval"
#: The first measured release that has `plgpu.mma`.
_SINCE = JaxVersion(0, 11, 2)
_FLOATING = ("float64", "float32", "float16")
_NAMES = ("acc", "a", "b")


def _arrays(v: CallView) -> list[Array] | None:
    found: list[Value] = [v.value(name) for name in _NAMES]
    arrays = [x for x in found if isinstance(x, Array) and isinstance(x.shape, tuple) and len(x.shape) == 2]
    return arrays if len(arrays) == len(_NAMES) else None


def shapes(v: CallView) -> Answer:
    """acc (m, n) += a (m, k) @ b (k, n)."""
    arrays = _arrays(v)
    if arrays is None:
        return Unsure("the operands' shapes are not known")
    acc, a, b = (x.shape for x in arrays)
    assert isinstance(acc, tuple)
    assert isinstance(a, tuple)
    assert isinstance(b, tuple)
    pairs = (("m", acc[0], a[0]), ("n", acc[1], b[1]), ("k", a[1], b[0]))
    wrong = [name for name, x, y in pairs if _differ(v, x, y)]
    if not wrong:
        return None
    text = (
        f"acc {show_shape(acc)} += a {show_shape(a)} @ b {show_shape(b)}: {' and '.join(wrong)} "
        f"{'differs' if len(wrong) == 1 else 'differ'}. acc is (m, n), a (m, k), b (k, n)."
    )
    jax = "Incompatible shapes for matrix multiplication: lhs=…, rhs=…, acc=…"
    return Problem(text, JaxError("ValueError", jax))


def _differ(v: CallView, a: Extent, b: Extent) -> bool:
    return isinstance(a, Int) and isinstance(b, Int) and v.decide(conds.equal(a.dim, b.dim)) is False


def types(v: CallView) -> Answer:
    """Operands of one type, and an accumulator that goes with it."""
    arrays = _arrays(v)
    names = [x.dtype.name for x in arrays or () if isinstance(x.dtype, DType)]
    if arrays is None or len(names) < len(_NAMES):
        return Unsure("the operands' element types are not known")
    acc, a, b = names
    if a != b:
        text = f"a is {a}, b is {b}: one product multiplies one type. Cast one of them: .astype(...)."
        return Problem(text, JaxError("TypeError", f"Operand dtypes must match: {a} != {b}"), v.site("b"))
    kind = arrays[1].dtype
    assert isinstance(kind, DType)
    whole = kind.is_integer or a == "bool"
    allowed = ("int32",) if whole else _FLOATING if kind.family == "float" else None
    if allowed is None or acc in allowed:
        return None
    needed = "int32" if whole else "float32"
    text = f"A product of {a} is accumulated in {needed}; acc is {acc}."
    if whole:
        jax = f"Only int32 accumulator supported for integer and boolean operands. Got {acc}"
    else:
        jax = f"Only float64, float32 and float16 accumulators supported for floating operands. Got {acc}"
    return Problem(text, JaxError("NotImplementedError", jax), v.site("acc"))


RULES = (
    Rule(
        "mma-shapes",
        "The operands of plgpu.mma fit together.",
        ("mma",),
        10,
        shapes,
        _TRACED,
        "`plgpu.mma(acc, a, b)` adds the product of a, (m, k), and b, (k, n), to acc, (m, n). b is not transposed on "
        "the way: load it as (k, n), or through a view (`ref.T`).",
        since=_SINCE,
    ),
    Rule(
        "mma-types",
        "plgpu.mma multiplies one type into an accumulator that goes with it.",
        ("mma",),
        20,
        types,
        _TRACED,
        "The tensor cores multiply two operands of one type, floating ones into float32, integers into int32.",
        since=_SINCE,
    ),
)
