"""The variants that quick fixes offer: nearest first, and each of them lowers."""

from __future__ import annotations

import random
from dataclasses import replace
from types import ModuleType

import pytest

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.layout import Splat
from pallas_ls.domain.layout_table import WGMMA, tmem_native
from pallas_ls.domain.target import MEASURED, Semantics
from pallas_ls.rules.transfer.case import Accepted, Sliced, StoreCase, View
from pallas_ls.rules.transfer.nearest import Candidate, Change, find_swizzle, nearest, transforms_error
from pallas_ls.rules.transfer.store import async_store_outcome

from .generate import random_case

LANE, WARPGROUP = Semantics.LANE, Semantics.WARPGROUP
TILE = StoreCase((64, 64), 16, "bfloat16", WGMMA, (8, 64), 128, WARPGROUP)


def first(case: StoreCase, change: Change) -> Candidate:
    return next(c for c in nearest(case, limit=50) if c.change is change)


def test_a_tail_of_48_floats_fills_the_tile_of_a_row_layout() -> None:
    case = replace(TILE, shape=(48,), bits=32, dtype="float32", source=Splat((48,)), tiling=(16,), swizzle=64)
    best = nearest(case)[0]
    assert (best.change, best.case.shape, best.added) == (Change.SHAPE_AND_LAYOUT, (128,), 80)
    assert best.case.source == tmem_native().reduce(1)
    assert best.case.source.name == "TCGEN05_TMEM_NATIVE.reduce(1)"


def test_rows_are_rounded_to_the_layouts_tile_and_columns_stay() -> None:
    best = first(replace(TILE, shape=(48, 64)), Change.SHAPE)
    assert (best.case.shape, best.case.tiling, best.case.swizzle) == ((64, 64), (8, 64), 128)


def test_a_constant_stays_a_constant_under_warpgroup_semantics() -> None:
    best = first(replace(TILE, shape=(48, 64), source=Splat((48, 64))), Change.SHAPE)
    assert best.case.source == Splat((64, 64))


def test_a_tiling_that_does_not_divide_is_fitted_with_its_swizzle() -> None:
    best = nearest(replace(TILE, shape=(64, 96)))[0]
    assert (best.change, best.case.tiling, best.case.swizzle) == (Change.TRANSFORMS, (8, 32), 64)


def test_missing_transforms_are_added() -> None:
    best = nearest(replace(TILE, tiling=None, swizzle=None, semantics=LANE))[0]
    assert (best.change, best.case.tiling, best.case.swizzle) == (Change.TRANSFORMS, (8, 64), 128)


def test_the_layout_for_narrow_elements_is_offered() -> None:
    narrow = replace(TILE, bits=8, dtype="int8", tiling=(8, 64), swizzle=64)
    assert nearest(narrow)[0].case.source.name == "WGMMA_8BIT"


def test_bank_conflicts_may_be_allowed() -> None:
    case = replace(TILE, shape=(128, 64), source=tmem_native())
    assert nearest(case)[0].change is Change.OPTIMIZED
    assert not nearest(case)[0].case.optimized
    assert nearest(case)[1].case.source.name == "WGMMA"


def test_a_view_keeps_its_shape_and_transforms() -> None:
    row = replace(TILE, shape=(1, 64), source=Splat((1, 64)), tiling=(1, 64), semantics=LANE)
    row = replace(row, view=View((8, 64), (Sliced(1, 1), Sliced(64))))
    assert all(c.case.view == row.view and c.case.tiling == row.tiling for c in nearest(row))


@pytest.mark.parametrize("seed", range(30))
def test_every_candidate_is_accepted_and_sorted(seed: int) -> None:
    rng = random.Random(seed)
    case = random_case(rng, rng.choice(MEASURED))
    found = nearest(case)
    assert [c.change for c in found] == sorted(c.change for c in found)
    for candidate in found:
        variant = candidate.case
        assert variant != case
        assert transforms_error(variant.allocated, variant.bits, variant.tiling, variant.swizzle) is None
        assert isinstance(async_store_outcome(variant), Accepted)
        assert all(new >= old for new, old in zip(variant.shape, case.shape, strict=True))


def test_the_installed_jax_lowers_what_is_offered(live: ModuleType) -> None:
    rng = random.Random(3)
    offered = [c.case for _ in range(12) for c in nearest(random_case(rng, live.VERSION), limit=3)]
    # A free value is loaded from another ref here, which may forbid what the store alone allows.
    known = [case for case in offered if case.source is not None]
    assert len(known) >= 8
    assert {case: verdict for case in known if (verdict := live.verdict(case)) != Accepted()} == {}


@pytest.mark.parametrize(
    ("bits", "swizzle"), [(1024, 128), (512, 64), (256, 32), (128, 16), (768, 32), (3 * 1024, 128)]
)
def test_find_swizzle(bits: int, swizzle: int) -> None:
    assert find_swizzle(bits) == swizzle


def test_find_swizzle_agrees_with_jax(live: ModuleType) -> None:
    for bits in (64, 128, 200, 256, 384, 512, 1024, 1536):
        for what in ("", "lhs"):
            try:
                theirs: int | JaxError = live.plgpu.find_swizzle(bits, what)
            except ValueError as error:
                theirs = JaxError("ValueError", str(error))
            assert find_swizzle(bits, what) == theirs


def test_transforms_that_do_not_fit_are_refused_in_jaxs_words() -> None:
    assert transforms_error((64, 96), 16, (8, 64), 128) == JaxError("AssertionError", "")
    assert transforms_error((64, 64), 16, (8, 32), 128) == JaxError(
        "ValueError", "Swizzle 128 requires the trailing dimension to be of size 64, but got shape: (8, 2, 8, 32)"
    )
    assert transforms_error((64, 64), 16, (8, 64), 16) == JaxError(
        "ValueError", "Swizzle 16 is not supported. Only 32, 64 and 128 are accepted."
    )
    assert transforms_error((64, 64), 16, (8, 64), 128) is None
