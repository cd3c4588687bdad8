"""A call whose lowering semantics cannot be known is refused where Lane and Warpgroup both refuse it, only there."""

from __future__ import annotations

import pytest

from pallas_ls.domain.finding import Finding, Severity
from pallas_ls.domain.target import MEASURED, NEWEST, JaxVersion
from tests.oracle.answers import findings

OLD = MEASURED[0]

#: No launch is in sight: what it is lowered for, the caller of `exchange` decides.
WITHOUT_LAUNCH = """\
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def exchange():
    def swap(inbox, arrived):
        tile = {value}
        plgpu.async_store_smem(tile, inbox, arrived, cluster_idx=0, cluster_dim="pair")

    pl.run_scoped(swap, inbox={inbox}, arrived=plgpu.Barrier())
"""

#: The semantics are an argument.
GIVEN = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def exchange(semantics):
    def swap(out_gmem, inbox, arrived):
        tile = {value}
        plgpu.async_store_smem(tile, inbox, arrived, cluster_idx=0, cluster_dim="pair")

    return plgpu.kernel(
        swap,
        out_type=jax.ShapeDtypeStruct((64, 64), jnp.float16),
        scratch_types=dict(inbox={inbox}, arrived=plgpu.Barrier()),
        cluster=(2,),
        cluster_names=("pair",),
        compiler_params=plgpu.CompilerParams(lowering_semantics=semantics),
    )()
"""


def buffer(shape: str, tiling: str, swizzle: int) -> str:
    transforms = f"(plgpu.TilingTransform({tiling}), plgpu.SwizzleTransform({swizzle}))"
    return f"plgpu.SMEM({shape}, jnp.float16, transforms={transforms})"


SMALL = {"value": "jnp.zeros((1, 16), jnp.float16)", "inbox": buffer("(1, 16)", "(1, 16)", 32)}
#: A splat: Warpgroup picks a layout for it, Lane does not.
SPLAT = {"value": "jnp.zeros((64, 64), jnp.float16)", "inbox": buffer("(64, 64)", "(8, 64)", 128)}
CAST = {"value": f"plgpu.layout_cast({SPLAT['value']}, plgpu.Layout.WGMMA)", "inbox": SPLAT["inbox"]}
both_texts = pytest.mark.parametrize("text", [WITHOUT_LAUNCH, GIVEN], ids=["no-launch", "an-argument"])


def errors(text: str, operands: dict[str, str], version: JaxVersion) -> list[Finding]:
    found = findings("kernel.py", text.format(**operands), version)
    return [f for f in found if f.severity is Severity.ERROR]


@both_texts
@pytest.mark.parametrize(("version", "raises"), [(OLD, "NotImplementedError"), (NEWEST, "ValueError")], ids=str)
def test_what_both_refuse_is_an_error_in_the_words_of_the_default(text: str, version: JaxVersion, raises: str) -> None:
    [finding] = errors(text, SMALL, version)
    assert finding.code == "async-store-bytes"
    assert finding.jax is not None
    assert finding.jax.type == raises


@both_texts
@pytest.mark.parametrize("version", MEASURED, ids=str)
@pytest.mark.parametrize("operands", [SPLAT, CAST], ids=["one-refuses", "none-refuses"])
def test_what_one_accepts_is_no_error(text: str, operands: dict[str, str], version: JaxVersion) -> None:
    assert errors(text, operands, version) == []


@both_texts
@pytest.mark.parametrize(("version", "rule"), [(OLD, "swizzled-transpose"), (NEWEST, "async-store-layout")], ids=str)
def test_each_may_refuse_by_another_rule(text: str, version: JaxVersion, rule: str) -> None:
    transposed = text.replace("(tile, inbox,", "(tile, inbox.T,")
    assert transposed != text
    [finding] = errors(transposed, CAST, version)
    assert finding.code == rule
