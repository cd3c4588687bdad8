"""The rules of copies between GMEM and SMEM and of prefetches, in the order of JAX's checks."""

from __future__ import annotations

from ..domain.target import JaxVersion, Semantics
from . import copy_architecture as architecture
from . import copy_gather as gather
from . import copy_operands as given
from . import copy_window as window
from .rule import Check, Rule

LOAD, STORE, PREFETCH = "copy_gmem_to_smem", "copy_smem_to_gmem", "async_prefetch"
BOTH, ALL = (LOAD, STORE), (LOAD, STORE, PREFETCH)
PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
_LOAD = f"{PRIMITIVES}, _copy_gmem_to_smem_lowering"
_ASYNC = "jax/experimental/mosaic/gpu/launch_context.py, LaunchContext.async_copy"
_TMA = "jax/experimental/mosaic/gpu/launch_context.py, LaunchContext._prepare_tma"
_BOX_TEXT = (
    "TMA copies a box of an array in GMEM: up to five dimensions of up to 256 elements, rows of whole 16 bytes, and "
    "every "
    "dimension but the last one of the array with a stride of whole 16 bytes. Where the buffer is tiled, the box is "
    "counted in tiles."
)


def _rule(
    id: str,
    summary: str,
    apis: tuple[str, ...],
    order: int,
    check: Check,
    source: str,
    text: str,
    semantics: Semantics | None = None,
    **versions: object,
) -> Rule:
    return Rule(id, summary, apis, order, check, source, text, semantics=semantics, **versions)  # pyright: ignore


RULES = (
    _rule(
        "copy-reference",
        "A copy takes references, not values.",
        ALL,
        60,
        given.references,
        "jax/_src/state/primitives.py, get_ref_and_transforms",
        "Operands and buffers are passed as the kernel's body receives them, or as views of them (`ref.at[...]`). "
        "`ref[...]` loads: it gives an array.",
    ),
    _rule(
        "leader-axes",
        "leader_tracked goes with collective_axes.",
        (LOAD, PREFETCH),
        64,
        given.leader_axes,
        f"{PRIMITIVES}, copy_gmem_to_smem",
        "`leader_tracked` has the first block of a cluster axis count a copy that several blocks make together; "
        "`collective_axes` names the axis.",
    ),
    _rule(
        "copy-memory-space",
        "A copy goes between GMEM and SMEM.",
        ALL,
        70,
        given.memory_space,
        f"{PRIMITIVES}, _check_ref",
        "`copy_gmem_to_smem(src, dst, barrier)` reads an operand of the kernel and writes a scratch buffer; "
        "`copy_smem_to_gmem(src, dst)` goes the other way; `async_prefetch(ref)` reads an operand.",
    ),
    _rule(
        "copy-dtype",
        "Both sides of a copy have one element type.",
        BOTH,
        90,
        given.element_type,
        f"{PRIMITIVES}, _copy_gmem_to_smem_abstract_eval, _copy_smem_to_gmem_abstract_eval",
        "TMA copies bytes: it does not convert. Allocate the buffer with the operand's type, and convert what is "
        "loaded "
        "from it.",
    ),
    _rule(
        "copy-shape",
        "Both sides of a copy have one shape.",
        BOTH,
        95,
        given.shape,
        f"{PRIMITIVES}, _copy_gmem_to_smem_abstract_eval, _copy_smem_to_gmem_abstract_eval",
        "A copy does not broadcast and takes no part by itself: name the part with `ref.at[pl.ds(start, size), ...]` "
        "and "
        "the stage of a buffer with `buffer.at[slot]`.",
    ),
    _rule(
        "collective-axis",
        "collective_axes are cluster axes of the kernel.",
        (LOAD, PREFETCH),
        160,
        given.collective_axis,
        f"{LOWERING}, _resolve_cluster_axis",
        "Blocks copy together within a cluster. `plgpu.kernel(cluster=..., cluster_names=...)` names its axes; grid "
        "axes do "
        "not count.",
    ),
    _rule(
        "copy-whole-bytes",
        "A copy moves whole bytes.",
        (LOAD,),
        170,
        given.whole_bytes,
        _LOAD,
        "Elements of four bits and booleans are packed: what is copied fills whole bytes.",
    ),
    _rule(
        "leader-cluster",
        "A copy that one block counts is shared by a pair of blocks.",
        (LOAD, PREFETCH),
        175,
        given.leader_cluster,
        _LOAD,
        "With `leader_tracked`, the first of two blocks counts the bytes of both. The two are the last axis of the "
        "cluster, of size 2.",
    ),
    _rule(
        "copy-architecture",
        "A copy signals a barrier since Hopper, and none before.",
        (LOAD,),
        180,
        architecture.barrier,
        _LOAD,
        "Since Hopper (sm_90) `copy_gmem_to_smem` is done by TMA, which counts bytes at a barrier. Before, it is "
        "`cp.async`: "
        "without a barrier, without out-of-bounds handling (`oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS`), and "
        "waited for "
        "with `wait_gmem_to_smem`. Which GPU a kernel is for says its first line (`# pallas: target sm_80`), a "
        "setting, or "
        "what it calls.",
    ),
    _rule(
        "operand-view",
        "The GMEM side of a copy is a slice.",
        ALL,
        185,
        given.operand_view,
        f"{PRIMITIVES}, _extract_gmem_copy_params",
        "TMA finds the elements of a box by strides of the operand as it lies in GMEM. A reshaped, transposed or "
        "recast view "
        "of it cannot be copied.",
    ),
    _rule(
        "copy-computed-step",
        "A slice with a step starts at a constant and is sliced once.",
        ALL,
        187,
        given.first_of(given.slice_of_steps, window.refused("copy-computed-step")),
        f"{LOWERING}, merge_indexers, _ndindexer_indices",
        "`pl.ds(start, size, step)` with a computed start, or a slice of a slice with a step, has no lowering.",
    ),
    _rule(
        "copy-bytes",
        "Under Lane semantics a copy moves a multiple of 128 bytes.",
        (LOAD,),
        200,
        given.counted_bytes,
        _LOAD,
        "Each of the 128 threads of a warpgroup arrives at the barrier and counts one 128th of the bytes. Pad the "
        "block, "
        "or use Warpgroup semantics (the default since JAX 0.11), where one thread counts all of them.",
        Semantics.LANE,
    ),
    _rule(
        "copy-barrier",
        "The barrier of a copy is a plgpu.Barrier.",
        (LOAD,),
        210,
        given.barrier_kind,
        _LOAD,
        "A copy arrives with its number of bytes, which a `plgpu.Barrier` counts. A `ClusterBarrier` counts arrivals "
        "of "
        "blocks; a data buffer counts nothing.",
    ),
    _rule(
        "one-barrier",
        "An operation on a barrier names one.",
        (LOAD, "barrier_arrive", "barrier_wait", "barrier_test", "barrier_arrive_and_wait"),
        215,
        given.one_barrier,
        "jax/experimental/mosaic/gpu/utils.py, BarrierRef.get_ptr",
        "`Barrier(num_barriers=n)` is n barriers, one a slot of a pipeline; an operation takes one of them, "
        "`barrier.at[slot]`.",
    ),
    _rule(
        "copy-gather",
        "A gather or scatter picks rows of a matrix by unsigned indices in a TMA layout.",
        ALL,
        217,
        gather.check,
        _ASYNC,
        "TMA gathers (and scatters) four rows of a two-dimensional operand at a time. Their positions are unsigned "
        "integers "
        "in registers, in `plgpu.Layout.TMA_INDICES` or `TMA_INDICES_4`; a row has at most 256 elements, and four of "
        "them "
        "fill whole 128 bytes. It takes no predicate and no cluster, and prefetches do not gather.",
    ),
    _rule(
        "copy-transforms",
        "A swizzled buffer is tiled, too.",
        BOTH,
        218,
        window.refused("copy-transforms"),
        "jax/experimental/mosaic/gpu/layout_inference.py",
        "The solver of Warpgroup semantics knew tilings with or without a swizzle, but no swizzle alone.",
        Semantics.WARPGROUP,
        until=JaxVersion(0, 10, 2),
    ),
    _rule(
        "offset-divisible",
        "Under Warpgroup semantics a tiled copy starts at whole tiles.",
        BOTH,
        219,
        window.refused("offset-divisible"),
        "jax/experimental/mosaic/gpu/layout_inference.py, _async_load_store_constraint_system",
        "Where the buffer is tiled, the slices of both sides are made of whole tiles. A start that is computed is "
        "proved to "
        "be a multiple of the tile by its form (`i * tile`) or by `pl.multiple_of(start, tile)`.",
        Semantics.WARPGROUP,
    ),
    _rule(
        "copy-reduction",
        "TMA has the reduction for the element type.",
        (STORE,),
        220,
        window.refused("copy-reduction"),
        "jax/experimental/mosaic/gpu/launch_context.py, _is_tma_reduction_op_supported",
        "`add` takes f16, bf16, f32 and 32- and 64-bit integers; `min` and `max` f16 and bf16; `umin`, `umax`, "
        "`smin`, `smax`, "
        "`and`, `or`, `xor` 32- and 64-bit integers; `inc` and `dec` 32-bit integers.",
    ),
    _rule(
        "copy-step",
        "Under Lane semantics a copy takes no slice with a step.",
        ALL,
        225,
        window.refused("copy-step"),
        "jax/experimental/mosaic/gpu/utils.py, parse_indices",
        "A box has neighbouring elements. Copy the rows one by one, or the whole and pick from the buffer. Warpgroup "
        "semantics drop the step without a word.",
        Semantics.LANE,
    ),
    _rule(
        "copy-partition",
        "A partitioned axis is divisible by the number of blocks.",
        (LOAD, PREFETCH),
        230,
        window.refused("copy-partition"),
        "jax/experimental/mosaic/gpu/launch_context.py, LaunchContext._prepare_async_copy",
        "`CopyPartition.PARTITIONED(axis)` gives each block an equal part of the axis.",
    ),
    _rule(
        "operand-tiling",
        "The tile of a buffer divides the operand, too.",
        BOTH,
        240,
        window.refused("operand-tiling"),
        "jax/experimental/mosaic/gpu/launch_context.py, TileTransform.apply",
        "TMA writes a tiled buffer by seeing the operand in tiles. A dimension of the operand that is longer than "
        "the tile "
        "is a multiple of it.",
    ),
    _rule("tma-rank", "A copy has at most five dimensions.", ALL, 245, window.refused("tma-rank"), _TMA, _BOX_TEXT),
    _rule(
        "collective-split",
        "Blocks that copy together share the leading dimensions evenly.",
        (LOAD, PREFETCH),
        250,
        window.refused("collective-split"),
        _TMA,
        "A multicast copy is cut into as many parts as there are blocks: along the first dimensions of the box, one "
        "after "
        "the other, the last one only where there is no swizzle.",
    ),
    _rule(
        "tma-strides",
        "Rows of the operand begin at multiples of 16 bytes.",
        ALL,
        255,
        window.refused("tma-strides"),
        "jax/experimental/mosaic/gpu/launch_context.py, LaunchContext._check_tma_strides_and_swizzle",
        _BOX_TEXT,
    ),
    _rule(
        "tma-row",
        "A row of a copy is a multiple of 16 bytes.",
        ALL,
        260,
        window.refused("tma-row"),
        "jax/experimental/mosaic/gpu/launch_context.py, LaunchContext._check_tma_strides_and_swizzle",
        _BOX_TEXT,
    ),
    _rule(
        "smem-contiguous",
        "A copied part of a buffer lies in one piece.",
        BOTH,
        265,
        window.refused("smem-contiguous"),
        _ASYNC,
        "TMA fills shared memory from a start on without gaps. Columns of an untiled buffer have gaps between their "
        "rows.",
    ),
    _rule(
        "tma-box",
        "A copy has at most 256 elements in each dimension.",
        BOTH,
        270,
        window.refused("tma-box"),
        _ASYNC,
        f"{_BOX_TEXT} A contiguous copy without swizzle, reduction and cluster needs no box: `copy_smem_to_gmem`, and "
        "`copy_gmem_to_smem` where `oob_mode` is not `ZEROS`, which is its default.",
    ),
    _rule(
        "tma-element",
        "TMA has a type for the elements.",
        ALL,
        275,
        window.refused("tma-element"),
        "jax/experimental/mosaic/gpu/launch_context.py, _tma_dma_type",
        "Booleans are one bit in Mosaic GPU's types, and TMA has none of that width. Hold them as int8.",
    ),
    _rule(
        "smem-transposed",
        "A copy does not transpose.",
        BOTH,
        280,
        window.refused("smem-transposed"),
        "jax/experimental/mosaic/gpu/launch_context.py, LaunchContext._get_tma_desc",
        "The last dimension of a box lies in one piece in GMEM and in shared memory.",
    ),
)
