"""Starts a sum from a constant."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, acc):
    acc[pl.ds(0, 64), :] = plgpu.layout_cast(jnp.ones((64, 128), jnp.float32), plgpu.Layout.WGMMA)  # <- refused


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.ACC((128, 128)),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
