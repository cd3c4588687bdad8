"""Adds up the blocks of an array: one warpgroup computes, another one copies."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS, BLOCK = 512, 64, 64


def total(x_gmem, o_gmem, sums):
    def body(_, x_smem):
        sums[...] = sums[...] + x_smem[...]

    pipeline = plgpu.emit_pipeline_warp_specialized(
        body,
        grid=(ROWS // BLOCK,),
        in_specs=[plgpu.BlockSpec((BLOCK, COLS), lambda i: (i, 0))],
        memory_registers=40,
        num_compute_wgs=1,
        wg_axis="wg",
    )
    pipeline(x_gmem)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(sums, o_gmem)
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    total,
    out_type=jax.ShapeDtypeStruct((BLOCK, COLS), jnp.float32),
    scratch_types=[plgpu.SMEM((BLOCK, COLS), jnp.float32)],
    num_threads=2,
    thread_name="wg",
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
