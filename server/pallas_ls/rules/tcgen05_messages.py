"""What a refused `plgpu.tcgen05_mma` is told, by the kind of fault."""

from __future__ import annotations

from collections.abc import Callable

from .mma.case import MmaCase, Operand, Refused
from .mma.shared import tile_of
from .mma.tcgen05 import ACCUMULATORS
from .mma.wording import called, fitting, matrix, needed, transforms
from .view import CallView

Text = Callable[[CallView, MmaCase, Refused], str]


def _operand(case: MmaCase, refused: Refused) -> Operand:
    return {"acc": case.acc, "b": case.b}.get(refused.operand, case.a)


def _shape(v: CallView, case: MmaCase, refused: Refused) -> str:
    (m, k), (k2, n) = case.a.shape, case.b.shape
    acc, a, b = (called(v, x) for x in ("acc", "a", "b"))
    text = f"{a} is {matrix(case.a)}, {b} is {matrix(case.b)}, the accumulator {acc} {matrix(case.acc)}: "
    pair = case.collective_axis is not None
    if case.acc.shape[0] != m:
        return text + f"{a} and {acc} must have the same number of rows."
    if case.acc.shape[1] != n * (2 if pair else 1):
        wanted = f"({m}, {2 * n}): each of the two blocks brings half of the columns of b" if pair else f"({m}, {n})"
        return text + f"the accumulator has to be {wanted}."
    if k != k2:
        text += f"they are multiplied along {k} and {k2} elements, which must be the same."
    return text


def _operand_types(v: CallView, case: MmaCase, refused: Refused) -> str:
    mixed = " Only float8_e4m3fn and float8_e5m2 may be mixed." if "float8" in case.a.dtype else ""
    return (
        f"{called(v, 'a')} is {case.a.dtype}, {called(v, 'b')} is {case.b.dtype}: tcgen05_mma takes two of one type."
        f"{mixed}"
    )


def _memory_space(v: CallView, case: MmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    where = {"gmem": "global memory", "smem": "shared memory", "tmem": "tensor memory"}.get(x.space, "registers")
    wanted = {
        "acc": "the accumulator is in tensor memory: plgpu.TMEM(shape, dtype)",
        "a": "the left operand is in shared or tensor memory",
        "b": "the right operand is in shared memory: plgpu.SMEM(shape, dtype)",
    }[refused.operand]
    return f"{name} is in {where}; {wanted}."


def _collective_memory(v: CallView, case: MmaCase, refused: Refused) -> str:
    name = called(v, refused.operand)
    if case.collective_axis is None:
        return (
            f"{name} is allocated for two blocks (collective=True), but this multiplication is one block's: give "
            "collective_axis=, or allocate it without collective=."
        )
    return (
        f"collective_axis={case.collective_axis!r}: two blocks multiply together, and {name} has to be allocated by "
        "both: plgpu.TMEM(..., collective=True)."
    )


def _barrier(v: CallView, case: MmaCase, refused: Refused) -> str:
    return (
        f"{called(v, 'barrier')} does not order the tensor core: what waits on it could read the accumulator too "
        "early. Declare it plgpu.Barrier(orders_tensor_core=True)."
    )


def _barrier_count(v: CallView, case: MmaCase, refused: Refused) -> str:
    name = called(v, "barrier")
    return f"{name} holds {case.barrier} barriers; pass one of them: {name}.at[i]."


def _transforms(v: CallView, case: MmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    text = f"tcgen05_mma reads {name} in swizzled tiles; it has {transforms(x)}."
    swizzle = fitting([o for o in (case.a, case.b) if o.space == "smem"])
    return text if swizzle is None else f"{text} Declare it with {needed(swizzle, x)}."


def _tiling(v: CallView, case: MmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    if x.swizzle is None:
        return f"{name} is tiled but not swizzled: tcgen05_mma needs both, or none of them (JAX chooses then)."
    return (
        f"{name} has TilingTransform({x.tiling}); tcgen05_mma reads tiles of 8 rows as wide as the swizzle, "
        f"{x.swizzle} B: TilingTransform({tile_of(x.swizzle, x.bits)})."
    )


def _swizzles(v: CallView, case: MmaCase, refused: Refused) -> str:
    a, b = called(v, "a"), called(v, "b")
    both = fitting([case.a, case.b])
    text = (
        f"{a} is swizzled {case.a.swizzle} B, {b} {case.b.swizzle} B; under Lane semantics tcgen05_mma needs one "
        "swizzle for both."
    )
    return text + (f" {both} B fit both." if both is not None else "")


def _too_wide(v: CallView, case: MmaCase, refused: Refused) -> str:
    half = case.b.shape[1] // 2
    best = fitting([case.b], half)
    text = (
        f"With 64 rows the product's columns are split into two halves of {half}; a row of {called(v, 'b')} swizzled "
        f"{case.b.swizzle or 32} B is {8 * (case.b.swizzle or 32) // case.b.bits} elements, more than that."
    )
    return text + (f" {best} B fit." if best is not None else "")


def _no_tiling(v: CallView, case: MmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    row = tile_of(32, x.bits)[1]
    return (
        f"No tiling that tcgen05_mma reads divides {name}, {x.dtype}{list(x.allocated)}: its rows are a multiple of "
        f"{row} elements (32 B), and there are a multiple of 8 of them."
    )


def _rows(v: CallView, case: MmaCase, refused: Refused) -> str:
    if refused.operand == "a":
        return (
            f"{called(v, 'a')} is in tensor memory, from where only 128 rows are multiplied; it has {case.a.shape[0]}."
        )
    return f"The accumulator has {case.acc.shape[0]} rows; tcgen05_mma makes 128 or 64."


def _columns(v: CallView, case: MmaCase, refused: Refused) -> str:
    n, pair = case.b.shape[1], case.collective_axis is not None
    integers = case.acc.dtype in ("int32", "uint32")
    step = (16 if pair else 8) * (2 if integers else 1) * (2 if case.acc.shape[0] == 64 and not pair else 1)
    most = "128 in each of the two blocks" if pair else "256, or 512"
    return f"{called(v, 'b')} has {n} columns; here they are a multiple of {step}, at most {most}."


def _depth(v: CallView, case: MmaCase, refused: Refused) -> str:
    k = case.a.shape[1]
    widths = {s for s in (case.a.swizzle, case.b.swizzle) if s is not None}
    if not widths:
        return f"{k} elements are multiplied along k: no multiple of what any swizzle's row holds."
    widest = max(widths)
    return (
        f"{k} elements are multiplied along k; with a swizzle of {widest} B they come in groups of "
        f"{8 * widest // case.a.bits}. Take a narrower swizzle, or pad k with zeros."
    )


def _element_type(v: CallView, case: MmaCase, refused: Refused) -> str:
    x, name = _operand(case, refused), called(v, refused.operand)
    if x.dtype == "float4_e2m1fn":
        return f"{name} is {x.dtype}: 4-bit floats are multiplied with scales (a_scale=, b_scale=) only."
    known = ", ".join(t for t in ACCUMULATORS if t not in ("uint8", "float32"))
    return f"{name} is {x.dtype}; tcgen05_mma multiplies {known}."


def _accumulator_type(v: CallView, case: MmaCase, refused: Refused) -> str:
    allowed = ACCUMULATORS.get(case.a.dtype, ("float32", "float16", "int32"))
    return f"The accumulator is {case.acc.dtype}; a product of {case.a.dtype} is accumulated in {' or '.join(allowed)}."


def _accumulator_packing(v: CallView, case: MmaCase, refused: Refused) -> str:
    return (
        f"{called(v, 'acc')} is packed: several elements share a column. An accumulator has one in each: "
        "plgpu.TMEM(shape, dtype, packed=False)."
    )


def _operand_packing(v: CallView, case: MmaCase, refused: Refused) -> str:
    return (
        f"{called(v, 'a')} has one element in each 32-bit column; an operand in tensor memory has as many as fit: "
        "plgpu.TMEM(shape, dtype, packed=True)."
    )


def _axis(v: CallView, case: MmaCase, refused: Refused) -> str:
    names = ", ".join(map(repr, case.cluster_names)) or "none"
    last = f" It has to be the last one, {case.cluster_names[-1]!r}." if case.cluster_names else ""
    return f"collective_axis={case.collective_axis!r}; the kernel's cluster axes are: {names}.{last}"


def _cluster(v: CallView, case: MmaCase, refused: Refused) -> str:
    shape = tuple(case.cluster)
    return (
        f"Two blocks multiply together: the last dimension of the cluster has to be 2, and it is {shape} "
        "(up to JAX 0.10 the whole cluster has to be (2,))."
    )


TEXTS: dict[str, Text] = {
    "shape": _shape,
    "operand-types": _operand_types,
    "memory-space": _memory_space,
    "collective-memory": _collective_memory,
    "barrier": _barrier,
    "barrier-count": _barrier_count,
    "transforms": _transforms,
    "tiling": _tiling,
    "swizzles": _swizzles,
    "swizzle-too-wide": _too_wide,
    "no-tiling": _no_tiling,
    "rows": _rows,
    "columns": _columns,
    "depth": _depth,
    "element-type": _element_type,
    "accumulator-type": _accumulator_type,
    "accumulator-packing": _accumulator_packing,
    "operand-packing": _operand_packing,
    "collective-axis": _axis,
    "cluster": _cluster,
}
