"""`plgpu.wgmma`: JAX's checks in their order.

Mirrors `wgmma` and its lowerings (jax/_src/pallas/mosaic_gpu/primitives.py), `wgmma`
(jax/experimental/mosaic/gpu/wgmma.py), and under Warpgroup semantics the verifier of `mosaic_gpu.wgmma` and
`_wgmma_constraint_system` (layout_inference.py).
"""

from __future__ import annotations

from ...domain.layout_table import WGMMA, jax_repr
from ...domain.target import JaxVersion, Semantics
from .case import Open, Operand, Outcome, Refused, WgmmaCase
from .shared import FP8, MLIR, UNSATISFIABLE, candidates, divides, no_tiling, refused, tile_of, unverified

#: Operand types of the instruction, and what they accumulate in.
ACCUMULATORS = {
    "float16": ("float32", "float16"),
    "bfloat16": ("float32",),
    "float32": ("float32",),
    "float8_e4m3fn": ("float32", "float16"),
    "float8_e5m2": ("float32", "float16"),
    "int8": ("int32",),
    "uint8": ("int32",),
}
_REGISTERS = ("float16", "bfloat16", "int8", "uint8", *FP8)
ROWS, MOST_COLUMNS = 64, 256


def wgmma_outcome(case: WgmmaCase) -> Outcome:
    """JAX's first refusal, None, or that the data does not decide."""
    if case.acc_dtype.startswith("uint"):
        return Open("the accumulator itself is refused")
    return traced(case) or (_lane(case) if case.semantics is Semantics.LANE else _warpgroup(case))


def traced(case: WgmmaCase) -> Refused | None:
    """The checks of the call itself: shapes and element types."""
    (m, n), (m2, k), (k2, n2) = case.acc, case.a.shape, case.b.shape
    if (m, n, k) != (m2, n2, k2):
        text = (
            f"Incompatible shapes for matrix multiplication: lhs={case.a.shape}, rhs=b.shape={case.b.shape}, "
            f"acc={case.acc}"
        )
        return refused("shape", "ValueError", text, "acc" if k == k2 else "b")
    a, b = case.a.dtype, case.b.dtype
    mixed_fp8 = case.version >= JaxVersion(0, 11) and a in FP8 and b in FP8
    if a != b and not mixed_fp8:
        text = f"Mixed input dtypes for matrix multiplication unsupported: lhs={a}, rhs={b}"
        return refused("operand-types", "ValueError", text, "b")
    return None


# -- Lane ------------------------------------------------------------------------------------------


def _lane(case: WgmmaCase) -> Outcome:
    a, b = case.a, case.b
    if a.bits < 8 or b.bits < 8:
        return Open("elements narrower than a byte have no model")
    m, n = case.acc
    if m % ROWS or n % 8:
        text = f"WGMMA requires m and n to be multiples of {ROWS} and 8, got {m} and {n}"
        return refused("rows" if m % ROWS else "columns", "ValueError", text, "acc")
    if a.space == "gmem" or b.space == "gmem":
        return _lane_gmem(a)
    answer = (_lane_lhs(a) if a.space != "regs" else None) or _lane_rhs(a, b, case.version)
    if answer is not None:
        return answer
    return issued(case, b.swizzle or 0)


def _lane_gmem(a: Operand) -> Outcome:
    if a.space == "gmem" and not a.transposed:
        return refused("memory-space", "ValueError", _NO_LHS_TRANSFORMS, "a")
    return Open("an operand in global memory")


_NO_LHS_TRANSFORMS = (
    "When WGMMA lhs is passed in as a ref, it must be transformed by swizzling and tiling appropriately."
)


def _lane_lhs(a: Operand) -> Outcome:
    if a.plain and not a.transposed:
        return refused("transforms", "ValueError", _NO_LHS_TRANSFORMS, "a")
    if a.tiling is None or a.swizzle is None:
        return refused("transforms", "ValueError", "WGMMA lhs has unsupported transforms: ", "a")
    want = tile_of(a.swizzle, a.bits)
    if a.tiling != want:
        text = f"WGMMA lhs tiling does not fit swizzle. Got tiling={a.tiling}, expected {want}"
        return refused("tiling", "NotImplementedError", text, "a")
    return None


def _lane_rhs(a: Operand, b: Operand, version: JaxVersion) -> Outcome:
    if b.plain and not b.transposed and version < JaxVersion(0, 12):
        return refused("transforms", "AssertionError", "", "b")
    if b.tiling is None or b.swizzle is None:
        return refused("transforms", "ValueError", "WGMMA rhs has unsupported transforms: ", "b")
    want = tile_of(b.swizzle, b.bits)
    if a.space == "regs":
        return None if b.tiling == want else Open("a tiling of the right operand that JAX does not check first")
    if b.swizzle != a.swizzle:
        return refused("swizzles", "NotImplementedError", "WGMMA rhs swizzle must match lhs swizzle", "b")
    if b.tiling != want:
        return refused("tiling", "NotImplementedError", "WGMMA rhs tiling does not fit swizzle", "b")
    return None


# -- Warpgroup -------------------------------------------------------------------------------------


def _warpgroup(case: WgmmaCase) -> Outcome:
    return _verified(case) or _inferred(case)


def _verified(case: WgmmaCase) -> Outcome:
    acc = "'mosaic_gpu.wgmma' op operand #0 must be vector of A type supported by the accumulator `wgmma.mma_async`"
    if case.acc_dtype not in ("float32", "float16", "int32"):
        return Refused("accumulator-type", unverified(case.version, acc), "acc")
    for i, (name, x) in enumerate((("a", case.a), ("b", case.b)), 1):
        if x.dtype not in ACCUMULATORS:
            text = f"'mosaic_gpu.wgmma' op operand #{i} must be"
            return Refused("element-type", unverified(case.version, text), name)
    if case.acc[0] % ROWS:
        text = (
            f"'mosaic_gpu.wgmma' op The accumulator's first dimension must be a multiple of {ROWS}, but got "
            f"{case.acc[0]}."
        )
        return Refused("rows", unverified(case.version, text), "acc")
    return None


def _inferred(case: WgmmaCase) -> Outcome:
    a, b = case.a, case.b
    if case.acc[1] % 8:
        layout = jax_repr(WGMMA, case.version)
        text = (
            f"Cannot assign layout {layout} to the accumulator of a wgmma op: the layout is not compatible with the "
            f"accumulator shape {case.acc}."
        )
        return refused("columns", "ValueError", text, "acc")
    if b.space == "gmem" or a.space == "gmem":
        text = "Unsupported memory space for: "
        return refused("memory-space", "ValueError", text, "a" if a.space == "gmem" else "b")
    possible = candidates(b)
    if not possible:
        return Refused("no-tiling", no_tiling(b, case.version), "b")
    left = [s for s in possible if _takes(b, s, case.version)]
    if not left:
        return Refused("tiling", UNSATISFIABLE, "b")
    if a.space != "regs":
        both = [s for s in left if divides(tile_of(s, a.bits), a.allocated) and _takes(a, s, case.version)]
        if not both:
            return Refused(_disagreement(a, b), UNSATISFIABLE, "a" if b.plain else "b")
        left = both
    return _all_refused(case, left)


def _disagreement(a: Operand, b: Operand) -> str:
    """Why no tiling and swizzle serves both operands."""
    if a.swizzle is not None and b.swizzle is not None and a.swizzle != b.swizzle:
        return "swizzles"
    if a.tiling is not None and a.swizzle is not None and a.tiling != tile_of(a.swizzle, a.bits):
        return "tiling"
    return "one-swizzle"


def _takes(x: Operand, swizzle: int, version: JaxVersion) -> bool:
    """Whether a buffer's transforms, where it has any, are those of a swizzle."""
    if x.plain:
        return True
    if version < JaxVersion(0, 11) and x.swizzle is None:
        return x.tiling == tile_of(swizzle, x.bits)
    return x.swizzle == swizzle and x.tiling == tile_of(swizzle, x.bits)


def _all_refused(case: WgmmaCase, swizzles: list[int]) -> Outcome:
    """The solver takes the widest, unless another operation on a buffer wants another: refused where all are."""
    if case.a.dtype in ("int8", "uint8") and case.acc_dtype != "int32":
        name = MLIR.get(case.acc_dtype, "")
        text = (
            f"is_signed must be non-None if and only if the MLIR type is an integer type, got _is_signed=True for "
            f"{name}"
        )
        return refused("accumulator-type", "TypeError", text, "acc")
    answers = [issued(case, s) for s in swizzles]
    if all(isinstance(x, Refused) for x in answers):
        return answers[0]
    if all(x is None for x in answers):
        return None
    return Open("it depends on the swizzle that JAX picks")


# -- the instruction -------------------------------------------------------------------------------


def issued(case: WgmmaCase, swizzle: int) -> Outcome:
    """The checks of the instruction itself, for operands of one swizzle."""
    a, b, (m, n), k = case.a, case.b, case.acc, case.a.shape[1]
    if a.space == "regs":
        if a.dtype not in _REGISTERS:
            text = "Only f16, bf16, i8, f8e5m2, f8e4m3fn are supported for A in registers, got "
            return refused("element-type", "ValueError", text + MLIR.get(a.dtype, "…"), "a")
        if a.dtype in ("int8", "uint8"):
            return Open("8-bit integers in registers have no model")
    answer = _accumulates(case)
    if answer is not None:
        return answer
    if n > MOST_COLUMNS or n % 8:
        return refused("columns", "ValueError", f"N must be a multiple of 8 and <= {MOST_COLUMNS}, got: {n}", "b")
    if m % ROWS:
        return refused("rows", "ValueError", f"M must be a multiple of {ROWS}, got: {m}", "acc")
    group = 8 * swizzle // b.bits
    if k % group:
        return refused("depth", "ValueError", f"K must be a multiple of {group}, got: {k}", "b")
    if a.transposed and ROWS % group:
        text = f"The M or N MMA instruction size was chosen to be {ROWS}"
        return refused("transposed", "ValueError", text, "a")
    if b.bits != 16 and (a.transposed or not b.transposed):
        text = "Only f16 WGMMA supports transposes"
        return refused("transposed", "ValueError", text, "a" if a.transposed else "b")
    return Open("the left operand is in registers") if a.space == "regs" else None


def _accumulates(case: WgmmaCase) -> Outcome:
    b, acc = case.b.dtype, case.acc_dtype
    allowed = ACCUMULATORS.get(b)
    name = MLIR.get(b)
    if name is None or acc not in MLIR:
        return Open("an element type without a name")
    if allowed is None:
        return refused("element-type", "NotImplementedError", f"Unsupported element type: {name}", "b")
    if acc in allowed:
        return None
    listed = "s32" if name == "i8" else " or ".join(MLIR[x] for x in allowed)
    text = f"WGMMA with element type {name} only supports accumulators of type {listed}, but got: {MLIR[acc]}"
    return refused("accumulator-type", "ValueError", text, "acc")
