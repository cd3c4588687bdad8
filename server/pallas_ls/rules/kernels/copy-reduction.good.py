"""A tile is added to the result."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(x_gmem, out_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, tile, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.copy_smem_to_gmem(tile, out_gmem, reduction_op="add")
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=dict(
        tile=plgpu.SMEM((ROWS, COLS), jnp.float32),
        loaded=plgpu.Barrier(),
    ),
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
