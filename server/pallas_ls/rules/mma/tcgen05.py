"""`plgpu.tcgen05_mma`, neither scaled nor sparse: JAX's checks in their order.

Mirrors `tcgen05_mma`, its abstract evaluation and its lowerings (jax/_src/pallas/mosaic_gpu/primitives.py), `mma`
and `commit_arrive` (jax/experimental/mosaic/gpu/tcgen05.py), and under Warpgroup semantics the verifier of
`mosaic_gpu.tcgen05_mma` and `_tcgen05_mma_constraint_system` (layout_inference.py).
"""

from __future__ import annotations

from ...domain.target import JaxVersion, Semantics
from .case import MmaCase, Open, Operand, Outcome, Refused
from .shared import FP8, MLIR, UNSATISFIABLE, candidates, no_tiling, refused, tile_of, unverified

#: Operand types of the instruction, and what they accumulate in. float32 (as tf32) passes every check but the last.
ACCUMULATORS = {
    "float16": ("float32", "float16"),
    "bfloat16": ("float32",),
    "float32": ("float32",),
    "float8_e4m3fn": ("float32", "float16"),
    "float8_e5m2": ("float32", "float16"),
    "int8": ("int32",),
    "uint8": ("int32",),
}
MOST_COLUMNS, MOST_COLLECTIVE = 512, 128


def mma_outcome(case: MmaCase) -> Outcome:
    """JAX's first refusal, None, or that the data does not decide."""
    return traced(case) or (_lane(case) if case.semantics is Semantics.LANE else _warpgroup(case))


# -- when the call is traced -----------------------------------------------------------------------


def traced(case: MmaCase) -> Refused | None:
    """The checks of the call itself: shapes, memory spaces, barrier."""
    return _shapes(case) or _spaces(case) or _collective_memory(case) or _orders(case)


def _shapes(case: MmaCase) -> Refused | None:
    acc, a, b = case.acc.shape, case.a.shape, case.b.shape
    if acc[0] != a[0]:
        text = (
            "Accumulator and LHS have incompatible shapes. Expected LHS to have shape (m, k) and accumulator to have "
            f"shape (m, n). Accumulator: {acc}. LHS: {a}."
        )
        return refused("shape", "ValueError", text, "a")
    twice = case.collective_axis is not None
    if acc[1] != b[1] * (2 if twice else 1):
        want = "(m, n * 2) in collective mode" if twice else "(m, n)"
        text = (
            "Accumulator and RHS have incompatible shapes. Expected RHS to have shape (k, n) and accumulator to have "
            f"shape {want}. Accumulator: {acc}. RHS: {b}."
        )
        return refused("shape", "ValueError", text, "b")
    if a[1] != b[0]:
        return refused("shape", "ValueError", f"LHS and RHS have incompatible shapes. LHS: {a}. RHS: {b}.", "b")
    return None


def _spaces(case: MmaCase) -> Refused | None:
    if case.acc.space != "tmem":
        return refused("memory-space", "ValueError", "Accumulator must be a TMEM Ref.", "acc")
    if case.a.space not in ("smem", "tmem"):
        return refused("memory-space", "ValueError", "LHS must be a TMEM/SMEM Ref.", "a")
    if case.b.space != "smem":
        return refused("memory-space", "ValueError", "RHS must be an SMEM Ref.", "b")
    return None


def _collective_memory(case: MmaCase) -> Refused | None:
    if case.collective_axis is None:
        return None
    for name, operand, x in (("Accumulator", "acc", case.acc), ("LHS", "a", case.a)):
        if x.space == "tmem" and not x.collective:
            text = f"{name} Ref must be collective if collective_axis is set."
            return refused("collective-memory", "ValueError", text, operand)
    return None


def _orders(case: MmaCase) -> Refused | None:
    if case.barrier is None or case.orders:
        return None
    return refused("barrier", "ValueError", "MMA barrier must have orders_tensor_core set to True.", "barrier")


# -- Lane ------------------------------------------------------------------------------------------


def _lane(case: MmaCase) -> Outcome:
    a, b = case.a, case.b
    late = case.version < JaxVersion(0, 12) and a.space == "smem" and a.plain and not a.transposed
    return (
        (_lane_operand(a, "LHS", "lhs", "a") if a.space == "smem" and not late else None)
        or _lane_rhs(b, case.version)
        or (None if late else _lane_swizzles(a, b))
        or _axis(case)
        or (refused("transforms", "ValueError", "Expected a 4D memref, got: ", "a") if late else None)
        or _instruction(case, a.swizzle or b.swizzle or 0, b.swizzle or 0)
        or _arrival(case)
    )


def _lane_rhs(b: Operand, version: JaxVersion) -> Outcome:
    if b.plain and not b.transposed and version < JaxVersion(0, 12):
        return refused("transforms", "AssertionError", "", "b")
    return _lane_operand(b, "RHS", "rhs", "b")


def _lane_operand(x: Operand, name: str, short: str, operand: str) -> Outcome:
    if x.tiling is None or x.swizzle is None:
        return refused("transforms", "NotImplementedError", f"Unsupported transforms for {name}: [", operand)
    want = tile_of(x.swizzle, x.bits)
    if x.tiling != want:
        stop = ". " if operand == "a" else " "
        text = f"MMA {short} tiling does not fit swizzle{stop}{short}_tiling={x.tiling} expected={want}"
        return refused("tiling", "ValueError", text, operand)
    return None


def _lane_swizzles(a: Operand, b: Operand) -> Outcome:
    if a.space == "tmem" or a.swizzle == b.swizzle:
        return None
    text = f"MMA rhs swizzle must match lhs swizzle. lhs_swizzle={a.swizzle} rhs_swizzle={b.swizzle}"
    return refused("swizzles", "ValueError", text, "b")


# -- Warpgroup -------------------------------------------------------------------------------------


def _warpgroup(case: MmaCase) -> Outcome:
    return _axis(case) or _barriers(case) or _verified(case) or _inferred(case)


def _verified(case: MmaCase) -> Outcome:
    if case.acc.dtype not in ("float16", "float32", "int32", "uint32"):
        text = (
            "'mosaic_gpu.tcgen05_mma' op operand #0 must be 2D memref of 16-bit float or 32-bit float or 32-bit "
            "signless integer values, but got "
        )
        return Refused("accumulator-type", unverified(case.version, text), "acc")
    for i, (operand, x) in enumerate((("a", case.a), ("b", case.b)), 1):
        if x.dtype not in (*ACCUMULATORS, "float4_e2m1fn"):
            text = f"'mosaic_gpu.tcgen05_mma' op operand #{i} must be 2D memref of"
            return Refused("element-type", unverified(case.version, text), operand)
    if _mixed(case):
        text = "'mosaic_gpu.tcgen05_mma' op The `a` and `b` inputs must have the same element type"
        return Refused("operand-types", unverified(case.version, text), "b")
    return None


def _mixed(case: MmaCase) -> bool:
    a, b = MLIR.get(case.a.dtype), MLIR.get(case.b.dtype)
    both_fp8 = case.a.dtype in FP8 and case.b.dtype in FP8 and case.version >= JaxVersion(0, 11)
    return a != b and not both_fp8


def _inferred(case: MmaCase) -> Outcome:
    acc, a, b = case.acc, case.a, case.b
    if a.bits < 8:
        return Open("elements narrower than a byte have no model")
    if acc.shape[0] not in (64, 128):
        return refused("rows", "ValueError", "…", "acc")
    possible = {"b": candidates(b), **({"a": candidates(a)} if a.space == "smem" else {})}
    narrow = refused("swizzle-too-wide", "StopIteration", "", "b") if _no_half(case) else None
    if narrow is not None and (possible["b"] or case.version < JaxVersion(0, 11)):
        return narrow
    for operand, x in (("b", b), ("a", a)):
        if possible.get(operand) == []:
            return Refused("no-tiling", no_tiling(x, case.version), operand)
    if _packs(acc) != 1:
        return Refused("accumulator-packing", UNSATISFIABLE, "acc")
    if acc.shape[0] == 64 and _shared_by_one(case):
        return Refused("collective-memory", UNSATISFIABLE, "acc")
    if a.space == "tmem" and _packs(a) != 32 // a.bits:
        return Refused("operand-packing", UNSATISFIABLE, "a")
    left = {o: [s for s in possible[o] if _takes(x, s, case.version)] for o, x in (("b", b), ("a", a)) if o in possible}
    for operand, swizzles in left.items():
        if not swizzles:
            return Refused("tiling", UNSATISFIABLE, operand)
    fitting = _halves(case, left["b"])
    if not fitting:
        return Refused("swizzle-too-wide", UNSATISFIABLE, "b")
    answers = [_whole(case, s, t) for t in fitting for s in left.get("a", [t])]
    if all(isinstance(x, Refused) for x in answers):
        return answers[0]
    return None if all(x is None for x in answers) else Open("it depends on the swizzle that JAX picks")


def _no_half(case: MmaCase) -> bool:
    """Whether half of the columns of an accumulator of 64 rows is less than 16 bytes of the right operand: the solver
    looks for a width that fits, and finds none."""
    return case.acc.shape[0] == 64 and case.collective_axis is None and 8 * 16 // case.b.bits > case.b.shape[1] // 2


def _halves(case: MmaCase, swizzles: list[int]) -> list[int]:
    """Of the right operand's swizzles those that leave both halves of the lanes whole tiles."""
    if case.acc.shape[0] != 64 or case.collective_axis is not None:
        return swizzles
    b = case.b
    return [s for s in swizzles if 8 * s // b.bits <= b.shape[1] // 2]


def _packs(x: Operand) -> int:
    """How many elements share a column of tensor memory."""
    return 32 // x.bits if x.packed else 1


def _takes(x: Operand, swizzle: int, version: JaxVersion) -> bool:
    if x.plain:
        return True
    if version < JaxVersion(0, 11) and x.swizzle is None:
        return x.tiling == tile_of(swizzle, x.bits)
    return x.swizzle == swizzle and x.tiling == tile_of(swizzle, x.bits)


def _shared_by_one(case: MmaCase) -> bool:
    """Tensor memory for two blocks in a multiplication of one."""
    return case.acc.collective and case.collective_axis is None


def _whole(case: MmaCase, a_swizzle: int, b_swizzle: int) -> Outcome:
    if _shared_by_one(case):
        text = "Collective attributes are inconsistent across operations in the kernel."
        return refused("collective-memory", "ValueError", text, "acc")
    return _instruction(case, a_swizzle, b_swizzle) or _arrival(case)


# -- the instruction -------------------------------------------------------------------------------


def _axis(case: MmaCase) -> Outcome:
    axis = case.collective_axis
    if axis is None:
        return None
    if axis not in case.cluster_names:
        text = f"Unknown cluster axis {axis}, available axes: {list(case.cluster_names)}"
        return refused("collective-axis", "LookupError", text, "collective_axis")
    if axis != case.cluster_names[-1]:
        text = (
            f"Can only perform collective MMA along minormost cluster axis. Got {axis}, expected "
            f"{case.cluster_names[-1]}."
        )
        return refused("collective-axis", "ValueError", text, "collective_axis")
    return None


def _barriers(case: MmaCase) -> Outcome:
    if case.barrier is None or case.barrier == 1:
        return None
    text = f"Operation is only valid for a single barrier, but barrier ref contains {case.barrier}."
    return refused("barrier-count", "ValueError", text, "barrier")


def _arrival(case: MmaCase) -> Outcome:
    """The arrival on the barrier that comes after the multiplication."""
    if case.barrier is None:
        return None
    many = _barriers(case)
    if many is not None:
        return many
    return None if case.collective_axis is None else pair_of_blocks(case.cluster, case.version)


def pair_of_blocks(cluster: tuple[int, ...], version: JaxVersion) -> Refused | None:
    """The check of the cluster of a collective arrival (`tcgen05.commit_arrive`)."""
    if version < JaxVersion(0, 11):
        if cluster == (2,):
            return None
        text = "Collective arrivals only support (2, 1, 1)-shaped clusters"
        return refused("cluster", "NotImplementedError", text, "collective_axis")
    if cluster and cluster[-1] == 2:
        return None
    text = "Collective arrivals require the minormost cluster dimension to have size 2, got: "
    return refused("cluster", "ValueError", text, "collective_axis")


def _instruction(case: MmaCase, a_swizzle: int, b_swizzle: int) -> Outcome:
    acc, a, b = case.acc, case.a, case.b
    m, n = acc.shape[0], b.shape[1]
    if a.bits < 8:
        return Open("elements narrower than a byte have no model")
    if a.space == "tmem":
        if m != 128:
            text = f"Only M=128 is supported for MMA with A in TMEM, but got M={m}"
            return refused("rows", "NotImplementedError", text, "a")
        of_one_type = b if case.version < JaxVersion(0, 11) else a
        if _packs(a) != 32 // of_one_type.bits:
            return refused("operand-packing", "ValueError", "A layout mismatch: expected ", "a")
    if _mixed(case):
        return refused("operand-types", "ValueError", "MMA requires A and B to have the same element type", "b")
    if _packs(acc) != 1 and m in (64, 128):
        return refused("accumulator-packing", "ValueError", "Accumulator layout mismatch: expected ", "acc")
    if m == 64 and _shared_by_one(case):
        return refused("collective-memory", "ValueError", "Accumulator layout mismatch: expected ", "acc")
    halves = 2 if m == 64 and case.collective_axis is None else 1
    if halves == 2 and 8 * b_swizzle // a.bits > n // 2:
        text = f"Swizzle={b_swizzle} is too big for MMA with M=64. Try lowering it."
        return refused("swizzle-too-wide", "ValueError", text, "b")
    if m not in (64, 128):
        return refused("rows", "ValueError", f"Only M=128 and M=64 are supported for MMA, but got M={m}", "acc")
    return _accumulates(case) or _columns(case, n, halves) or _depth(case, a_swizzle, b_swizzle) or _tf32(case)


def _accumulates(case: MmaCase) -> Outcome:
    a, b, acc = case.a.dtype, case.b.dtype, case.acc.dtype
    if a not in MLIR or b not in MLIR or acc not in MLIR:
        return Open("an element type without a name")
    shown = MLIR[a] if MLIR[a] == MLIR[b] else f"({MLIR[a]}, {MLIR[b]})"
    allowed = ACCUMULATORS.get(a)
    if a == "float4_e2m1fn":
        text = f"MMA with element type {shown} only supports block scaling"
        return refused("element-type", "ValueError", text, "a")
    if allowed is None:
        return refused("element-type", "NotImplementedError", f"Unsupported element type: {shown}", "a")
    if acc in allowed or (acc == "uint32" and allowed == ("int32",)):
        return None
    if allowed == ("int32",):
        text = f"MMA with element type s8 only supports s32 accumulators, but got: {MLIR[acc]}"
    else:
        listed = " or ".join(MLIR[x] for x in allowed)
        text = f"MMA with element type {shown} only supports accumulators of type {listed}, but got: {MLIR[acc]}"
    return refused("accumulator-type", "ValueError", text, "acc")


def _columns(case: MmaCase, n: int, halves: int) -> Outcome:
    collective = case.collective_axis is not None
    step, mode = (16, "2 CTA") if collective else (8, "1 CTA")
    if case.acc.dtype in ("int32", "uint32"):
        step, mode = step * 2, mode + " integer"
    if halves > 1:
        mode += f" with {halves} lane groups"
    if (n // halves) % step:
        text = f"In {mode} MMA, N must be a multiple of {step}, got N={n}"
        return refused("columns", "ValueError", text, "b")
    if n > 256 and n.bit_count() != 1:
        text = f"The only supported N > 256, is 512, but got N={n}"
        return refused("columns", "NotImplementedError", text, "b")
    if collective and n > MOST_COLLECTIVE:
        text = f"Only N <= {MOST_COLLECTIVE} are supported for collective MMA"
        return refused("columns", "ValueError", text, "b")
    if n > MOST_COLUMNS:
        return refused("columns", "ValueError", f"Only N <= {MOST_COLUMNS} are supported for MMA", "b")
    group = min(n // halves, 128 if collective else 256)
    return refused("columns", "ValueError", f"N must be a multiple of {group}, got: {n}", "b") if n % group else None


def _depth(case: MmaCase, a_swizzle: int, b_swizzle: int) -> Outcome:
    k, group = case.a.shape[1], 8 * max(a_swizzle, b_swizzle) // case.a.bits
    if k % group:
        return refused("depth", "ValueError", f"K must be a multiple of {group}, got: {k}", "b")
    return None


def _tf32(case: MmaCase) -> Outcome:
    if case.a.dtype != "float32":
        return None
    return refused("element-type", "NotImplementedError", "Unsupported input element type: tf32", "a")
