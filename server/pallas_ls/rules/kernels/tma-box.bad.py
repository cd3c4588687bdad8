"""A tile is copied to shared memory and back."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 32, 512  # <- refused


def body(x_gmem, out_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, tile, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.copy_smem_to_gmem(tile, out_gmem)
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16),
    scratch_types=dict(
        tile=plgpu.SMEM((ROWS, COLS), jnp.float16),
        loaded=plgpu.Barrier(),
    ),
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
