"""Checks of the view through which a buffer is stored to or copied: whole tiles, no step, no other block."""

from __future__ import annotations

from ..domain.array import Array
from ..domain.finding import JaxError
from ..domain.python import Int
from ..domain.ref import Ds, Elsewhere, Indexed, Permuted, Position, Ref, Swizzle, Tiling
from ..domain.target import JaxVersion, Semantics
from .buffers import transforms_are_sound
from .rule import Answer, Problem, Unsure
from .view import CallView

V11 = JaxVersion(0, 11)
#: The operand of each call that may be a view of a tiled buffer.
VIEWED = {"async_store_smem": "ref", "copy_gmem_to_smem": "dst", "copy_smem_to_gmem": "src"}


def _tiling(v: CallView, ref: Ref) -> tuple[int, ...] | None:
    """The buffer's exact tiling, where its transforms are sound."""
    if isinstance(ref.type.transforms, tuple) and transforms_are_sound(v, ref.type):
        for x in ref.type.transforms:
            if isinstance(x, Tiling) and isinstance(x.tiling, tuple):
                return v.exact_shape(x.tiling)
    return None


def has_swizzle(ref: Ref) -> bool:
    return isinstance(ref.type.transforms, tuple) and any(isinstance(x, Swizzle) for x in ref.type.transforms)


def _tiled_items(v: CallView) -> list[tuple[Indexed, object, int]]:
    """The first index of a tiled buffer, one entry a tiled dimension: (view, item, tile)."""
    ref = v.value(VIEWED[v.fact.api])
    if not isinstance(ref, Ref) or not ref.views or not isinstance(ref.views[0], Indexed):
        return []
    first = ref.views[0]
    tiling = _tiling(v, ref)
    if tiling is None or not isinstance(first.items, tuple) or len(first.items) < len(tiling):
        return []
    return [(first, item, tile) for item, tile in zip(first.items[-len(tiling) :], tiling, strict=True)]


def strided_view(v: CallView) -> Answer:
    """A slice with a step in a tiled dimension."""
    for view, item, _ in _tiled_items(v):
        if isinstance(item, Ds):
            stride = v.exact(item.stride)
            if stride is None:
                return Unsure("a slice's step is not known")
            if stride != 1:
                jax = JaxError("NotImplementedError", f"Strided slices unsupported. Got stride: {stride}")
                return Problem(
                    f"A tiled buffer cannot be sliced with a step ({stride}): its tiles are whole. Slice without "
                    "a step, or put what is picked into a dimension "
                    "of its own, in front of the tiled ones.",
                    jax,
                    view.made.site if view.made else None,
                )
    return None


def slice_of_tiles(v: CallView) -> Answer:
    """A slice of a tiled dimension that does not start and end at whole tiles."""
    for view, item, tile in _tiled_items(v):
        if isinstance(item, Ds):
            start = v.exact(item.start.index if isinstance(item.start, Array) else item.start)
            size = v.exact(item.size)
            if (start is not None and isinstance(item.start, Int) and start % tile) or (
                size is not None and size % tile
            ):
                shown = start if isinstance(item.start, Int) and start is not None else "…"
                jax = JaxError(
                    "ValueError",
                    f"Expected slice start ({shown}) and slice size ({size}) to be divisible by the tile size ({tile})",
                )
                text = (
                    f"The buffer is tiled by {tile} here; a slice starts and ends at whole tiles (start {shown}, size "
                    f"{size}). {_tile_hint(start, size, tile)}"
                )
                return Problem(text, jax, view.made.site if view.made else None)
            if size is None:
                return Unsure("a slice's size is not known")
    return None


def _tile_hint(start: int | None, size: int | None, tile: int) -> str:
    first = (start or 0) // tile * tile
    if size is not None and size % tile:
        return f"Take {-(-size // tile) * tile} of them, or a tiling that divides {size}."
    return f"Start at {first} or {first + tile}."


def tile_index(v: CallView) -> Answer:
    """An integer index in a tiled dimension."""
    for view, item, tile in _tiled_items(v):
        if isinstance(item, Position):
            jax = JaxError(
                "TypeError", "Unsupported index type: <class 'jax._src.interpreters.partial_eval.DynamicJaxprTracer'>"
            )
            text = (
                f"This dimension is tiled by {tile}: take whole tiles (pl.ds), not one position, or index a dimension "
                "in front of the tiled ones."
            )
            return Problem(text, jax, view.made.site if view.made else None)
    return None


def transposed(v: CallView) -> Answer:
    """A transposed view whose last dimension is not the swizzled one."""
    ref = v.value("ref")
    if not isinstance(ref, Ref) or v.semantics is not Semantics.LANE or not has_swizzle(ref):
        return None
    for x in ref.views:
        if (
            isinstance(x, Permuted)
            and isinstance(x.permutation, tuple)
            and x.permutation
            and x.permutation[-1] != len(x.permutation) - 1
        ):
            jax = JaxError("ValueError", "Can't transpose the swizzled dimension.")
            text = (
                "A swizzled buffer cannot be stored to through a transposed view: its rows are permuted in place. "
                "Store to it as it is and read it transposed."
            )
            return Problem(text, jax, x.made.site if x.made else v.site("ref"))
    return None


def elsewhere(v: CallView) -> Answer:
    """A reference that already names another block or device."""
    ref = v.value("ref")
    if not isinstance(ref, Ref):
        return None
    for x in ref.views:
        if isinstance(x, Elsewhere):
            jax = _elsewhere_error(v, x.how)
            if jax is None:
                return Unsure(f"what JAX says of {x.how} here is not known")
            text = (
                "async_store_smem addresses the other block itself (cluster_idx): pass the buffer, not "
                f"plgpu.{x.how}(...)."
            )
            return Problem(text, jax, v.site("ref"))
    return None


def _elsewhere_error(v: CallView, how: str) -> JaxError | None:
    if how != "cluster_ref":
        return None
    if v.semantics is Semantics.LANE:
        return JaxError("ValueError", "Expected SMEM but got: 7 : i32")
    if v.version < V11:
        return JaxError("MLIRError", "Verification failed:")
    report = (
        "Pallas encountered an internal verification error. Please file a bug at "
        "https://github.com/jax-ml/jax/issues/new/choose."
    )
    detail = "'mosaic_gpu.async_store_smem' op The `destination` memref must be in SMEM."
    return JaxError("VerificationError", f"{report} Error details: {detail}")
