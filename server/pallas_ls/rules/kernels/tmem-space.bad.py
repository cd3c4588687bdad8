# pallas: target sm_100a
"""Loads a tile of shared memory."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, tile):
    x = plgpu.async_load_tmem(tile)  # <- refused
    del x


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128, 128), jnp.float32),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
