"""How the elements of an array are spread over the registers of a warpgroup. Plain data; JAX is never imported.

A warpgroup has 128 lanes (4 warps of 32). A `Tiled` layout cuts the array by a multi-level tiling and says which of
the resulting dimensions select the warp, the lane, and the elements of one register (the vector). The layouts that
`plgpu.Layout` names are in `layout_table`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from .tiling import Shape, Tiles, applies, canonical, comes_from, round_up, tile_shape, without_dimension

WARPGROUP_SIZE = 128
WARP_SIZE = 32
WARPS = 4


@dataclass(frozen=True, slots=True)
class Replicated:
    """A warp or lane dimension along which `times` threads hold the same elements."""

    times: int


LayoutDim = int | Replicated


@dataclass(frozen=True, slots=True)
class Tiled:
    """A layout derived from a tiling (JAX: `TiledLayout`). Two are equal whatever they are called.

    Attributes:
      tiles: the multi-level tiling; `tiles[0]` is the base tile that must divide the array's trailing dimensions.
      warp_dims, lane_dims: major to minor; negative indices into the shape after tiling, or `Replicated`.
      vector_dim: negative index of the dimension whose elements share a register.
      name: as the user writes it ("WGMMA", "WGMMA.reduce(0)").
    """

    tiles: Tiles
    warp_dims: tuple[LayoutDim, ...]
    lane_dims: tuple[LayoutDim, ...]
    vector_dim: int
    name: str = field(default="TILED", compare=False)

    @property
    def base_tile(self) -> Shape:
        """The shape that must divide the trailing dimensions of an array in this layout."""
        return self.tiles[0]

    @property
    def tiled_base(self) -> Shape:
        """The base tile after all tiles: every tiled array's shape ends with it."""
        base = self.base_tile
        tiled = tile_shape(self.tiles, base)
        if tiled is None:
            raise ValueError(f"{self.name}: tiles {self.tiles} do not divide each other")
        return tiled[len(base) :]

    @property
    def vector_length(self) -> int:
        """Elements in one register."""
        return self.tiled_base[self.vector_dim]

    @property
    def replicated(self) -> bool:
        """Whether several threads hold the same elements."""
        return any(isinstance(d, Replicated) for d in (*self.warp_dims, *self.lane_dims))

    @property
    def partitioned_dims(self) -> tuple[int, ...]:
        """The tiled dimensions that select warp, lane or vector element."""
        return (*(d for d in (*self.warp_dims, *self.lane_dims) if isinstance(d, int)), self.vector_dim)

    def applies_to(self, shape: Shape) -> bool:
        """Whether an array of `shape` can have this layout."""
        return applies(self.tiles, shape)

    def registers(self, shape: Shape) -> int | None:
        """Registers (vectors) a thread holds for an array of `shape`, or None where the layout does not apply."""
        tiled = tile_shape(self.tiles, shape)
        if tiled is None:
            return None
        total = math.prod(tiled)
        for dim in self.partitioned_dims:
            total //= self.tiled_base[dim]
        return total

    def register_bits(self, bits: int) -> int:
        """Width of one register vector of elements of `bits` bits."""
        return self.vector_length * bits

    def smallest_shape(self, shape: Shape) -> Shape | None:
        """The smallest shape that is not smaller than `shape` in any dimension and has this layout; None: rank."""
        rank = len(self.base_tile)
        if len(shape) < rank:
            return None
        grown = (round_up(size, tile) for size, tile in zip(shape[-rank:], self.base_tile, strict=True))
        return (*shape[:-rank], *grown)

    def reduce(self, axes: int | tuple[int, ...]) -> Tiled:
        """The layout of the array reduced over `axes` of the base tile (JAX: `TiledLayout.reduce`).

        Raises ValueError where an axis is not one of the base tile.
        """
        axes = (axes,) if isinstance(axes, int) else axes
        layout = self
        for axis in sorted(axes, reverse=True):
            layout = _remove_dimension(layout, axis)
        shown = axes[0] if len(axes) == 1 else axes
        return replace(layout, name=f"{self.name}.reduce({shown})")


def _remove_dimension(layout: Tiled, dim: int) -> Tiled:
    if not 0 <= dim < len(layout.base_tile):
        raise ValueError(f"Dimension {dim} is out of range for {layout.name}")
    tiles = without_dimension(layout.tiles, dim)
    base = layout.tiled_base
    removed = comes_from(layout.tiles, dim)
    # How many removed dimensions stand at or behind each dimension, counted from the end.
    rank = len(removed)
    shift = {i - rank: sum(removed[i:]) for i in range(rank)}
    vector = layout.vector_dim
    extra = 0
    if removed[vector]:
        tiles, extra, new_vector = (*tiles, (1,)), 1, -1
    else:
        new_vector = vector + shift[vector]

    def moved(d: LayoutDim) -> LayoutDim:
        if isinstance(d, Replicated):
            return d
        return Replicated(base[d]) if removed[d] else d + shift[d] - extra

    warps = tuple(moved(d) for d in layout.warp_dims)
    lanes = tuple(moved(d) for d in layout.lane_dims)
    return canonical_layout(Tiled(tiles, warps, lanes, new_vector, layout.name))


def canonical_layout(layout: Tiled) -> Tiled:
    """The same layout with a canonical tiling, its dimension indices moved accordingly."""
    tiles = canonical(layout.tiles)
    old = layout.tiled_base
    new = Tiled(tiles, (), (), -1).tiled_base
    # Match the new dimensions to the old ones from the end; what does not match was dropped.
    dropped: list[bool] = []
    left = len(new) - 1
    for size in reversed(old):
        keep = left >= 0 and size == new[left]
        dropped.append(not keep)
        left -= keep
    shift = {-i - 1: sum(dropped[: i + 1]) for i in range(len(old))}

    def moved(dims: tuple[LayoutDim, ...]) -> tuple[LayoutDim, ...]:
        nontrivial = (d for d in dims if isinstance(d, Replicated) or old[d] != 1)
        return tuple(d if isinstance(d, Replicated) else d + shift[d] for d in nontrivial)

    vector = layout.vector_dim + shift[layout.vector_dim]
    return Tiled(tiles, moved(layout.warp_dims), moved(layout.lane_dims), vector, layout.name)


@dataclass(frozen=True, slots=True)
class Strided:
    """The flattened array dealt out in turns, `vec` elements a thread (JAX: `WGStridedFragLayout`)."""

    shape: Shape
    vec: int

    @property
    def name(self) -> str:
        return "WG_STRIDED"

    def applies_to(self, shape: Shape) -> bool:
        return shape == self.shape and math.prod(shape) % (self.vec * WARPGROUP_SIZE) == 0


@dataclass(frozen=True, slots=True)
class Splat:
    """One value in all elements, a register a thread (JAX: `WGSplatFragLayout`)."""

    shape: Shape

    @property
    def name(self) -> str:
        return "WG_SPLAT"

    def applies_to(self, shape: Shape) -> bool:
        return shape == self.shape


RegisterLayout = Tiled | Strided | Splat
