"""What async_store_smem refuses, one readable case a check, in JAX's words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.layout import Splat, Strided
from pallas_ls.domain.layout_table import (
    TCGEN05,
    TMA_INDICES,
    TMA_INDICES_4,
    WGMMA,
    WGMMA_8BIT,
    WGMMA_TRANSPOSED,
    WGMMA_UPCAST_4X,
    m64_collective,
    tmem_native,
)
from pallas_ls.domain.target import MEASURED, Semantics
from pallas_ls.rules.transfer.case import Accepted, BarrierKind, Sliced, StoreCase, Undecided, View
from pallas_ls.rules.transfer.store import async_store_outcome

V10, V11, V12 = MEASURED
LANE, WARPGROUP = Semantics.LANE, Semantics.WARPGROUP
BOTH = pytest.mark.parametrize("semantics", list(Semantics), ids=lambda s: s.value)

#: A store that lowers everywhere.
GOOD = StoreCase((64, 64), 16, "float16", WGMMA, (8, 64), 128, LANE)
#: One that meets the byte rule under Warpgroup semantics: 32 bytes, in a layout that repeats them in all warps.
FEW_BYTES = replace(GOOD, shape=(8,), bits=32, dtype="float32", source=WGMMA.reduce(0), tiling=(8,), swizzle=32)


def said(case: StoreCase) -> str:
    outcome = async_store_outcome(case)
    if isinstance(outcome, JaxError):
        return f"{outcome.type}: {outcome.message}"
    return "OK" if isinstance(outcome, Accepted) else "undecided"


@BOTH
@pytest.mark.parametrize("version", MEASURED, ids=str)
def test_a_tile_of_wgmma_is_accepted(semantics: Semantics, version) -> None:
    assert async_store_outcome(replace(GOOD, semantics=semantics, version=version)) == Accepted(WGMMA)


@BOTH
def test_scalars(semantics: Semantics) -> None:
    scalar = replace(GOOD, shape=(), source=Splat(()), tiling=None, swizzle=None, semantics=semantics)
    assert said(scalar) == "NotImplementedError: Scalars are not supported in async_store_smem"


class TestLane:
    @pytest.mark.parametrize(("tiling", "swizzle"), [(None, None), ((8, 64), None), (None, 128)])
    def test_needs_both_transforms(self, tiling, swizzle) -> None:
        case = replace(GOOD, tiling=tiling, swizzle=swizzle)
        assert said(case) == "NotImplementedError: async_store_smem requires a tiled and swizzled ref"

    @pytest.mark.parametrize("shape", [(1, 16), (3, 16)])
    def test_byte_rule_comes_before_the_layout(self, shape) -> None:
        case = replace(GOOD, shape=shape, source=Splat(shape), tiling=(1, 16), swizzle=32)
        assert said(case) == "NotImplementedError: Transfer is not a multiple of 128 bytes"
        assert said(replace(case, source=None)) == said(case)

    def test_unknown_layouts_are_undecided_unless_all_are_refused(self) -> None:
        assert isinstance(async_store_outcome(replace(GOOD, source=None)), Undecided)
        few = replace(GOOD, shape=(8, 64), source=None)
        assert said(few) == "NotImplementedError: WGStridedFragLayout(shape=(8, 64), vec_size=4)"

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"source": Splat((64, 64))}, "NotImplementedError: WGSplatFragLayout(shape=(64, 64))"),
            ({"source": Strided((64, 64), 2)}, "NotImplementedError: WGStridedFragLayout(shape=(64, 64), vec_size=2)"),
            ({"source": WGMMA.reduce(1)}, "NotImplementedError: Replicated dimensions are not supported"),
            (
                {"source": WGMMA_TRANSPOSED},
                "UnsupportedTransferError: Tiled strides must be a multiple of the vector length, except for the load "
                "vectorized dimension",
            ),
            (
                {"source": WGMMA_TRANSPOSED, "version": V10},
                "ValueError: Tiled strides must be a multiple of the vector length, except for the vector dimension",
            ),
            (
                {"shape": (128, 64), "source": tmem_native()},
                "TransferPlanDerivationError: Failed to synthesize a transfer pattern that avoids bank conflicts",
            ),
            ({"shape": (128, 64), "source": tmem_native(), "optimized": False}, "OK"),
            ({"source": WGMMA_UPCAST_4X}, "NotImplementedError: Unsupported register bitwidth: 128"),
            ({"atomic": "add"}, "NotImplementedError: f16/bf16 not supported for async atomics"),
            ({"arch": (8, 0)}, "NotImplementedError: arrive_expect_tx is only supported on Hopper+ hardware"),
            ({"arch": (8, 0), "version": V10}, "OK"),
            (
                {"barrier": BarrierKind.CLUSTER},
                "AttributeError: 'CollectiveBarrierRef' object has no attribute 'remap_to_cluster'",
            ),
        ],
    )
    def test_checks_of_the_registers(self, change, message) -> None:
        assert said(replace(GOOD, **change)) == message

    def test_a_layout_that_does_not_fit_is_refused_as_its_cast_is(self) -> None:
        case = replace(GOOD, shape=(48, 64))
        assert said(case) == f"ValueError: Tiling {WGMMA.tiles} does not apply to shape (48, 64)"

    def test_a_tiling_of_higher_rank_than_the_ref(self) -> None:
        row = replace(GOOD, shape=(128,), bits=32, dtype="float32", source=tmem_native().reduce(1), tiling=(8, 32))
        assert said(row) == ("ValueError: Tiling rank for reference of shape [16, 8, 32] must be at most 1")

    def test_eight_bit_registers(self) -> None:
        narrow = replace(GOOD, bits=8, dtype="int8", tiling=(8, 128), swizzle=128, shape=(64, 128))
        assert said(narrow) == "NotImplementedError: Unsupported register bitwidth: 16"
        assert said(replace(narrow, source=WGMMA_8BIT)) == "OK"

    def test_atomics_of_integers(self) -> None:
        ints = replace(GOOD, bits=32, dtype="int32", tiling=(8, 32), atomic="mul")
        assert said(ints) == "OK"
        assert said(replace(ints, dtype="float32")) == "NotImplementedError: f32 not supported for async atomics"

    def test_slices_keep_the_strides_of_their_ref(self) -> None:
        half = View((128, 64), (Sliced(64, 64), Sliced(64)))
        assert said(replace(GOOD, view=half)) == "OK"
        one = View((3, 64, 64), (None, Sliced(64), Sliced(64)))
        assert said(replace(GOOD, view=one)) == "OK"


class TestWarpgroup:
    @pytest.mark.parametrize(
        ("version", "message"),
        [
            (V12, "NotImplementedError: Transfer of 32 bytes is not divisible by 128"),
            (V11, "NotImplementedError: Transfer of 256 bits is not divisible by 1024"),
            (V10, "NotImplementedError: Transfer of 256 bits is not divisible by 1024"),
        ],
    )
    def test_byte_rule(self, version, message) -> None:
        assert said(replace(FEW_BYTES, semantics=WARPGROUP, version=version)) == message

    def test_a_constant_takes_the_layout_that_fits(self) -> None:
        case = replace(GOOD, source=Splat((64, 64)), semantics=WARPGROUP)
        assert async_store_outcome(case) == Accepted(WGMMA)
        wide = replace(case, shape=(128, 64), source=Splat((128, 64)), arch=(10, 0))
        assert async_store_outcome(wide) == Accepted(TCGEN05)

    @pytest.mark.parametrize(("version", "lowers"), [(V10, False), (V11, True), (V12, True)])
    def test_a_constant_of_rank_three(self, version, lowers: bool) -> None:
        shape = (2, 64, 64)
        case = replace(GOOD, shape=shape, source=Splat(shape), semantics=WARPGROUP, version=version)
        assert isinstance(async_store_outcome(case), Accepted) == lowers

    def test_the_solver_gives_transforms_to_a_ref_without(self) -> None:
        bare = replace(GOOD, tiling=None, swizzle=None, semantics=WARPGROUP)
        assert said(bare) == "OK"
        assert said(replace(bare, source=Splat((64, 64)))).startswith("ValueError: Failed to infer a possible set")

    def test_a_conflict_is_named_since_0_12(self) -> None:
        case = replace(GOOD, shape=(128, 64), source=tmem_native(), semantics=WARPGROUP)
        assert said(case) == (
            "ValueError: Failed to infer a possible set of layouts: no optimized SMEM <-> registers transfer plan "
            "could be synthesized for register layout TCGEN05_TMEM_NATIVE and ref with transforms "
            "(TilingTransform((8, 64)), SwizzleTransform(128))"
        )
        assert "should only happen" in said(replace(case, version=V11))
        assert said(replace(case, optimized=False)) == "OK"

    @pytest.mark.parametrize(("version", "lowers"), [(V10, True), (V11, False), (V12, False)])
    def test_a_tiling_alone(self, version, lowers: bool) -> None:
        case = replace(GOOD, swizzle=None, semantics=WARPGROUP, version=version)
        assert isinstance(async_store_outcome(case), Accepted) == lowers

    def test_a_swizzle_alone(self) -> None:
        case = replace(GOOD, tiling=None, semantics=WARPGROUP)
        assert said(case) == "ValueError: not enough values to unpack (expected 1, got 0)"
        assert said(replace(case, version=V10)) == (
            "NotImplementedError: Unsupported transforms [<SwizzlingMode.k128ByteSwizzle: 128>]"
        )

    def test_indices_that_all_threads_hold_leave_nothing_to_align(self) -> None:
        case = replace(FEW_BYTES, shape=(4,), source=TMA_INDICES_4, tiling=None, swizzle=None, semantics=WARPGROUP)
        assert said(case).startswith("ZeroDivisionError")
        assert said(replace(case, shape=(16,), source=TMA_INDICES)).startswith("ValueError: not enough values")

    @pytest.mark.parametrize("kind", [BarrierKind.CLUSTER, BarrierKind.DATA])
    def test_barriers_of_another_kind(self, kind: BarrierKind) -> None:
        assert said(replace(GOOD, barrier=kind, semantics=WARPGROUP)) == "AssertionError: "

    def test_atomics_that_do_not_exist(self) -> None:
        case = replace(GOOD, atomic="mul", semantics=WARPGROUP)
        assert said(case) == "ValueError: 'mul' is not a valid AtomicOpType"

    def test_a_value_of_unknown_layout_is_refused_only_if_no_layout_would_do(self) -> None:
        # All layouts that fit 3 rows repeat elements in several threads, which no store takes.
        few = replace(GOOD, shape=(3, 5), source=None, tiling=None, swizzle=None, semantics=WARPGROUP)
        assert said(few).startswith("ValueError: Failed to infer a possible set of layouts.")
        # f8 in WGMMA layout is refused, in WGMMA_8BIT it lowers: other operations may decide for the latter.
        narrow = replace(GOOD, bits=8, dtype="float8_e4m3fn", shape=(64, 128), tiling=(8, 128), semantics=WARPGROUP)
        assert isinstance(async_store_outcome(replace(narrow, source=None)), Undecided)

    def test_a_slice_at_an_unknown_offset_cuts_the_tile(self) -> None:
        unknown = View((128, 64), (Sliced(64, 1), Sliced(64)))
        known = View((128, 64), (Sliced(64, 8), Sliced(64)))
        case = replace(GOOD, semantics=WARPGROUP)
        assert said(replace(case, view=unknown)).startswith("ValueError: Failed to infer a possible set of layouts.")
        assert said(replace(case, view=known)) == "OK"
        assert said(replace(GOOD, view=unknown)) == "OK"


@BOTH
def test_a_tile_of_one_column_may_need_a_smaller_swizzle(semantics: Semantics) -> None:
    layout = m64_collective(32)
    assert not isinstance(layout, JaxError)
    case = replace(GOOD, shape=(128, 32), bits=32, dtype="float32", source=layout, tiling=(8, 32), semantics=semantics)
    assert not isinstance(async_store_outcome(case), Accepted)
    assert isinstance(async_store_outcome(replace(case, tiling=(8, 8), swizzle=32)), Accepted)
