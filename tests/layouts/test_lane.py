"""Loads and stores under Lane semantics: chosen ones in the words of JAX's messages, random ones against live JAX."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from types import ModuleType

import pytest

from pallas_ls.domain import layout_table as table
from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.layout import RegisterLayout, Splat, Strided
from pallas_ls.domain.layout_table import WGMMA, WGMMA_8BIT, WGMMA_TRANSPOSED
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.rules.transfer.case import Sliced, StoreCase, Undecided, View
from pallas_ls.rules.transfer.lane import Access, load_layout, store_error

from .generate import BITS, random_access

#: How many of each; more with PALLAS_LS_ACCESSES=N.
COUNT = int(os.environ.get("PALLAS_LS_ACCESSES", "40"))


def smem(shape: tuple[int, ...], dtype: str, tiling: tuple[int, ...] | None = None, **options: object) -> Access:
    """A whole buffer in shared memory, swizzled where it is tiled."""
    swizzle = None if tiling is None else 128
    return Access(StoreCase(shape, BITS[dtype], dtype, None, tiling, swizzle, Semantics.LANE, **options))


def test_plain_buffers_are_loaded_in_turns() -> None:
    assert load_layout(smem((256,), "float32"), None) == Strided((256,), 2)
    assert load_layout(smem((48,), "float32"), None) == JaxError("ValueError", "memref<48xf32")


def test_tiled_buffers_are_loaded_as_wgmma_unless_told_otherwise() -> None:
    whole = smem((64, 64), "float16", (8, 64))
    assert load_layout(whole, None) == WGMMA
    assert load_layout(whole, WGMMA_8BIT) == WGMMA_8BIT
    assert load_layout(smem((48, 64), "float16", (8, 64)), None) == JaxError(
        "ValueError", f"Tiling {WGMMA.tiles} does not apply to shape (48, 64)"
    )


def test_a_slice_of_a_tiled_buffer_is_made_of_whole_layout_tiles_too() -> None:
    case = smem((8, 64), "float16", (8, 64)).case
    part = replace(case, view=View((64, 64), (Sliced(8, 1), Sliced(64))))
    assert load_layout(Access(part), None) == JaxError(
        "ValueError", f"Tiling {WGMMA.tiles} does not apply to shape (8, 64)"
    )


def test_tiles_of_an_untiled_buffer_meet_in_the_same_banks() -> None:
    refused = load_layout(smem((64, 64), "float16"), WGMMA)
    assert isinstance(refused, JaxError)
    assert refused.message == "Failed to synthesize a transfer pattern that avoids bank conflicts"
    assert load_layout(smem((64, 64), "float16", optimized=False), WGMMA) == WGMMA


def test_global_memory_is_read_by_whole_sectors() -> None:
    access = replace(smem((64, 64), "float16"), global_memory=True)
    refused = load_layout(access, WGMMA)
    assert isinstance(refused, JaxError)
    assert "complete 32 byte sectors" in refused.message
    older = load_layout(replace(access, case=replace(access.case, version=JaxVersion(0, 11, 2))), WGMMA)
    assert older == JaxError("NotImplementedError", "Only optimized transfers to SMEM supported")
    wide = replace(smem((64, 256), "float32"), global_memory=True)
    assert load_layout(wide, Strided((64, 256), 2)) == Strided((64, 256), 2)


def test_a_transposed_value_goes_to_a_transposed_buffer() -> None:
    whole = smem((64, 64), "bfloat16", (8, 64))
    refused = store_error(whole, WGMMA_TRANSPOSED)
    assert isinstance(refused, JaxError)
    assert refused.type == "UnsupportedTransferError"
    transposed = View((64, 64), (Sliced(64), Sliced(64)), (1, 0))
    assert store_error(Access(replace(whole.case, view=transposed)), WGMMA_TRANSPOSED) is None


def test_a_constant_is_dealt_out_or_not_stored() -> None:
    assert store_error(smem((256,), "float32"), Splat((256,))) is None
    refused = store_error(smem((48,), "float32"), Splat((48,)))
    assert isinstance(refused, JaxError)
    assert refused.message.startswith("Arrays with the splat layout")
    assert store_error(smem((64, 64), "float16", (8, 64)), Splat((64, 64))) == JaxError(
        "NotImplementedError", "WGSplatFragLayout(shape=(64, 64))"
    )


class TestAgainstJax:
    """Random buffers, views and layouts: JAX's refusal, or that it lowers."""

    @pytest.fixture(autouse=True)
    def _jax(self, live: ModuleType) -> None:
        self.live = live

    def some_layout(self, rng: random.Random, case: StoreCase) -> RegisterLayout:
        tiled = table.applicable(case.shape, case.bits, self.live.VERSION)
        if tiled and rng.random() < 0.75:
            return rng.choice([x for x in tiled if x in (WGMMA, WGMMA_TRANSPOSED)] or tiled)
        if tiled and rng.random() < 0.5:
            return rng.choice(tiled)
        return table.strided_for(case.shape, case.bits, self.live.VERSION) or Splat(case.shape)

    @pytest.mark.parametrize("seed", range(COUNT))
    def test_loads(self, seed: int) -> None:
        rng = random.Random(f"load {seed}")
        access = random_access(rng, self.live.VERSION)
        hint = self.some_layout(rng, access.case) if rng.random() < 0.7 else None
        if isinstance(hint, Splat):
            hint = None
        self.compare(load_layout(access, hint), self.live.access_verdict(access, hint, "load"), access, hint)

    @pytest.mark.parametrize("seed", range(COUNT))
    def test_stores(self, seed: int) -> None:
        rng = random.Random(f"store {seed}")
        access = random_access(rng, self.live.VERSION)
        layout = self.some_layout(rng, access.case)
        self.compare(store_error(access, layout), self.live.access_verdict(access, layout, "store"), access, layout)

    @staticmethod
    def compare(ours: object, theirs: object, access: Access, layout: RegisterLayout | None) -> None:
        if isinstance(ours, Undecided):
            return
        if not isinstance(ours, JaxError):
            assert not isinstance(theirs, JaxError), (access, layout)
            return
        assert isinstance(theirs, JaxError), (ours, access, layout)
        assert theirs.type == ours.type, (theirs, ours, access, layout)
        assert theirs.message.startswith(ours.message), (theirs, ours, access, layout)
