"""The rules of `plgpu.async_store_smem`, in the order of JAX's checks (jax/_src/pallas/mosaic_gpu/primitives.py)."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.target import JaxVersion, Semantics
from . import async_store_operands as given
from . import async_store_transfer as sent
from . import async_store_views as views
from .rule import Answer, Rule
from .view import CallView

API = ("async_store_smem",)
#: Further calls that take a barrier.
BARRIERS = ("copy_gmem_to_smem", "barrier_arrive", "barrier_wait", "barrier_test", "barrier_arrive_and_wait")
PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
CORE = "jax/_src/pallas/mosaic_gpu/core.py"
LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
_STORE = f"{PRIMITIVES}, _async_store_smem_lowering"
_FRAGMENTED = "jax/experimental/mosaic/gpu/fragmented_array.py, FragmentedArray.store_tiled_async"
_VIEW = f"{CORE}, UntilingTransform.commute_ndindexer"
_TILE_TEXT = (
    "Every lane of the warpgroup stores its registers with `st.async`, 4 or 8 bytes at a time, and the receiving "
    "barrier counts the bytes. The value "
    "therefore fills whole tiles of a register layout (WGMMA: 64x8 elements of 16 or 32 bits; WGMMA_8BIT: 64x16; "
    "WGMMA_UPCAST_4X: 64x32 of 4 bits), and "
    "every store that lowers is a multiple of 512 bytes. Padding to the next multiple of 128 bytes alone is refused "
    "at the next check."
)


def _rule(
    id: str,
    summary: str,
    order: int,
    check: Callable[[CallView], Answer],
    source: str,
    text: str,
    *,
    since: JaxVersion | None = None,
    semantics: Semantics | None = None,
    warpgroup_order: int | None = None,
    apis: tuple[str, ...] = API,
) -> Rule:
    return Rule(
        id, summary, apis, order, check, source, text, since, semantics=semantics, warpgroup_order=warpgroup_order
    )


RULES = (
    _rule(
        "async-store-shape",
        "The stored value has the shape of the buffer.",
        90,
        given.shape,
        f"{PRIMITIVES}, _async_store_smem_abstract_eval",
        "An asynchronous store does not broadcast and does not write a part: store to a view (`ref.at[...]`) of "
        "the value's shape.",
    ),
    _rule(
        "async-store-dtype",
        "The stored value has the element type of the buffer.",
        100,
        given.dtype,
        f"{PRIMITIVES}, _async_store_smem_abstract_eval",
        "An asynchronous store does not convert: cast with `.astype` before it.",
    ),
    _rule(
        "async-store-barrier-count",
        "An asynchronous store signals one barrier.",
        110,
        given.single_barrier,
        f"{PRIMITIVES}, _async_store_smem_abstract_eval",
        "`Barrier(num_barriers=n)` is n barriers; the store takes one of them, `barrier.at[slot]`.",
    ),
    _rule(
        "async-store-warp",
        "An asynchronous store is not for code of a single warp.",
        120,
        given.warp_level,
        f"{LOWERING}, lower_jaxpr_to_mosaic_gpu",
        "The value is spread over the 128 lanes of a warpgroup; a single warp does not hold it.",
    ),
    _rule(
        "tiled-slice-step",
        "A tiled buffer is not sliced with a step.",
        130,
        views.strided_view,
        _VIEW,
        "A step would take rows out of the middle of tiles.",
        apis=tuple(views.VIEWED),
    ),
    _rule(
        "tiled-slice",
        "A slice of a tiled buffer starts and ends at whole tiles.",
        131,
        views.slice_of_tiles,
        _VIEW,
        "The tiles are contiguous in memory: a view is made of whole ones. Take another tile size, or slice at its "
        "multiples.",
        apis=tuple(views.VIEWED),
    ),
    _rule(
        "tiled-index",
        "A tiled dimension is not indexed by one position.",
        132,
        views.tile_index,
        _VIEW,
        "One row of a tile is not contiguous with the next. Index dimensions in front of the tiled ones, or take "
        "whole tiles with `pl.ds`.",
        apis=tuple(views.VIEWED),
    ),
    _rule(
        "swizzled-transpose",
        "A swizzled buffer is not stored to through a transposed view.",
        133,
        views.transposed,
        f"{CORE}, UnswizzleRef.commute_transpose",
        "Swizzling permutes the 16-byte units of each row; the transposed view has no rows of that width.",
        semantics=Semantics.LANE,
    ),
    _rule(
        "async-store-elsewhere",
        "The buffer of an asynchronous store is not already a remote reference.",
        190,
        views.elsewhere,
        "jax/experimental/mosaic/gpu/utils.py, get_cluster_ref",
        "`cluster_idx` and `cluster_dim` name the receiving block.",
    ),
    _rule(
        "barrier-view",
        "A barrier is picked by integers.",
        140,
        given.barrier_view,
        f"{PRIMITIVES}, _get_barrier_base_index",
        "A barrier is found by its number: `barrier.at[slot]` with an integer, or a slice without a step.",
        apis=(*API, *BARRIERS),
    ),
    _rule(
        "async-store-cluster-index",
        "cluster_idx is one integer.",
        150,
        given.cluster_index,
        f"{LOWERING}, _as_index",
        "It is the receiving block's position along `cluster_dim`: a Python integer or a traced scalar.",
    ),
    _rule(
        "cluster-axis",
        "cluster_dim is a cluster axis of the kernel.",
        160,
        given.cluster_axis,
        f"{LOWERING}, _resolve_cluster_axis",
        "Blocks reach each other's shared memory only within a cluster. `plgpu.kernel(cluster=..., "
        "cluster_names=...)` names its axes; grid axes do "
        "not count.",
    ),
    _rule(
        "async-store-scalar", "A scalar is not stored asynchronously.", 170, sent.refused("scalar"), _STORE, _TILE_TEXT
    ),
    _rule(
        "async-store-transforms",
        "The buffer of an asynchronous store is tiled and swizzled.",
        180,
        sent.refused("transforms"),
        _STORE,
        "The store writes whole swizzled tiles. Give the buffer `transforms=(plgpu.TilingTransform((8, 8 * s // "
        "bits)), plgpu.SwizzleTransform(s))` with "
        "the widest swizzle s that divides its row.\n\n" + _TILE_TEXT,
    ),
    _rule(
        "async-store-bytes",
        "An asynchronous store sends a multiple of 128 bytes.",
        200,
        sent.bytes_rule,
        _STORE,
        _TILE_TEXT,
    ),
    _rule(
        "async-store-barrier",
        "The barrier of an asynchronous store is a plgpu.Barrier.",
        210,
        sent.refused("barrier"),
        _STORE,
        "The store arrives at a barrier of the receiving block with the number of bytes. A `ClusterBarrier` counts "
        "arrivals of blocks, not bytes.",
    ),
    _rule(
        "async-store-architecture",
        "An asynchronous store needs sm_90 or newer.",
        220,
        sent.refused("architecture"),
        "jax/experimental/mosaic/gpu/utils.py, BarrierRef.arrive_expect_tx",
        "Blocks form clusters, and write to each other's shared memory, since Hopper (sm_90). Which GPU a "
        "kernel is for says its first line "
        "(`# pallas: target sm_80`), a setting, or what it calls.",
        since=JaxVersion(0, 11),
    ),
    _rule(
        "async-store-layout",
        "The stored value's register layout can be stored.",
        230,
        sent.refused("layout", "layout-shape"),
        _FRAGMENTED,
        _TILE_TEXT,
    ),
    _rule(
        "async-store-atomic",
        "Asynchronous atomics work on 32-bit integers.",
        240,
        sent.refused("atomic"),
        "jax/experimental/mosaic/gpu/fragmented_array.py, _store_register_atomic",
        "`red.async` exists for 32-bit integers with add, max, min, and, or, xor.",
    ),
    _rule(
        "async-store-register-width",
        "Each lane stores 4 or 8 bytes at a time.",
        250,
        sent.refused("width"),
        _FRAGMENTED,
        "`st.async` stores 32 or 64 bits. In a layout made for wider elements a lane holds fewer bytes of a narrow "
        "type side by side: take the layout made "
        "for the type (WGMMA_8BIT for 8 bits, WGMMA_UPCAST_4X for 4).",
    ),
)
