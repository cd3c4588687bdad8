"""The layouts of values under Lane semantics: in the words of JAX's messages, against the installed JAX."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from pallas_ls.domain import layout_table as table
from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.layout import RegisterLayout, Splat, Strided, Tiled
from pallas_ls.domain.layout_table import TCGEN05, WGMMA, WGMMA_8BIT, WGMMA_TRANSPOSED
from pallas_ls.domain.target import NEWEST, Semantics
from pallas_ls.rules.transfer import ops
from pallas_ls.rules.transfer.case import Undecided

from .generate import BITS


def test_elementwise_operations_keep_the_layout_that_is_not_a_splat() -> None:
    splat = Splat((64, 64))
    assert ops.combine(splat, WGMMA) == ops.combine(WGMMA, splat) == ops.combine(WGMMA, WGMMA) == WGMMA
    assert ops.combine(splat, splat) == splat
    assert ops.combine(WGMMA, WGMMA_8BIT) == JaxError("ValueError", "Incompatible FragmentedArray layouts")


def test_reductions() -> None:
    assert ops.reduce(WGMMA, (64, 64), (1,), NEWEST) == WGMMA.reduce(1)
    assert ops.reduce(Strided((256,), 2), (256,), (0,), NEWEST) == Splat(())
    both = ops.reduce(WGMMA, (64, 64), (0, 1), NEWEST)
    assert both == JaxError("NotImplementedError", "Multi-axis reductions not supported")


def test_broadcasts_find_the_layout_that_was_reduced() -> None:
    assert ops.broadcast_in_dim(WGMMA.reduce(1), (64, 32), (0,), NEWEST) == WGMMA
    assert ops.broadcast_in_dim(TCGEN05.reduce(1), (128, 32), (0,), NEWEST, hint=TCGEN05) == TCGEN05


def test_iota_needs_a_layout() -> None:
    missing = ops.iota_layout((64, 64), None)
    assert isinstance(missing, JaxError)
    assert missing.type == "RuntimeError"
    assert ops.iota_layout((64, 64), WGMMA) == WGMMA


class TestAgainstJax:
    """Random operations: the layout that JAX prints at lowering, or its refusal."""

    SHAPES = ((64, 64), (128, 64), (64, 8), (48,), (256,), (128,), (2, 64, 32), (64, 32), (96,), (1, 64), (64, 48))
    DTYPES = ("int8", "float8_e4m3fn", "float16", "bfloat16", "int32", "float32")

    @pytest.fixture(autouse=True)
    def _jax(self, live: ModuleType) -> None:
        self.live = live

    def arrays(self, seed: int, count: int) -> Iterator[tuple[random.Random, tuple[int, ...], str, int]]:
        rng = random.Random(seed)
        for _ in range(count):
            dtype = rng.choice(self.DTYPES)
            yield rng, rng.choice(self.SHAPES), dtype, BITS[dtype]

    def some_layout(self, rng: random.Random, shape: tuple[int, ...], bits: int) -> RegisterLayout:
        tiled = table.applicable(shape, bits, self.live.VERSION)
        if tiled and rng.random() < 0.7:
            return rng.choice(tiled)
        return table.strided_for(shape, bits, self.live.VERSION) or Splat(shape)

    def put(self, layout: RegisterLayout, shape: tuple[int, ...], dtype: str):
        """A constant in a layout."""
        zeros = self.live.jnp.zeros(shape, getattr(self.live.jnp, dtype))
        return zeros if isinstance(layout, Splat) else self.live.plgpu.layout_cast(zeros, self.live.to_jax(layout))

    def check(self, model: ops.LayoutResult, make: Callable[..., object], scratch: Callable[[], list] = list) -> bool:
        """Compares with the layout that JAX prints for what `make` computes; False where the model does not say."""
        if isinstance(model, Undecided):
            return False
        out = io.StringIO()

        def body(_, *refs) -> None:
            self.live.plgpu.print_layout("<{}>", make(*refs))

        with contextlib.redirect_stdout(out):
            verdict = self.live.lower(body, Semantics.LANE, scratch)
        theirs = verdict if isinstance(verdict, JaxError) else out.getvalue().strip()[1:-1]
        ours = model if isinstance(model, JaxError) else table.jax_name(model, self.live.VERSION)
        assert theirs == ours
        return True

    def test_casts(self) -> None:
        live = self.live
        related = [*ops.RELAYOUTS, (WGMMA, table.WGMMA_UPCAST_2X), (table.tmem_native(), table.tmem_native(8))]
        for rng, shape, dtype, bits in self.arrays(2, 40):
            pairs = [pair for pair in related if pair[0].applies_to(shape)]
            old, new = self.some_layout(rng, shape, bits), self.some_layout(rng, shape, bits)
            if pairs and rng.random() < 0.5:
                old, new = rng.choice(pairs)
            if isinstance(old, Splat):
                continue
            value = (old, shape, dtype)
            ours = ops.cast_layout(old, new, shape, bits, live.VERSION)
            self.check(ours, lambda value=value, new=new: live.plgpu.layout_cast(self.put(*value), live.to_jax(new)))

    def test_elementwise_operations(self) -> None:
        for rng, shape, dtype, bits in self.arrays(3, 30):
            a = self.some_layout(rng, shape, bits)
            b = rng.choice((a, self.some_layout(rng, shape, bits)))
            ours = ops.pointwise_error(bits) or ops.combine(a, b)
            values = ((a, shape, dtype), (b, shape, dtype))
            self.check(ours, lambda values=values: self.put(*values[0]) + self.put(*values[1]))

    def test_reductions(self) -> None:
        for rng, shape, dtype, bits in self.arrays(4, 30):
            if bits < 16:
                continue
            layout = self.some_layout(rng, shape, bits)
            axes = rng.choice([axes for axes in ((0,), (1,), (0, 1)) if max(axes) < len(shape)])
            ours = ops.reduce(layout, shape, axes, self.live.VERSION)
            value = (layout, shape, dtype)
            self.check(ours, lambda value=value, axes=axes: self.live.jnp.max(self.put(*value), axis=axes))

    @pytest.mark.parametrize("target", [(64, 32), (128, 64), (128, 8)])
    @pytest.mark.parametrize("layout", [WGMMA, WGMMA_TRANSPOSED, TCGEN05, table.tmem_native()], ids=lambda x: x.name)
    @pytest.mark.parametrize("kept", [0, 1])
    def test_broadcasts(self, layout: Tiled, target: tuple[int, ...], kept: int) -> None:
        reduced = layout.reduce(1 - kept)
        shape = (target[kept],)
        if not reduced.applies_to(shape):
            pytest.skip("the layout does not fit")
        ours = ops.broadcast_in_dim(reduced, target, (kept,), self.live.VERSION)
        jax = self.live.jax
        self.check(ours, lambda: jax.lax.broadcast_in_dim(self.put(reduced, shape, "float32"), target, (kept,)))
