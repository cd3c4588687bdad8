"""Values whose register layout JAX has to guess: what is refused, and what any further use leaves open."""

from __future__ import annotations

import textwrap

import pytest

from pallas_ls.domain.target import NEWEST

from ..oracle.answers import findings

KERNEL = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILED = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))

def body(o, small, block, other):
{body}

f = plgpu.kernel(
    body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((8,), jnp.float32), plgpu.SMEM((32, 64), jnp.float32, transforms=TILED),
        plgpu.SMEM((32, 64), jnp.float32)],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Warpgroup))
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
"""
REFUSED = {
    "fewer than 128 elements": "small[...] = small[...] + 1",
    "half a tile": "block[...] = block[...] * 2",
    "computed in steps": "x = block[...]\ny = jnp.exp(x)\nblock[...] = jnp.maximum(x, y)",
    "printed on the way": "x = small[...]\nplgpu.print_layout('{}', x)\nsmall[...] = x",
}
OPEN = {
    "a plain buffer of many elements": "other[...] = other[...] + 1",
    "never stored": "x = small[...] + 1",
    "a constant": "small[...] = jnp.zeros((8,), jnp.float32)",
    "also reduced": "x = block[...]\no[0] = jnp.sum(x)\nblock[...] = x",
    "given to what is not known": "x = block[...]\nlen(unknown(x))\nblock[...] = x",
}


def codes(body: str) -> set[str]:
    """The errors of a kernel with this body."""
    text = KERNEL.format(body=textwrap.indent(body, "    "))
    return {f.code for f in findings("k.py", text, NEWEST) if f.severity.name == "ERROR"}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_no_layout_fits(body: str) -> None:
    assert codes(body) == {"register-layout"}


@pytest.mark.parametrize("body", OPEN.values(), ids=OPEN)
def test_other_layouts_may_come_in(body: str) -> None:
    assert not codes(body)
