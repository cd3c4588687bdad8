"""Values that two paths give, different only in what their type does not show: layout, arrivals, index."""

from __future__ import annotations

import textwrap

import pytest

from pallas_ls.domain.target import NEWEST

from ..oracle.answers import findings

KERNEL = """
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ON_BLACKWELL = {flag}
TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
{arrived}

def body(x, o, inbox, arrived):
    tile = plgpu.load(inbox, layout=plgpu.Layout.WGMMA, optimized=False)
{value}
    me = jax.lax.axis_index("pair")
    plgpu.async_store_smem(tile, inbox, arrived, cluster_idx=1 - me, cluster_dim="pair")

def run(x, unknown_flag: bool):
    return plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((64, 64), jnp.float16), cluster=(2,), cluster_names=("pair",),
        scratch_types=[plgpu.SMEM((64, 64), jnp.float16, transforms=TILED), ARRIVED],
        compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane))(x)
"""
PLAIN = "ARRIVED = plgpu.Barrier()"
EITHER = "ARRIVED = plgpu.Barrier() if ON_BLACKWELL else plgpu.ClusterBarrier(collective_axes=('pair',))"
SPLAT = """
    if ON_BLACKWELL:
        tile = jnp.zeros((64, 64), jnp.float16)
"""


def codes(flag: str, arrived: str = PLAIN, value: str = "") -> set[str]:
    """The errors of the kernel with these parts."""
    text = KERNEL.format(flag=flag, arrived=arrived, value=textwrap.indent(textwrap.dedent(value), "    "))
    return {f.code for f in findings("k.py", text, NEWEST) if f.severity.name == "ERROR"}


@pytest.mark.parametrize(("arrived", "value", "bad"), [(PLAIN, SPLAT, "True"), (EITHER, "", "False")])
def test_a_decided_flag_decides(arrived: str, value: str, bad: str) -> None:
    assert codes(bad, arrived, value)
    assert not codes("False" if bad == "True" else "True", arrived, value)


@pytest.mark.parametrize(("arrived", "value"), [(PLAIN, SPLAT), (EITHER, "")])
def test_an_undecided_flag_is_no_error(arrived: str, value: str) -> None:
    assert not codes("len(__import__('os').environ) > 5", arrived, value)
