"""Register layouts: the table against the installed JAX's own objects, and what is computed from them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from pallas_ls.domain import layout_table as table
from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.layout import Replicated, Splat, Strided, Tiled
from pallas_ls.domain.target import MEASURED, JaxVersion

from .generate import BITS

V10, V11, V12 = MEASURED


class TestAgainstJax:
    """Each row of the table is what the installed `plgpu.Layout` makes."""

    @pytest.fixture(autouse=True)
    def _jax(self, live: ModuleType) -> None:
        self.live = live

    def theirs(self, make: Callable[[], object]) -> object:
        try:
            return self.live.from_jax(make())
        except Exception as error:  # a refusal is compared as such
            return JaxError(type(error).__name__, str(error))

    @pytest.mark.parametrize("name", table.CONSTANT)
    def test_constant_members(self, name: str) -> None:
        member = getattr(self.live.plgpu.Layout, name)
        layout = table.CONSTANT[name]
        assert self.theirs(member.to_mgpu) == layout
        assert member.to_mgpu().vector_length == layout.vector_length
        for axis in range(len(layout.base_tile)):
            assert self.theirs(member.reduce(axis).to_mgpu) == layout.reduce(axis)
        assert self.theirs(lambda: member.reduce(range(len(layout.base_tile))).to_mgpu()) == layout.reduce(
            tuple(range(len(layout.base_tile)))
        )

    def test_the_members_are_those_of_the_installed_version(self) -> None:
        assert sorted(table.names(self.live.VERSION)) == sorted(member.name for member in self.live.plgpu.Layout)

    @pytest.mark.parametrize("vector", [1, 2, 3, 4, 8, 16])
    def test_tmem_native(self, vector: int) -> None:
        assert self.theirs(lambda: self.live.plgpu.Layout.TCGEN05_TMEM_NATIVE(vector).to_mgpu()) == table.tmem_native(
            vector
        )

    @pytest.mark.parametrize("columns", [8, 16, 32, 48, 64, 256])
    def test_collective(self, columns: int) -> None:
        layouts = self.live.plgpu.Layout
        ours = table.m64_collective(columns, self.live.VERSION)
        assert self.theirs(lambda: layouts.TCGEN05_M64_COLLECTIVE(columns).to_mgpu()) == ours
        for packing in (1, 2, 4, 8, 3):
            ours = table.m64_collective_native(columns, packing, self.live.VERSION)
            native = layouts.TCGEN05_M64_COLLECTIVE_NATIVE(columns, packing)
            assert self.theirs(native.to_mgpu) == ours

    @pytest.mark.parametrize("swizzle", [32, 64, 128])
    @pytest.mark.parametrize("dtype", ["int4", "int8", "float16", "float32"])
    def test_smem_gmem_copy(self, dtype: str, swizzle: int) -> None:
        for shape in ((64, 64), (32, 128), (8, 256), (24, 64), (128, 16), (64, 512)):
            member = self.live.plgpu.Layout.SMEM_GMEM_COPY(shape, getattr(self.live.jnp, dtype), swizzle)
            assert self.theirs(member.to_mgpu) == table.smem_gmem_copy(shape, BITS[dtype], swizzle)

    @pytest.mark.parametrize("role", ["LHS", "RHS", "ACC"])
    def test_mma(self, role: str) -> None:
        if self.live.VERSION < V11:
            pytest.skip("since JAX 0.11")
        for dtype, bits in ((self.live.jnp.int8, 8), (self.live.jnp.float16, 16), (self.live.jnp.float32, 32)):
            for warps in (1, 2, 4):
                member = getattr(self.live.plgpu.Layout, f"MMA_{role}")(dtype, m_warps=warps)
                assert self.theirs(member.to_mgpu) == table.mma_operand(role, bits, warps)

    def test_printed_names(self) -> None:
        for layout in (*table.CONSTANT.values(), table.WGMMA.reduce(0), table.WGMMA.reduce(1), Strided((256,), 2)):
            theirs = self.live.to_jax(layout).to_mgpu()
            assert table.jax_repr(layout, self.live.VERSION) == str(theirs)
            assert self.live.printed(theirs) in (None, table.jax_name(layout, self.live.VERSION))


@pytest.mark.parametrize(
    ("layout", "shape", "registers", "vector"),
    [
        (table.WGMMA, (64, 64), 16, 2),
        (table.WGMMA_8BIT, (64, 64), 8, 4),
        (table.WGMMA_UPCAST_4X, (64, 64), 4, 8),
        (table.TCGEN05, (128, 8), 4, 2),
        (table.WGMMA.reduce(1), (64,), 2, 1),
        (table.TMA_INDICES, (64,), 4, 4),
        (table.WGMMA, (48, 64), None, 2),
    ],
)
def test_registers_a_thread(layout: Tiled, shape: tuple[int, ...], registers: int | None, vector: int) -> None:
    assert layout.registers(shape) == registers
    assert layout.vector_length == vector
    assert layout.register_bits(16) == 16 * vector


@pytest.mark.parametrize(
    ("layout", "shape", "smallest"),
    [
        (table.WGMMA, (48, 64), (64, 64)),
        (table.WGMMA, (2, 65, 3), (2, 128, 8)),
        (table.TCGEN05, (64, 64), (128, 64)),
        (table.tmem_native().reduce(1), (48,), (128,)),
        (table.WGMMA, (64,), None),
    ],
)
def test_smallest_shape(layout: Tiled, shape: tuple[int, ...], smallest: tuple[int, ...] | None) -> None:
    assert layout.smallest_shape(shape) == smallest
    assert smallest is None or layout.applies_to(smallest)


def test_reduced_layouts_replicate_what_was_reduced() -> None:
    assert table.WGMMA.reduce(0).warp_dims == (Replicated(4),)
    assert table.WGMMA.reduce(0).replicated
    assert not table.tmem_native().reduce(1).replicated
    assert table.WGMMA.reduce(1).name == "WGMMA.reduce(1)"


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("WGMMA", (), table.WGMMA),
        ("TCGEN05_TMEM_NATIVE", (), table.tmem_native()),
        ("TCGEN05_TMEM_NATIVE", (4,), table.tmem_native(4)),
        ("WG_STRIDED", ((256,), 2), Strided((256,), 2)),
        ("WG_SPLAT", ((3,),), Splat((3,))),
        ("SMEM_GMEM_COPY", ((64, 64), 16, 128), table.smem_gmem_copy((64, 64), 16, 128)),
        ("TCGEN05_M64_COLLECTIVE", (), None),
        ("SMEM_GMEM_COPY", ("shape", 16, 128), None),
    ],
)
def test_members_by_name(name: str, args: tuple[object, ...], expected: object) -> None:
    assert table.instantiate(name, V12, args) == expected


def test_members_that_a_version_lacks() -> None:
    assert isinstance(table.instantiate("MMA_ACC", V11, (16,)), Tiled)
    missing = table.instantiate("MMA_ACC", V10, (16,))
    assert isinstance(missing, JaxError)
    assert missing.type == "AttributeError"


@pytest.mark.parametrize(
    ("shape", "bits", "version", "expected"),
    [
        ((256,), 32, V12, Strided((256,), 2)),
        ((128,), 32, V12, Strided((128,), 1)),
        ((48,), 32, V12, None),
        ((256,), 4, V12, Strided((256,), 2)),
        ((256,), 4, V10, None),
        ((128,), 4, V12, None),
        ((3, 128), 16, V12, Strided((3, 128), 3)),
    ],
)
def test_strided_layout_that_jax_picks(
    shape: tuple[int, ...], bits: int, version: JaxVersion, expected: Strided | None
) -> None:
    assert table.strided_for(shape, bits, version) == expected
