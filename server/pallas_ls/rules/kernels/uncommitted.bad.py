"""A tile of ones is copied to the result."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(x_gmem, out_gmem, tile):
    tile[...] = jnp.ones((ROWS, COLS), jnp.float16)
    plgpu.copy_smem_to_gmem(tile, out_gmem)  # <- refused
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16),
    scratch_types=dict(
        tile=plgpu.SMEM((ROWS, COLS), jnp.float16),
    ),
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
