"""Doubles an array in a pipeline."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS, BLOCK = 512, 128, 64


def double(x_gmem, o_gmem):
    def body(_, x_smem, o_smem):
        o_smem[...] = x_smem[...] * 2

    pipeline = plgpu.emit_pipeline(
        body,
        grid=(ROWS // BLOCK,),
        in_specs=[plgpu.BlockSpec((BLOCK, COLS), lambda i: (i, 0))],
        out_specs=[plgpu.BlockSpec((BLOCK, COLS), lambda i: (i, 0))],
        max_concurrent_steps=2,
    )
    pipeline(x_gmem, o_gmem)  # <- refused


kernel = plgpu.kernel(double, out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32), num_threads=2, thread_name="wg")

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
