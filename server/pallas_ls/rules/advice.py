"""What would lower, for messages: transforms that fit a buffer, and the store that lies near a refused one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from ..domain.layout import Tiled
from .transfer.case import StoreCase
from .transfer.nearest import (
    SWIZZLES,
    Candidate,
    Change,
    grown,
    is_for_values,
    other_layouts,
    other_transforms,
    unoptimized,
)

#: Rows of a tile that wgmma and TMA work with.
TILE_ROWS = 8


def fitting_transforms(shape: tuple[int, ...], bits: int) -> tuple[tuple[int, ...], int] | None:
    """The usual tiling of a buffer and the widest swizzle (bytes) for it; None where no swizzle divides its row."""
    if len(shape) == 0 or (len(shape) > 1 and shape[-2] % TILE_ROWS):
        return None
    for swizzle in SWIZZLES:
        columns = swizzle * 8 // bits
        if columns and shape[-1] % columns == 0:
            return ((columns,) if len(shape) == 1 else (TILE_ROWS, columns)), swizzle
    return None


def rounded_to_tiles(shape: tuple[int, ...], bits: int) -> tuple[int, ...]:
    """The next larger shape that `fitting_transforms` serves, with the narrowest swizzle."""
    columns = SWIZZLES[-1] * 8 // bits
    return rounded(shape, (TILE_ROWS, columns)[-len(shape) :])


def rounded(shape: tuple[int, ...], tile: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with its last dimensions rounded up to whole tiles. The tile has no more dimensions than the shape."""
    steps = (1,) * (len(shape) - len(tile)) + tile
    return tuple(-(-size // step) * step for size, step in zip(shape, steps, strict=True))


def show_transforms(tiling: tuple[int, ...], swizzle: int) -> str:
    """Transforms as one writes them."""
    return f"plgpu.TilingTransform({tiling}) and plgpu.SwizzleTransform({swizzle})"


@lru_cache(maxsize=512)
def lowering_variant(case: StoreCase) -> Candidate | None:
    """A variant of a refused store that lowers, or None.

    It is the first that the search meets, not the best of all: messages are made at every keystroke.
    """
    return next((c for c in _variants(case) if c.case.source == case.source or is_for_values(c.case.source)), None)


def _variants(case: StoreCase) -> Iterator[Candidate]:
    """A store through a view keeps its shape and transforms: both belong to the buffer behind it."""
    as_it_is = chain(unoptimized(case), other_layouts(case))
    if case.view is not None:
        return as_it_is
    changed = chain(other_transforms(case), grown(case))
    # Without a tiling or a swizzle, optimized=False may lower too, but nobody wants that.
    lacking = case.tiling is None or case.swizzle is None
    return chain(changed, as_it_is) if lacking else chain(as_it_is, changed)


def show_variant(case: StoreCase, variant: Candidate) -> str:
    """What lowers instead of `case`, in words: "float32[128] (512 B) as plgpu.Layout.WGMMA"."""
    new = variant.case
    if variant.change is Change.OPTIMIZED:
        return "optimized=False lowers: it allows bank conflicts."
    parts: list[str] = []
    if new.shape != case.shape:
        parts.append(f"{new.dtype}{list(new.shape)}, {math.prod(new.shape) * new.bits // 8:,} B")
    if isinstance(new.source, Tiled) and new.source != case.source:
        parts.append(f"a value in plgpu.Layout.{new.source.name}")
    if (new.tiling, new.swizzle) != (case.tiling, case.swizzle) and new.tiling is not None and new.swizzle is not None:
        parts.append(f"a buffer with {show_transforms(new.tiling, new.swizzle)}")
    return f"What lowers: {'; '.join(parts)}."
