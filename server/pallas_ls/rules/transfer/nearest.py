"""The nearest variants of a refused store that the model accepts: what the quick fixes offer.

Nothing here edits or proves anything; a fix still has to show that the edited program keeps its meaning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache

from ...domain.finding import JaxError
from ...domain.layout import RegisterLayout, Splat, Tiled
from ...domain.layout_table import (
    TCGEN05,
    WGMMA,
    WGMMA_8BIT,
    WGMMA_UPCAST_2X,
    WGMMA_UPCAST_4X,
    applicable,
    tmem_native,
)
from ...domain.target import JaxVersion, Semantics
from ...domain.tiling import Shape, tile_shape
from .case import Accepted, StoreCase
from .store import async_store_outcome

SWIZZLES = (128, 64, 32)
#: How many multiples of its smallest step each of the last two dimensions is tried with.
MOST_STEPS = 4
#: The layouts offered for a grown value, the most usual first; the last is for one-dimensional values.
COMMON: tuple[Tiled, ...] = (
    WGMMA,
    WGMMA_8BIT,
    WGMMA_UPCAST_2X,
    WGMMA_UPCAST_4X,
    TCGEN05,
    tmem_native(),
    tmem_native().reduce(1),
)


#: Layouts that are no answer for a value: they belong to copies and operands of matrix multiplications, or are private.
_NOT_FOR_VALUES = ("_", "SMEM_GMEM_COPY", "MMA_", "TMA_INDICES", "TCGEN05_M64")


def is_for_values(layout: object) -> bool:
    """Whether a layout has a name that one would write into a program for a computed value."""
    return isinstance(layout, Tiled) and bool(layout.name) and not layout.name.startswith(_NOT_FOR_VALUES)


class Change(IntEnum):
    """What a candidate changes, from the least to the most."""

    OPTIMIZED = 1
    LAYOUT = 2
    TRANSFORMS = 3
    LAYOUT_AND_TRANSFORMS = 4
    SHAPE = 5
    SHAPE_AND_LAYOUT = 6
    SHAPE_AND_TRANSFORMS = 7
    ALL = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A variant that the model accepts.

    Attributes:
      case: the variant.
      change: what differs from the original.
      added: elements that the grown shape adds.
    """

    case: StoreCase
    change: Change
    added: int = 0


def find_swizzle(minor_bits: int, what: str = "") -> int | JaxError:
    """`plgpu.find_swizzle`: the largest swizzle (bytes) that a row of `minor_bits` bits takes; 16 means none."""
    for swizzle in (128, 64, 32, 16):
        if minor_bits % (swizzle * 8) == 0:
            return swizzle
    of = f" for {what}" if what else ""
    return JaxError(
        "ValueError",
        f"No valid out swizzle{of}: minor dimension has {minor_bits} bits, which is not a multiple of 128 (16 bytes)",
    )


def transforms_error(shape: Shape, bits: int, tiling: Shape | None, swizzle: int | None) -> JaxError | None:
    """What JAX raises while it applies a ref's TilingTransform and SwizzleTransform (jax core.py, `transform_type`).

    `bits`: width of an element, as JAX counts it.
    """
    if swizzle is not None and swizzle not in SWIZZLES:
        return JaxError("ValueError", f"Swizzle {swizzle} is not supported. Only 32, 64 and 128 are accepted.")
    if tiling is not None:
        inner = shape[-len(tiling) :]
        if any(size % tile for size, tile in zip(inner, tiling, strict=False)):
            return JaxError("AssertionError", "")
        counts = (size // tile for size, tile in zip(inner, tiling, strict=False))
        shape = (*shape[: -len(tiling)], *counts, *tiling)
    columns = 0 if swizzle is None else swizzle * 8 // bits
    if swizzle is not None and shape and shape[-1] != columns:
        text = f"Swizzle {swizzle} requires the trailing dimension to be of size {columns}, but got shape: {shape}"
        return JaxError("ValueError", text)
    return None


def nearest(case: StoreCase, limit: int = 8) -> tuple[Candidate, ...]:
    """Up to `limit` variants that the model accepts, those that change least first.

    A store through a view keeps its shape and transforms: both belong to the ref behind it.
    """
    found = [*unoptimized(case), *other_layouts(case)]
    if case.view is None:
        found += [*other_transforms(case), *grown(case)]
    found.sort(key=lambda c: (c.change, c.added, _distance(case, c.case)))
    return tuple(dict.fromkeys(found))[:limit]


def accepted(case: StoreCase) -> bool:
    """Whether the ref can have its transforms and JAX lowers the store."""
    if transforms_error(case.allocated, case.bits, case.tiling, case.swizzle) is not None:
        return False
    if case.source is None and case.semantics is Semantics.WARPGROUP:
        # What the solver may choose for a constant, it may choose for a free value; looking no further is faster.
        case = replace(case, source=Splat(case.shape))
    return isinstance(async_store_outcome(case), Accepted)


def _distance(original: StoreCase, variant: StoreCase) -> tuple[int, int, int]:
    """Prefers the given swizzle and tile height, then the largest swizzle, then the order of the layout table."""
    same_swizzle = variant.swizzle == original.swizzle
    rows = (variant.tiling or (0,))[:-1] != (original.tiling or (0,))[:-1]
    layouts = storable_layouts(variant.shape, variant.register_bits, variant.version)
    rank = layouts.index(variant.source) if isinstance(variant.source, Tiled) and variant.source in layouts else -1
    return (not same_swizzle) + rows, -(variant.swizzle or 0), rank


def unoptimized(case: StoreCase) -> Iterator[Candidate]:
    """The same store with `optimized=False`, where that lowers."""
    variant = replace(case, optimized=False)
    if case.optimized and accepted(variant):
        yield Candidate(variant, Change.OPTIMIZED)


def other_layouts(case: StoreCase) -> Iterator[Candidate]:
    """The same store of a value that is cast to another layout."""
    for variant in _cast(case):
        yield Candidate(variant, Change.LAYOUT)


def other_transforms(case: StoreCase) -> Iterator[Candidate]:
    """The same value stored to a ref with another tiling and swizzle; cast to another layout too where it must be."""
    for tiling, swizzle in fitting_transforms(case.shape, case):
        variant = replace(case, tiling=tiling, swizzle=swizzle)
        if accepted(variant):
            yield Candidate(variant, Change.TRANSFORMS)
        for cast in _cast(variant):
            yield Candidate(cast, Change.LAYOUT_AND_TRANSFORMS)


def _cast(case: StoreCase) -> Iterator[StoreCase]:
    for layout in storable_layouts(case.shape, case.register_bits, case.version):
        variant = replace(case, source=_writable(layout, case))
        if layout != case.source and accepted(variant):
            yield variant


def _writable(layout: Tiled, case: StoreCase) -> Tiled:
    """The layout under a name that can be written in code: a width in it becomes the dtype."""
    return replace(layout, name=layout.name.replace(f"{case.register_bits} bits", f"jnp.{case.dtype}"))


@lru_cache(maxsize=256)
def storable_layouts(shape: Shape, bits: int, version: JaxVersion) -> tuple[Tiled, ...]:
    """The named layouts of `shape` whose registers one instruction can store: 4 or 8 bytes, held by one thread."""
    return tuple(layout for layout in dict.fromkeys(applicable(shape, bits, version)) if _storable(layout, bits))


def _storable(layout: Tiled, bits: int) -> bool:
    return layout.register_bits(bits) in (32, 64) and not layout.replicated


def fitting_transforms(shape: Shape, case: StoreCase) -> Iterator[tuple[Shape, int]]:
    """Tilings with their swizzles that a ref of `shape` can have, other than the given ones: 8 rows a tile first."""
    for swizzle in SWIZZLES:
        columns = 8 * swizzle // case.bits
        rows = dict.fromkeys((8, *(case.tiling or ())[-2:-1]))
        tilings = [(columns,)] if len(shape) == 1 else [(r, columns) for r in rows]
        for tiling in tilings:
            if (tiling, swizzle) != (case.tiling, case.swizzle) and columns and tile_shape((tiling,), shape):
                yield tiling, swizzle


def grown(case: StoreCase) -> Iterator[Candidate]:
    """Larger shapes, nearest first, with the given layout and transforms or, where these cannot stay, others."""
    transforms: list[tuple[Shape, int]] = []
    if case.tiling is not None and case.swizzle is not None:
        transforms.append((case.tiling, case.swizzle))
    transforms += [t for t in _any_transforms(case) if t not in transforms]
    for tiling, swizzle in transforms:
        kept = (tiling, swizzle) == (case.tiling, case.swizzle)
        for source in _sources(case):
            variant = _smallest(replace(case, tiling=tiling, swizzle=swizzle), source)
            if variant is not None:
                added = math.prod(variant.shape) - math.prod(case.shape)
                yield Candidate(variant, _kind(kept, source.same), added)


@dataclass(frozen=True, slots=True)
class _Source:
    """A layout for grown values: its base tile, and itself; None keeps a constant or a free value as it is."""

    base_tile: Shape
    layout: Tiled | None
    same: bool

    def of(self, shape: Shape, original: RegisterLayout | None) -> RegisterLayout | None:
        if self.layout is not None:
            return self.layout
        return Splat(shape) if isinstance(original, Splat) else original


def _sources(case: StoreCase) -> Iterator[_Source]:
    """The value as it is, then cast to the common layouts."""
    if isinstance(case.source, Tiled) and _storable(case.source, case.register_bits):
        yield _Source(case.source.base_tile, case.source, same=True)
    free = case.source is None or isinstance(case.source, Splat)
    for layout in COMMON:
        if not _storable(layout, case.register_bits):
            continue
        if free and case.semantics is Semantics.WARPGROUP:
            yield _Source(layout.base_tile, None, same=True)
        if layout != case.source:
            yield _Source(layout.base_tile, layout, same=False)


def _kind(same_transforms: bool, same_layout: bool) -> Change:
    if same_transforms:
        return Change.SHAPE if same_layout else Change.SHAPE_AND_LAYOUT
    return Change.SHAPE_AND_TRANSFORMS if same_layout else Change.ALL


def _any_transforms(case: StoreCase) -> Iterator[tuple[Shape, int]]:
    for swizzle in SWIZZLES:
        columns = 8 * swizzle // case.bits
        if columns:
            yield ((columns,) if len(case.shape) == 1 else (8, columns)), swizzle


def _smallest(case: StoreCase, source: _Source) -> StoreCase | None:
    """The smallest larger shape that lowers with the source and the case's transforms, growing few dimensions."""
    if case.tiling is None:
        return None
    steps = _steps(case.shape, source.base_tile, case.tiling)
    if steps is None:
        return None
    base = tuple(-(-size // step) * step for size, step in zip(case.shape, steps, strict=True))
    for shape in sorted(_growths(base, steps), key=lambda s: _growth_cost(case.shape, s)):
        variant = replace(case, shape=shape, source=source.of(shape, case.source))
        if shape != case.shape and accepted(variant):
            return variant
    return None


def _growth_cost(old: Shape, new: Shape) -> tuple[int, int]:
    return math.prod(new), sum(a != b for a, b in zip(old, new, strict=True))


def _steps(shape: Shape, base_tile: Shape, tiling: Shape) -> Shape | None:
    """What each dimension must be a multiple of; None where the ranks do not allow it."""
    if max(len(base_tile), len(tiling)) > len(shape):
        return None
    padded = ((1,) * (len(shape) - len(tile)) + tile for tile in (base_tile, tiling))
    return tuple(math.lcm(*pair) for pair in zip(*padded, strict=True))


def _growths(base: Shape, steps: Shape) -> Iterator[Shape]:
    """The base and what lies a few steps above it in the last two dimensions."""
    for rows in range(MOST_STEPS if len(base) > 1 else 1):
        for columns in range(MOST_STEPS):
            grown = list(base)
            grown[-1] += columns * steps[-1]
            if len(base) > 1:
                grown[-2] += rows * steps[-2]
            yield tuple(grown)
