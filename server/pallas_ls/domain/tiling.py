"""Arithmetic of multi-level tilings, as XLA and Mosaic GPU define them. Plain tuples in, plain tuples out.

A tiling is a tuple of tiles, each applied to the trailing dimensions of what the one before left. Applying the tile
(8, 4) to a shape (..., 64, 16) gives (..., 8, 4, 8, 4): the counts of tiles, then the tile itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Shape = tuple[int, ...]
Tiles = tuple[Shape, ...]
#: A shape (or its strides) whose logical dimensions are each split into physical ones, major to minor.
Nested = tuple[Shape, ...]


def contiguous_strides(shape: Shape) -> Shape:
    """Row-major strides in elements: (8, 4) -> (4, 1)."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def applies(tiles: Tiles, shape: Shape) -> bool:
    """Whether every tile divides the dimensions that it is applied to."""
    return tile_shape(tiles, shape) is not None


def tile_shape(tiles: Tiles, shape: Shape) -> Shape | None:
    """The shape after all tiles, or None where they do not apply (rank too small, or a remainder)."""
    for tile in tiles:
        if len(tile) > len(shape):
            return None
        outer, inner = shape[: -len(tile)], shape[-len(tile) :]
        if any(size % t for size, t in zip(inner, tile, strict=True)):
            return None
        shape = (*outer, *(size // t for size, t in zip(inner, tile, strict=True)), *tile)
    return shape


def tile_strides(tiles: Tiles, strides: Shape) -> Shape:
    """The strides after all tiles, of an array whose memory is not reordered by them."""
    for tile in tiles:
        outer, inner = strides[: -len(tile)], strides[-len(tile) :]
        strides = (*outer, *(s * t for s, t in zip(inner, tile, strict=True)), *inner)
    return strides


def comes_from(tiles: Tiles, dim: int) -> tuple[bool, ...]:
    """For each dimension after tiling the first tile's shape: whether it is a part of `dim` of that shape."""
    marks = tuple(int(i == dim) for i in range(len(tiles[0])))
    for tile in tiles:
        inner = marks[-len(tile) :]
        marks = (*marks[: -len(tile)], *inner, *inner)
    return tuple(bool(mark) for mark in marks)


def without_dimension(tiles: Tiles, dim: int) -> Tiles:
    """The tiling of arrays that lack dimension `dim` of the first tile. Tiles that become empty end it."""
    kept: list[Shape] = []
    rank = len(tiles[0])
    for tile in tiles:
        dim -= rank - len(tile)
        rank = len(tile)
        left = tile[:dim] + tile[dim + 1 :] if dim >= 0 else tile
        if not left:
            break
        kept.append(left)
    return tuple(kept)


def canonical(tiles: Tiles) -> Tiles:
    """The same tiling without tiles that split nothing and without leading 1s in any tile but the first."""
    kept = [tiles[0]]
    for tile in tiles[1:]:
        first = next((i for i, size in enumerate(tile) if size != 1), None)
        trimmed = (1,) if first is None else tile[first:]
        if kept[-1][-len(trimmed) :] != trimmed:
            kept.append(trimmed)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class NestedTiling:
    """A nested array after tiling: sizes and strides (elements) of each dimension's physical parts."""

    shape: Nested
    strides: Nested


def tile_nested(tiles: Tiles, shape: Nested, strides: Nested) -> NestedTiling | None:
    """Tiles an array whose dimensions are already split in memory, or None where a tile cuts across such a split.

    Mirrors `Tiling.tile_nested_shape_strides` (jax/experimental/mosaic/gpu/fragmented_array.py).
    """
    for tile in tiles:
        if len(tile) > len(shape):
            return None
        cut = len(shape) - len(tile)
        split = [_split(t, shape[cut + i], strides[cut + i]) for i, t in enumerate(tile)]
        majors: list[_Part] = []
        minors: list[_Part] = []
        for part in split:
            if part is None:
                return None
            majors.append(part[0])
            minors.append(part[1])
        shape = (*shape[:cut], *(p.sizes for p in majors), *(p.sizes for p in minors))
        strides = (*strides[:cut], *(p.strides for p in majors), *(p.strides for p in minors))
    return NestedTiling(tuple(s or (1,) for s in shape), tuple(s or (1,) for s in strides))


@dataclass(frozen=True, slots=True)
class _Part:
    sizes: Shape
    strides: Shape


def _split(tile: int, sizes: Shape, strides: Shape) -> tuple[_Part, _Part] | None:
    """Splits one nested dimension into the parts above and inside a tile of `tile` elements."""
    major: list[tuple[int, int]] = []
    minor: list[tuple[int, int]] = []
    left = tile
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size < left:
            if left % size:
                return None
            left //= size
            minor.append((size, stride))
        elif left != 1:
            if size % left:
                return None
            minor.append((left, stride))
            if size != left:  # dimensions of size 1 are left out
                major.append((size // left, stride * left))
            left = 1
        else:
            major.append((size, stride))
    return None if left != 1 else (_part(major), _part(minor))


def _part(pairs: list[tuple[int, int]]) -> _Part:
    pairs = pairs[::-1]
    return _Part(tuple(size for size, _ in pairs), tuple(stride for _, stride in pairs))


def stored_strides(strides: Shape, tiling: Shape) -> Shape | str:
    """Strides of a ref in shared memory once `tiling` has reordered it, tile after tile; a text where JAX refuses.

    `strides` are the logical ref's, possibly transposed or those of a slice. Mirrors `tile_strides` of
    jax/experimental/mosaic/gpu/dialect_lowering.py, whose ValueError text is returned where it raises.
    """
    rank = len(tiling)
    if len(strides) < rank:
        return f"Strides {strides} have lower rank than tiling {tiling}"
    outer, inner = strides[:-rank], strides[-rank:]
    if set(sorted(strides)[:rank]) != set(inner):
        return (
            "Can not tile strides when tiled dimensions have been transposed with untiled dimensions. "
            f"Strides: {strides}, tiling: {tiling}"
        )
    pairs = list(zip(inner, tiling, strict=True))
    ordered = sorted(pairs, reverse=True)
    order = [ordered.index(pair) for pair in pairs]
    steps = _tile_steps(ordered, strides, tiling)
    if isinstance(steps, str):
        return steps
    return (*outer, *(steps[i] for i in order), *(steps[rank + i] for i in order))


def _tile_steps(ordered: list[tuple[int, int]], strides: Shape, tiling: Shape) -> Shape | str:
    """Strides of tiles and inside tiles, for dimensions sorted from the largest stride to the smallest."""
    steps = [1]
    for _, tile in reversed(ordered):
        steps.append(steps[-1] * tile)
    previous = ordered[-1][0]
    for (stride, _), (_, tile) in zip(ordered[:-1][::-1], ordered[1:][::-1], strict=True):
        full = previous * tile
        previous = stride
        if stride % full:
            return (
                f"Stride {stride} is not divisible by {full} (tile size = {tile}). Strides: {strides}, tiling: {tiling}"
            )
        steps.append(stride // full * steps[-1])
    return tuple(reversed(steps))


def round_up(size: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is not below `size`."""
    return math.ceil(size / multiple) * multiple if multiple else size
