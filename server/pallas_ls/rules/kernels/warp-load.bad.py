"""Loads in code for one warp."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, row):
    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
        x = row[...]  # <- refused
        del x


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128,), jnp.float32),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
