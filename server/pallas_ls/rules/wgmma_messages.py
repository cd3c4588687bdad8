"""What a refused `plgpu.wgmma` is told, by the kind of fault."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.target import Semantics
from .mma.case import Refused, WgmmaCase
from .mma.shared import tile_of
from .mma.wgmma import ACCUMULATORS, MOST_COLUMNS, ROWS
from .mma.wording import called, fitting, matrix, needed, transforms
from .view import CallView

Text = Callable[[CallView, WgmmaCase, Refused], str]


def _operand(case: WgmmaCase, refused: Refused):
    return case.b if refused.operand == "b" else case.a


def _shape(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    (m, k), (k2, n) = case.a.shape, case.b.shape
    acc, a, b = (called(v, x) for x in ("acc", "a", "b"))
    text = f"{a} is {matrix(case.a)}, {b} is {matrix(case.b)}, the accumulator {acc} {case.acc_dtype}{list(case.acc)}: "
    if k != k2:
        text += f"they are multiplied along {k} and {k2} elements, which must be the same."
        if case.a.shape[1] == case.b.shape[1]:
            text += f" {b} seems to be stored as (n, k): pass {b}.T."
        return text
    return text + f"the product has the shape ({m}, {n})."


def _operand_types(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    mixed = " Only float8_e4m3fn and float8_e5m2 may be mixed, since JAX 0.11." if "float8" in case.a.dtype else ""
    return (
        f"{called(v, 'a')} is {case.a.dtype}, {called(v, 'b')} is {case.b.dtype}: wgmma takes two of one type.{mixed}"
    )


def _transforms(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    text = f"wgmma reads {name} in swizzled tiles; it has {transforms(x)}."
    both = [case.b] if case.a.space == "regs" else [case.a, case.b]
    swizzle = fitting(both)
    if swizzle is None:
        return text + f" No tiling of (8, swizzle in elements) divides {matrix(x)}."
    return f"{text} Declare it with {needed(swizzle, x)}."


def _tiling(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    if x.swizzle is None:
        return f"{name} is tiled but not swizzled: wgmma needs both, or none of them (JAX chooses then)."
    want = tile_of(x.swizzle, x.bits)
    return (
        f"{name} has TilingTransform({x.tiling}); wgmma reads tiles of 8 rows as wide as the swizzle, "
        f"{x.swizzle} B: TilingTransform({want})."
    )


def _swizzles(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    a, b = called(v, "a"), called(v, "b")
    both = fitting([case.a, case.b])
    if case.a.swizzle is not None and case.b.swizzle is not None:
        text = f"{a} is swizzled {case.a.swizzle} B, {b} {case.b.swizzle} B; wgmma needs one swizzle for both."
    elif case.a.plain and case.b.plain:
        text = f"No swizzle serves both {a} and {b}: wgmma reads both in tiles of 8 rows of 32, 64 or 128 B."
    else:
        fixed, free = (b, a) if case.a.plain else (a, b)
        given, other = (case.b, case.a) if case.a.plain else (case.a, case.b)
        text = f"{fixed} has {transforms(given)}; {free} ({matrix(other)}) cannot take the same swizzle."
    return text + (f" {both} B fit both: {needed(both, case.a)}." if both is not None else "")


def _no_tiling(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    row = tile_of(32, x.bits)[1]
    text = (
        f"No tiling that wgmma reads divides {name}, {x.dtype}{list(x.allocated)}: its rows are a multiple of "
        f"{row} elements (32 B), and there are a multiple of 8 of them."
    )
    if refused.operand == "b" and not x.transposed and x.shape[1] % 8 == 0 and x.shape[0] % row == 0:
        text += f" Stored as (n, k) and passed as {name}.T it would be divided."
    return text


def _rows(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    m = case.acc[0]
    return (
        f"The accumulator has {m} rows; a warpgroup multiplies {ROWS} rows at a time: {-(-m // ROWS) * ROWS} rows, say."
    )


def _columns(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    n = case.acc[1]
    text = f"The product has {n} columns; wgmma makes a multiple of 8, at most {MOST_COLUMNS}."
    if n > MOST_COLUMNS:
        return text + " Split b and the accumulator along the columns."
    return text + f" {-(-n // 8) * 8} is one."


def _depth(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    k, b = case.a.shape[1], case.b
    text = f"{k} elements are multiplied along k"
    if b.swizzle is None:
        return text + "; they are no multiple of the swizzle's width."
    return text + f"; with a swizzle of {b.swizzle} B they come in groups of {8 * b.swizzle // b.bits}."


def _element_type(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    known = ", ".join(t for t in ACCUMULATORS if t != "uint8")
    where = " from registers" if x.space == "regs" else ""
    return f"{name} is {x.dtype}; wgmma multiplies{where} {known if not where else known.replace('float32, ', '')}."


def _accumulator_type(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    allowed = ACCUMULATORS.get(case.b.dtype, ("float32", "float16", "int32"))
    return (
        f"The accumulator is {case.acc_dtype}; a product of {case.b.dtype} is accumulated in "
        f"{' or '.join(allowed)}: plgpu.ACC({case.acc}, jnp.{allowed[0]})."
    )


def _transposed(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    name, x = called(v, refused.operand), _operand(case, refused)
    if x.bits == 16:
        return f"{name} is transposed: its tiles are wider than the {ROWS} rows of the instruction."
    if refused.operand == "a":
        return f"{name} is passed transposed; only 16-bit types can be: store it as (m, k)."
    return (
        f"{name} is stored as (k, n), with n running fastest; of {x.dtype} wgmma only takes k fastest (16-bit types "
        f"take both). Store it as (n, k) and pass {name}.T."
    )


def _memory_space(v: CallView, case: WgmmaCase, refused: Refused) -> str:
    where = " or, as a value, from registers" if refused.operand == "a" else ""
    return f"{called(v, refused.operand)} is in global memory; wgmma reads shared memory{where}: copy it there first."


TEXTS: dict[str, Text] = {
    "shape": _shape,
    "operand-types": _operand_types,
    "transforms": _transforms,
    "tiling": _tiling,
    "swizzles": _swizzles,
    "one-swizzle": _swizzles,
    "no-tiling": _no_tiling,
    "rows": _rows,
    "columns": _columns,
    "depth": _depth,
    "element-type": _element_type,
    "accumulator-type": _accumulator_type,
    "transposed": _transposed,
    "memory-space": _memory_space,
}

SEMANTICS = {"transforms": Semantics.LANE, "no-tiling": Semantics.WARPGROUP}
