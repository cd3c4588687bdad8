"""Properties of tiling arithmetic, and agreement with JAX's own Tiling."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pallas_ls.domain import tiling

SIZES = st.integers(1, 3)
#: The first example imports JAX, which takes seconds.
unhurried = settings(deadline=None)


@st.composite
def tiled_shapes(draw: st.DrawFn) -> tuple[tiling.Tiles, tiling.Shape]:
    """Tiles of decreasing rank in which each divides the one before, and a shape that the first divides."""
    rank = draw(st.integers(1, 3))
    tile = tuple(draw(SIZES) * draw(st.sampled_from((1, 2, 4))) for _ in range(rank))
    shape = tuple(size * draw(SIZES) for size in tile)
    shape = (*(draw(SIZES) for _ in range(draw(st.integers(0, 1)))), *shape)
    tiles = [tile]
    while draw(st.booleans()) and len(tiles) < 4:
        inner = tiles[-1][-draw(st.integers(1, len(tiles[-1]))) :]
        tiles.append(tuple(draw(st.sampled_from(divisors(size))) for size in inner))
    return tuple(tiles), shape


def divisors(size: int) -> list[int]:
    return [d for d in range(1, size + 1) if size % d == 0]


@unhurried
@given(tiled_shapes())
def test_tiling_keeps_the_number_of_elements(case: tuple[tiling.Tiles, tiling.Shape]) -> None:
    tiles, shape = case
    tiled = tiling.tile_shape(tiles, shape)
    assert tiled is not None
    assert math.prod(tiled) == math.prod(shape)


@unhurried
@given(tiled_shapes())
def test_tiled_strides_reach_every_element_once(case: tuple[tiling.Tiles, tiling.Shape]) -> None:
    tiles, shape = case
    tiled = tiling.tile_shape(tiles, shape)
    assert tiled is not None
    strides = tiling.tile_strides(tiles, tiling.contiguous_strides(shape))
    offsets = {0}
    for size, stride in zip(tiled, strides, strict=True):
        offsets = {offset + i * stride for offset in offsets for i in range(size)}
    assert offsets == set(range(math.prod(shape)))


@unhurried
@given(tiled_shapes())
def test_canonical_tilings_keep_the_order_of_elements(case: tuple[tiling.Tiles, tiling.Shape]) -> None:
    tiles, shape = case
    canonical = tiling.canonical(tiles)
    assert tiling.canonical(canonical) == canonical
    assert nontrivial(tiles, shape) == nontrivial(canonical, shape)


def nontrivial(tiles: tiling.Tiles, shape: tiling.Shape) -> list[tuple[int, int]]:
    """Sizes above 1 with their strides: what decides which element comes where."""
    tiled = tiling.tile_shape(tiles, shape)
    assert tiled is not None
    strides = tiling.tile_strides(tiles, tiling.contiguous_strides(shape))
    return [(size, stride) for size, stride in zip(tiled, strides, strict=True) if size > 1]


@unhurried
@given(tiled_shapes())
def test_nested_tiling_of_a_plain_array_is_tiling(case: tuple[tiling.Tiles, tiling.Shape]) -> None:
    tiles, shape = case
    strides = tiling.contiguous_strides(shape)
    nested = tiling.tile_nested(tiles, tuple((s,) for s in shape), tuple((s,) for s in strides))
    assert nested is not None
    assert tuple(math.prod(part) for part in nested.shape) == tiling.tile_shape(tiles, shape)


@unhurried
@given(tiled_shapes())
def test_agrees_with_jax(case: tuple[tiling.Tiles, tiling.Shape]) -> None:
    fa = pytest.importorskip("jax.experimental.mosaic.gpu.fragmented_array")
    tiles, shape = case
    theirs = fa.Tiling(tiles)
    strides = tiling.contiguous_strides(shape)
    assert tiling.tile_shape(tiles, shape) == theirs.tile_shape(shape)
    assert tiling.tile_strides(tiles, strides) == theirs.tile_strides(strides)
    assert tiling.canonical(tiles) == theirs.canonicalize().tiles
    nested = tuple(((s,) if s % 2 else (2, s // 2)) for s in shape)
    steps = tuple(((d,) if s % 2 else (d * s // 2, d)) for s, d in zip(shape, strides, strict=True))
    ours = tiling.tile_nested(tiles, nested, steps)
    try:
        expected = theirs.tile_nested_shape_strides(nested, steps)
    except ValueError:
        expected = None
    assert (ours and (ours.shape, ours.strides)) == expected
    for dim in range(len(tiles[0])):
        assert tiling.comes_from(tiles, dim) == theirs.tile_dimension(dim)
        if len(tiles[0]) > 1:
            assert tiling.without_dimension(tiles, dim) == theirs.remove_dimension(dim).tiles


def test_a_tile_that_leaves_a_remainder_does_not_apply() -> None:
    assert tiling.tile_shape(((8, 64),), (64, 96)) is None
    assert tiling.tile_shape(((8, 64),), (64,)) is None


@pytest.mark.parametrize(
    ("strides", "tile", "stored"),
    [
        ((64, 1), (8, 64), (512, 512, 64, 1)),
        ((64, 1), (8, 32), (512, 256, 32, 1)),
        ((128, 1), (8, 64), (1024, 512, 64, 1)),
        ((1, 64), (64, 8), (512, 512, 1, 64)),
        ((4096, 64, 1), (8, 64), (4096, 512, 512, 64, 1)),
    ],
)
def test_strides_in_memory_order_tile_after_tile(
    strides: tiling.Shape, tile: tiling.Shape, stored: tiling.Shape
) -> None:
    assert tiling.stored_strides(strides, tile) == stored


def test_strides_that_a_tile_cuts_are_refused_in_jaxs_words() -> None:
    assert tiling.stored_strides((65, 1), (8, 64)) == (
        "Stride 65 is not divisible by 64 (tile size = 64). Strides: (65, 1), tiling: (8, 64)"
    )
