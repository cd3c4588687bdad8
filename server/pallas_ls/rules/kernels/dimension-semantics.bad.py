"""Doubles an array, a block of rows at a time."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

BLOCK = 128


def double(x_gmem, o_gmem, buf, loaded):
    rows = pl.ds(jax.lax.axis_index("rows") * BLOCK, BLOCK)
    plgpu.copy_gmem_to_smem(x_gmem.at[rows], buf, loaded)
    plgpu.barrier_wait(loaded)
    buf[...] = buf[...] * 2
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(buf, o_gmem.at[rows])
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    double,
    out_type=jax.ShapeDtypeStruct((1024,), jnp.float32),
    scratch_types=[plgpu.SMEM((BLOCK,), jnp.float32), plgpu.Barrier()],
    grid=(8,),
    grid_names=("rows",),
    compiler_params=plgpu.CompilerParams(dimension_semantics=["parallel"]),  # <- refused
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((1024,), jnp.float32)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
