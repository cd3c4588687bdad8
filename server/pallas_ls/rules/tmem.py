"""Rules about the constructors of buffers: `plgpu.TMEM`, and what only it takes."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import element_bits
from ..domain.dim import Dim
from ..domain.finding import JaxError
from ..domain.python import Int, Value
from ..domain.ref import RefType
from .mesh import CORE
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView, show_array

_CALL = f"{CORE}, MemorySpace.__call__"
_INFER = "jax/experimental/mosaic/gpu/tcgen05.py, _infer_tmem_layout"
LANES, HALF, HALF_STEP = 128, 64, 16
WORD = 32


def only_tmem(v: CallView) -> Answer:
    """`packed=`, `collective=` or `layout=` for another memory."""
    given = [n for n in ("packed", "collective", "layout") if n in v.fact.arg_sites and v.value(n) is not None]
    if not given:
        return None
    text = (
        f"{given[0]}= describes tensor memory; {v.fact.api} has none of it. Leave it away, or allocate with plgpu.TMEM."
    )
    jax = JaxError("ValueError", "packed, collective and layout arguments are only supported for TMEM.")
    if v.value(given[0]) not in (True, False) and given[0] != "layout":
        return Unsure(f"{given[0]} may be None")
    return Problem(text, jax, v.site(given[0]))


def transforms(v: CallView) -> Answer:
    """Transforms of tensor memory."""
    t = v.fact.result
    if not isinstance(t, RefType) or not isinstance(t.transforms, tuple):
        return Unsure("the transforms are not known")
    if not t.transforms:
        return None
    text = "Tensor memory is neither tiled nor swizzled: leave transforms= away."
    return Problem(text, JaxError("ValueError", "transforms are not supported for TMEM"), v.site("transforms"))


def packing_named(v: CallView) -> Answer:
    """A narrow type without `packed=`; or `packed=` beside `layout=`."""
    layout, packed = v.value("layout"), v.value("packed")
    if layout is not None:
        return _both(v, packed)
    bits = _bits(v)
    if packed is not None:
        return None
    if bits is None:
        return Unsure("the element type is not known")
    if bits == WORD:
        return None
    text = (
        f"A column of tensor memory is 32 bits wide, {_dtype(v)} {bits}: say whether {WORD // bits or 1} values share "
        "one. packed=True for operands of tcgen05_mma, packed=False for accumulators."
    )
    jax = "dtypes narrower than 32-bit require either the packed argument or an explicit TMEM layout"
    return Problem(text, JaxError("ValueError", jax), v.site("dtype"))


def _both(v: CallView, packed: Value) -> Answer:
    if packed is None:
        return None
    if packed not in (True, False):
        return Unsure("packed may be None")
    jax = JaxError("ValueError", "packed cannot be specified if layout is specified.")
    return Problem("layout= says how values are packed: leave packed= away.", jax, v.site("packed"))


def _bits(v: CallView) -> int | None:
    t = v.fact.result
    bits = element_bits(t.dtype) if isinstance(t, RefType) else None
    return bits if isinstance(bits, int) else None


def _dtype(v: CallView) -> str:
    t = v.fact.result
    return str(t.dtype) if isinstance(t, RefType) else "?"


def shape(v: CallView) -> Answer:
    """A shape that tensor memory cannot hold."""
    t = v.fact.result
    if v.value("layout") is not None:
        return None
    if not isinstance(t, RefType) or not isinstance(t.shape, tuple):
        return Unsure("the shape is not known")
    if len(t.shape) < 2:
        text = f"Tensor memory has 128 lanes (rows) and columns; {show_array(t.shape, t.dtype)} has one dimension."
        return _problem(v, text, f"TMEM can only represent 2D shapes, got {_shape_text(v, t)}")
    rows, columns = (e.dim if isinstance(e, Int) else None for e in t.shape[-2:])
    per_word = _packing(v)
    if rows is None or columns is None or per_word is None:
        return Unsure("the shape or the packing is not known")
    return _fits_columns(v, t, columns, per_word) or _fits_rows(v, t, rows, columns, per_word)


def _packing(v: CallView) -> int | None:
    """Values that share a column."""
    packed, bits = v.value("packed"), _bits(v)
    if packed is None or packed is False:
        return 1
    return WORD // bits if packed is True and bits is not None and bits <= WORD else None


def _fits_columns(v: CallView, t: RefType, columns: Dim, per_word: int) -> Answer:
    known = v.decide(conds.divides(per_word, columns))
    if known is not False:
        return None if known else Unsure("whether the columns can be packed is not known")
    n = v.simplify(columns)
    text = (
        f"packed=True puts {per_word} x {t.dtype} in a column of 32 bits; {dims.text(n)} is no multiple of {per_word}."
    )
    if isinstance(n, int):
        text += f" Next is {-(-n // per_word) * per_word}."
    jax = f"Minor dimension of shape must be divisible by packing, got: {_shape_text(v, t)}"
    return _problem(v, text, jax, t.shape[-1] if isinstance(t.shape, tuple) else None)


def _fits_rows(v: CallView, t: RefType, rows: Dim, columns: Dim, per_word: int) -> Answer:
    full, half = v.decide(conds.equal(rows, LANES)), v.decide(conds.equal(rows, HALF))
    if full is False and half is False:
        n = v.simplify(rows)
        text = f"Tensor memory has {LANES} lanes: a buffer takes all of them or {HALF}, not {dims.text(n)} rows."
        if isinstance(n, int):
            text += f" Use {HALF if n <= HALF else LANES} rows{' and several buffers' if n > LANES else ''}."
        message = (
            f"Unsupported shape: {_shape_text(v, t)}. TMEM references must have either 128 or 64 rows, but got "
            f"{dims.text(n)}."
        )
        return _problem(v, text, message, t.shape[-2] if isinstance(t.shape, tuple) else None)
    if half is not True:
        return None if full else Unsure("the number of rows is not known")
    return _fits_half(v, t, columns, per_word)


def _fits_half(v: CallView, t: RefType, columns: Dim, per_word: int) -> Answer:
    """64 rows: the columns are split over the two halves of the lanes."""
    if v.value("collective") not in (True, False, None):
        return Unsure("whether the allocation is collective is not known")
    if v.value("collective") is not True and v.decide(conds.less(columns, 2 * per_word)) is not False:
        return Unsure("the packing may be too wide")
    known = v.decide(conds.divides(HALF_STEP, columns))
    if known is not False:
        return None if known else Unsure("the number of columns is not known")
    n = v.simplify(columns)
    text = (
        f"{HALF} rows: the columns are split over both halves of the lanes, in steps of {HALF_STEP}; "
        f"{dims.text(n)} is no multiple."
    )
    if isinstance(n, int):
        text += f" Next is {-(-n // HALF_STEP) * HALF_STEP}."
    cause = t.shape[-1] if isinstance(t.shape, tuple) else None
    return _problem(v, text, f"Columns must be a multiple of {HALF_STEP}, got: {dims.text(n)}", cause)


def _shape_text(v: CallView, t: RefType) -> str:
    """The last two dimensions, as JAX prints them."""
    exact = v.exact_shape(t.shape[-2:]) if isinstance(t.shape, tuple) else None
    return str(exact) if exact is not None else "…"


def _problem(v: CallView, text: str, jax: str, cause: Value = None) -> Problem:
    return Problem(text, JaxError("ValueError", jax), v.site("shape"), cause=cause)


RULES = (
    Rule(
        "tmem-argument",
        "packed, collective and layout describe tensor memory only.",
        ("SMEM", "GMEM", "REGS"),
        10,
        only_tmem,
        _CALL,
        "Shared memory is described by `transforms=`. `packed`, `collective` and `layout` belong to `plgpu.TMEM`.",
    ),
    Rule(
        "tmem-transforms",
        "Tensor memory has no transforms.",
        ("TMEM",),
        10,
        transforms,
        _CALL,
        "Tiling and swizzling arrange shared memory for TMA and the tensor cores. Tensor memory has lanes and columns; "
        "its arrangement is `layout=`.",
    ),
    Rule(
        "tmem-packing",
        "Tensor memory of narrow types says how it is packed.",
        ("TMEM",),
        20,
        packing_named,
        _CALL,
        "A column of tensor memory holds 32 bits in each lane. Two bfloat16 can share one (`packed=True`, as tcgen05 "
        "wants its operands) or take one each (`packed=False`, as it writes accumulators). `layout=` says it too.",
    ),
    Rule(
        "tmem-shape",
        "Tensor memory has 128 or 64 rows.",
        ("TMEM",),
        30,
        shape,
        _INFER,
        "Tensor memory has 128 lanes. A buffer takes all of them, or 64 rows split over both halves of the lanes, "
        "which takes columns in multiples of 16. Packed types fill whole columns.",
    ),
)
