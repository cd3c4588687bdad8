"""What JAX raises for one `plgpu.async_store_smem` with concrete data, from its check for scalars on.

Mirrors `_async_store_smem_lowering` (jax/_src/pallas/mosaic_gpu/primitives.py), the layout solver behind it under
Warpgroup semantics (see `solver`), and `FragmentedArray.store_tiled_async` (fragmented_array.py), check by check and in
their order. Everything before (keywords, memory spaces, shapes, dtypes, views that cannot be taken) is not decided
here.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ...domain.finding import JaxError
from ...domain.layout import WARPGROUP_SIZE, RegisterLayout, Splat, Tiled
from ...domain.layout_table import applicable, jax_repr, strided_for
from ...domain.target import Semantics
from . import solver
from .behaviour import behaviour
from .case import Accepted, BarrierKind, Outcome, StoreCase, Undecided
from .geometry import allocated_ref
from .mlir import mlir_type
from .plan import Plan, SmemRef, Unmodelled, plan_transfer

ATOMICS = ("add", "max", "min", "and", "or", "xor")


def async_store_outcome(case: StoreCase) -> Outcome:
    """JAX's error, or that it lowers, or that the data does not decide."""
    if not case.shape:
        return JaxError("NotImplementedError", "Scalars are not supported in async_store_smem")
    if case.semantics is Semantics.LANE:
        return _lane(case)
    return _warpgroup(case)


def _lane(case: StoreCase) -> Outcome:
    if case.tiling is None or case.swizzle is None:
        return JaxError("NotImplementedError", "async_store_smem requires a tiled and swizzled ref")
    refused = _lane_bytes(case) or _lane_barrier(case) or _architecture(case)
    if refused is not None:
        return refused
    if _indexes_tile(case, case.tiling):
        return Undecided("a tiled dimension is indexed by an integer")
    ref = allocated_ref(case, case.tiling)
    if case.source is None:
        usual = strided_for(case.shape, case.register_bits, case.version) or Splat(case.shape)
        return _refused_in_all_layouts(case, store_registers(case, usual, ref, case.swizzle))
    return store_registers(case, case.source, ref, case.swizzle)


def _lane_bytes(case: StoreCase) -> JaxError | None:
    bits = math.prod(case.shape) * case.bits
    if bits % 8:
        text = f"Can only transfer integer bytes (shape={case.shape}, dtype={case.dtype})"
        return JaxError("ValueError", text)
    if bits // 8 % WARPGROUP_SIZE:
        return JaxError("NotImplementedError", f"Transfer is not a multiple of {WARPGROUP_SIZE} bytes")
    return None


def _lane_barrier(case: StoreCase) -> JaxError | None:
    if case.barrier is BarrierKind.BARRIER:
        return None
    cluster = case.barrier is BarrierKind.CLUSTER
    owner = "CollectiveBarrierRef" if cluster else behaviour(case.version).op_result
    return JaxError("AttributeError", f"'{owner}' object has no attribute 'remap_to_cluster'")


def _architecture(case: StoreCase) -> JaxError | None:
    if case.arch[0] < 9 and behaviour(case.version).checks_architecture:
        return JaxError("NotImplementedError", "arrive_expect_tx is only supported on Hopper+ hardware")
    return None


def _indexes_tile(case: StoreCase, tiling: tuple[int, ...]) -> bool:
    return case.view is not None and any(part is None for part in case.view.index[-len(tiling) :])


def _warpgroup(case: StoreCase) -> Outcome:
    if case.barrier is not BarrierKind.BARRIER:
        return JaxError("AssertionError", "")
    if case.atomic is not None and case.atomic not in ATOMICS:
        return JaxError("ValueError", f"'{case.atomic}' is not a valid AtomicOpType")
    if case.source is None:
        return _any_source(case)
    return _solved(case)


def _any_source(case: StoreCase) -> Outcome:
    """A value whose layout the solver may choose: what it would choose freely, unless other operations forbid that.

    Refused only where no layout that has a name would do.
    """
    free = _solved(case)
    return _refused_in_all_layouts(case, free) if isinstance(free, JaxError) else free


def _refused_in_all_layouts(case: StoreCase, likely: Outcome) -> Outcome:
    """The likely refusal if no tiled layout with a name can be stored either, else undecided."""
    for layout in applicable(case.shape, case.register_bits, case.version):
        if not isinstance(async_store_outcome(replace(case, source=layout)), JaxError):
            return Undecided("the value's register layout is not known")
    return likely


def _solved(case: StoreCase) -> Outcome:
    solution = solver.solve(case)
    if not isinstance(solution, solver.Solution):
        return solution
    if solution.tiling is None:
        return JaxError("ValueError", "not enough values to unpack (expected 1, got 0)")
    refused = _warpgroup_bytes(case) or _architecture(case)
    if refused is not None:
        return refused
    return store_registers(case, solution.layout, solution.ref, solution.swizzle)


def _warpgroup_bytes(case: StoreCase) -> JaxError | None:
    bits = math.prod(case.shape) * case.register_bits
    if bits % (8 * WARPGROUP_SIZE) == 0:
        return None
    if behaviour(case.version).bytes_in_bits:
        text = f"Transfer of {bits} bits is not divisible by {8 * WARPGROUP_SIZE}"
    elif bits % 8:
        return JaxError("AssertionError", "")
    else:
        text = f"Transfer of {bits // 8} bytes is not divisible by {WARPGROUP_SIZE}"
    return JaxError("NotImplementedError", text)


def store_registers(case: StoreCase, layout: RegisterLayout, ref: SmemRef, swizzle: int | None) -> Outcome:
    """`FragmentedArray.store_tiled_async`: from the layout of the registers to the instruction that stores one.

    A layout that does not fit the shape is refused as the cast to it is, which no value gets past.
    """
    if not isinstance(layout, Tiled):
        return JaxError("NotImplementedError", jax_repr(layout, case.version))
    if not layout.applies_to(case.shape):
        return JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {case.shape}")
    if layout.replicated:
        return JaxError("NotImplementedError", "Replicated dimensions are not supported")
    plan = plan_transfer(ref, layout, swizzle, case.optimized, behaviour(case.version))
    if isinstance(plan, Unmodelled):
        return Undecided(plan.reason)
    if not isinstance(plan, Plan):
        return plan
    refused = _register_width(case, layout) if case.atomic is None else _atomic(case)
    return refused or Accepted(layout)


def _register_width(case: StoreCase, layout: Tiled) -> JaxError | None:
    width = layout.register_bits(case.register_bits)
    return None if width in (32, 64) else JaxError("NotImplementedError", f"Unsupported register bitwidth: {width}")


def _atomic(case: StoreCase) -> JaxError | None:
    match case.dtype:
        case "float32":
            text = "f32 not supported for async atomics"
        case "float16" | "bfloat16":
            text = "f16/bf16 not supported for async atomics"
        case "int32" | "uint32":
            return None
        case _:
            text = f"Unsupported element type for atomic stores: {mlir_type(case.dtype)}"
    return JaxError("NotImplementedError", text)
