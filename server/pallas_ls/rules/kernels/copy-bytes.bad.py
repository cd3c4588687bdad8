"""A row is copied to shared memory."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 1, 48  # <- refused


def body(x_gmem, out_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem.at[0:COLS], tile, loaded)
    plgpu.barrier_wait(loaded)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((512,), jnp.float32),
    scratch_types=dict(
        tile=plgpu.SMEM((COLS,), jnp.float32),
        loaded=plgpu.Barrier(),
    ),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((512,), jnp.float32)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
