"""Values whose register layout JAX has to guess: what is refused, and what any further use leaves open."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from pallas_ls.domain.target import NEWEST, JaxVersion

from ..oracle.answers import findings

KERNEL = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILED = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))

def body(o, small, block, other, line):
{body}

f = plgpu.kernel(
    body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((8,), jnp.float32), plgpu.SMEM((32, 64), jnp.float32, transforms=TILED),
        plgpu.SMEM((32, 64), jnp.float32), plgpu.SMEM((64,), jnp.float32)],
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
    "also reduced": "x = block[...]\no[0] = jnp.sum(jnp.max(x, axis=1))\nblock[...] = x",
    "given to what is not known": "x = block[...]\nlen(unknown(x))\nblock[...] = x",
}
#: What is refused whatever layout the solver may pick, and by which rule.
FORCED = {
    "all of a tiled buffer at once": ("o[0] = jnp.sum(block[...])", "reduced-axes"),
    "an axis of what nothing asks for tiles of": ("o[pl.ds(0, 64)] = jnp.sum(other[...], axis=0)", "reduced-axes"),
    "a slice of it": ("x = other[...]\nother[pl.ds(0, 8), :] = x[0:8]", "register-slice"),
    "it beside itself": (
        "x = other[...]\nplgpu.print_layout('{}', jnp.concatenate([x, x], axis=1))",
        "concatenated-layouts",
    ),
    "one element": ("x = other[...]\no[0] = x[0, 0]", "register-slice"),
    "a row that is a column, too": (
        "row = plgpu.load(line, layout=plgpu.Layout.WGMMA.reduce(1))\n"
        "column = plgpu.load(line, layout=plgpu.Layout.WGMMA.reduce(0))\n"
        "plgpu.print_layout('{}', row)\nplgpu.print_layout('{}', column)",
        "layout-conversion",
    ),
}
#: The same where something else may bring in a layout, or stands between.
UNFORCED = {
    "a slice of what is cast elsewhere": (
        "x = other[...]\ny = plgpu.layout_cast(x, plgpu.Layout.WGMMA_8BIT)\nother[...] = y\n"
        "other[pl.ds(0, 8), :] = x[0:8]"
    ),
    "a slice of a buffer that is loaded in tiles, too": (
        "x = other[...]\ny = plgpu.load(other, layout=plgpu.Layout.WGMMA, optimized=False)\n"
        "plgpu.print_layout('{}', y)\nother[pl.ds(0, 8), :] = x[0:8]"
    ),
    "loads with a store between": (
        "row = plgpu.load(line, layout=plgpu.Layout.WGMMA.reduce(1))\nplgpu.print_layout('{}', row)\n"
        "line[...] = jnp.zeros((64,), jnp.float32)\n"
        "column = plgpu.load(line, layout=plgpu.Layout.WGMMA.reduce(0))\nplgpu.print_layout('{}', column)"
    ),
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


@pytest.mark.parametrize(("body", "code"), FORCED.values(), ids=FORCED)
def test_what_every_layout_refuses(body: str, code: str) -> None:
    assert codes(body) == {code}


@pytest.mark.parametrize("body", UNFORCED.values(), ids=UNFORCED)
def test_nothing_is_claimed_where_another_layout_may_come_in(body: str) -> None:
    assert not codes(body) & {code for _, code in FORCED.values()}


@pytest.mark.parametrize(("body", "code"), FORCED.values(), ids=FORCED)
def test_the_installed_jax_refuses_that(body: str, code: str, tmp_path: Path) -> None:
    live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL.format(body=textwrap.indent(body, "    ")))
    assert JaxVersion(0, 12) > live.VERSION or live.verdict(file) is not None


def test_buffers_of_one_type_are_two_buffers() -> None:
    loads = (
        "    a = plgpu.load(rows, layout=plgpu.Layout.WGMMA.reduce(1))\n"
        "    b = plgpu.load({}, layout=plgpu.Layout.WGMMA.reduce(0))\n"
        "    plgpu.print_layout('{{}}', a)\n    plgpu.print_layout('{{}}', b)\n"
    )
    head = KERNEL[: KERNEL.index("TILED =")] + "LINE = plgpu.SMEM((64,), jnp.float32)\n\ndef body(o, rows, columns):\n"
    tail = (
        "\nf = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32), scratch_types=[LINE, LINE],\n"
        "    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Warpgroup))\n"
        "jax.jit(f).trace().lower(lowering_platforms=('cuda',))\n"
    )

    def said(second: str) -> list[str]:
        return [f.message for f in findings("k.py", head + loads.format(second) + tail, NEWEST)]

    assert said("columns") == []
    [message] = said("rows")
    assert "in plgpu.Layout.WGMMA.reduce(1) and in plgpu.Layout.WGMMA.reduce(0)" in message
