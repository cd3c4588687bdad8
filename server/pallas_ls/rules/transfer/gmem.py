"""Whether registers in a tiled layout are loaded from, or stored to, global memory in whole sectors and cache lines.

Mirrors `plan_gmem_transfer` (jax/experimental/mosaic/gpu/fragmented_array.py), which JAX has since 0.12. Before, no
transfer with global memory counts as optimized.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...domain.finding import JaxError
from ...domain.layout import Tiled
from ...domain.tiling import NestedTiling, Shape
from .plan import Axes, Plan, PlanResult, axes_of, ndindex, plan_error, tile_axes

SECTOR_BYTES = 32
SECTORS_PER_LINE = 4
#: Bytes that one instruction moves for a thread, at most.
WIDEST = 16


def plan_with_gmem(tiled: NestedTiling, layout: Tiled, bits: int) -> PlanResult:
    """The plan of an optimized transfer, or JAX's refusal. `bits`: width of an element."""
    width = layout.register_bits(bits) // 8
    if width > WIDEST:
        return plan_error("GMEM transfer with per-thread vector length > 16 bytes is inefficient")
    if width.bit_count() != 1:
        return plan_error("GMEM transfer with non-power-of-2 byte length is inefficient")
    tiles, warps = tile_axes(tiled, layout), axes_of(tiled, layout.warp_dims)
    lanes = [offset * bits // 8 for offset in _offsets(axes_of(tiled, layout.lane_dims))]
    tiles, width = _vectorized(tiles, lanes, layout.vector_length, width)
    if width < 4:
        return plan_error(f"GMEM transfer width ({width} bytes/thread) is smaller than 4 bytes")
    steps = [(n, s) for a in (tiles, warps) for n, s in zip(a.sizes, a.strides, strict=True) if n > 1 and s]
    return _coalesced(lanes, width, [(n, s * bits // 8) for n, s in steps]) or Plan()


def _offsets(axes: Axes) -> Iterable[int]:
    return (sum(i * s for i, s in zip(index, axes.strides, strict=True)) for index in ndindex(axes.sizes))


def _vectorized(tiles: Axes, lanes: list[int], length: int, width: int) -> tuple[Axes, int]:
    """What is left where LLVM joins a thread's neighbouring registers into one instruction, and its bytes."""
    moving = [d for d, (n, s) in enumerate(zip(tiles.sizes, tiles.strides, strict=True)) if n > 1 and s > 0]
    minor = min(moving, key=lambda d: (tiles.strides[d], -d), default=None)
    if minor is None or tiles.strides[minor] != length:
        return tiles, width
    count = tiles.sizes[minor]
    factor = min(max(1, WIDEST // width), count & -count)
    while factor > 1:
        if all(lane % (width * factor) == 0 for lane in lanes):
            sizes = _with(tiles.sizes, minor, count // factor)
            strides = _with(tiles.strides, minor, tiles.strides[minor] * factor)
            return Axes(sizes, strides), width * factor
        factor //= 2
    return tiles, width


def _with(values: Shape, at: int, value: int) -> Shape:
    return (*values[:at], value, *values[at + 1 :])


def _coalesced(lanes: list[int], width: int, steps: list[tuple[int, int]]) -> JaxError | None:
    """The refusal where a warp leaves parts of a sector, or all warps parts of a cache line, untouched.

    `steps`: (count, bytes) of the dimensions that tiles and warps run over.
    """
    slots = {lane // width for lane in lanes}
    per_sector = SECTOR_BYTES // width
    sectors = {slot // per_sector for slot in slots}
    if len(slots) != len(sectors) * per_sector:
        return plan_error("GMEM transfer does not access a whole number of complete 32 byte sectors")
    if any(step % SECTOR_BYTES for _, step in steps):
        return plan_error("GMEM transfer stride is not aligned to 32B sector size")
    for count, step in steps:
        sectors = {sector + i * step // SECTOR_BYTES for sector in sectors for i in range(count)}
    lines = {sector // SECTORS_PER_LINE for sector in sectors}
    if len(sectors) != len(lines) * SECTORS_PER_LINE:
        return plan_error("GMEM transfer does not access a whole number of complete 128 byte cache lines")
    return None
