"""A size of 0, as a line half typed has it: rules answer or stay silent, and never fail."""

from __future__ import annotations

import pytest

from pallas_ls.domain.target import MEASURED, JaxVersion
from tests.oracle.answers import findings

PRODUCT = """\
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

M, N, K = {m}, {n}, {k}
TILED = (plgpu.TilingTransform(({rows}, 64)), plgpu.SwizzleTransform(128))


def body(out_gmem, a, b, acc, done):
    plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((M, K), jnp.bfloat16, transforms=TILED),
        plgpu.SMEM((K, N), jnp.bfloat16, transforms=TILED),
        plgpu.TMEM((M, N), jnp.float32),
        plgpu.Barrier(orders_tensor_core=True),
    ],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.{semantics}),
)
jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
"""


@pytest.mark.parametrize("version", MEASURED, ids=str)
@pytest.mark.parametrize("semantics", ["Lane", "Warpgroup"])
@pytest.mark.parametrize(
    ("m", "n", "k", "rows"), [(128, 0, 64, 8), (0, 128, 64, 8), (128, 128, 0, 8), (128, 128, 64, 0)]
)
def test_a_product_with_nothing_along_an_axis_is_answered(
    m: int, n: int, k: int, rows: int, semantics: str, version: JaxVersion
) -> None:
    findings("kernel.py", PRODUCT.format(m=m, n=n, k=k, rows=rows, semantics=semantics), version)
