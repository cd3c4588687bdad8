"""Stores of values whose layout was cast, and of more than two dimensions: what each measured release says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pallas_ls.domain.finding import Severity
from pallas_ls.domain.target import MEASURED, JaxVersion
from tests.oracle.answers import findings
from tests.oracle.verdict import parse, quotes, show

KERNEL = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

SHAPE = {shape}
TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(out, smem, ready):
    me = jax.lax.axis_index("c")
    x = {value}
    plgpu.async_store_smem(x, smem, ready, cluster_idx=1 - me, cluster_dim="c")


kernel = plgpu.kernel(
    body,
    {out}=jax.ShapeDtypeStruct(SHAPE, jnp.float16),
    {scratch}=[plgpu.SMEM(SHAPE, jnp.float16, transforms=TRANSFORMS), plgpu.Barrier()],
    cluster=(2,),
    cluster_names=("c",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.{semantics}),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
"""
ZEROS = "jnp.zeros(SHAPE, jnp.float16)"
WGMMA = f"plgpu.layout_cast({ZEROS}, plgpu.Layout.WGMMA)"
CONVERT = "NotImplementedError: Cannot convert from TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (2,))),"
CAST = "ValueError: Cannot cast to layout TiledLayout(tiling=Tiling(tiles=((128, 8), (32, 8), (8, 8), (2,))),"
TILING = "ValueError: Tiling ((128, 8), (32, 8), (8, 8), (2,)) does not apply to shape (64, 64)"
INFER = "ValueError: Failed to infer a possible set of layouts."
TWO, THREE = (64, 64), (2, 64, 64)
EVERY = (TILING, TILING, TILING)

#: (shape, value, semantics, what JAX 0.10.2, 0.11.2 and 0.12.0 say)
ROWS = [
    (TWO, f"plgpu.layout_cast({ZEROS}, plgpu.Layout.TCGEN05)", "Lane", EVERY),
    (TWO, f"plgpu.layout_cast({WGMMA}, plgpu.Layout.TCGEN05)", "Lane", (CONVERT, CONVERT, CONVERT)),
    (TWO, f"plgpu.layout_cast({WGMMA} * 2, plgpu.Layout.TCGEN05)", "Lane", (CONVERT, CONVERT, CONVERT)),
    (TWO, f"plgpu.layout_cast({WGMMA} * 2, plgpu.Layout.TCGEN05)", "Warpgroup", (CAST, CAST, CAST)),
    (THREE, ZEROS, "Warpgroup", (INFER, "OK", "OK")),
    (THREE, WGMMA, "Warpgroup", (INFER, "OK", "OK")),
    (THREE, "smem[...]", "Warpgroup", ("OK", "OK", "OK")),
    (THREE, "smem[...] + smem[...]", "Warpgroup", ("OK", "OK", "OK")),
    (THREE, "plgpu.layout_cast(smem[...], plgpu.Layout.WGMMA)", "Warpgroup", ("OK", "OK", "OK")),
    (THREE, WGMMA, "Lane", ("OK", "OK", "OK")),
]
CASES = [(*row[:3], version, said) for row in ROWS for version, said in zip(sorted(MEASURED), row[3], strict=True)]


def kernel(shape: tuple[int, ...], value: str, semantics: str, version: JaxVersion) -> str:
    old = version < JaxVersion(0, 11)
    out, scratch = ("out_shape", "scratch_shapes") if old else ("out_type", "scratch_types")
    return KERNEL.format(shape=shape, value=value, semantics=semantics, out=out, scratch=scratch)


@pytest.mark.parametrize(("shape", "value", "semantics", "version", "said"), CASES)
def test_we_say_what_the_release_says(
    shape: tuple[int, ...], value: str, semantics: str, version: JaxVersion, said: str
) -> None:
    found = findings("kernel.py", kernel(shape, value, semantics, version), version)
    errors = [show(f.jax) for f in found if f.severity is Severity.ERROR]
    assert [e[: len(said)] for e in errors] == ([] if said == "OK" else [said])


@pytest.mark.parametrize(("shape", "value", "semantics", "answers"), ROWS)
def test_the_installed_jax_says_so(
    shape: tuple[int, ...], value: str, semantics: str, answers: tuple[str, ...], tmp_path: Path
) -> None:
    live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)
    said = dict(zip(sorted(MEASURED), answers, strict=True)).get(live.VERSION)
    if said is None:
        pytest.skip(f"JAX {live.VERSION} was not measured")
    file = tmp_path / "kernel.py"
    file.write_text(kernel(shape, value, semantics, live.VERSION))
    theirs, recorded = live.verdict(file), parse(said)
    assert theirs == recorded if recorded is None or theirs is None else quotes(recorded, theirs)
