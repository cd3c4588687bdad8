"""Loads heads of 32 elements."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 32
SWIZZLE = plgpu.find_swizzle(COLS * 16)
TRANSFORMS = (plgpu.TilingTransform((8, SWIZZLE // 2)), plgpu.SwizzleTransform(SWIZZLE))


def body(x_gmem, out_gmem, x_smem, arrived):
    plgpu.copy_gmem_to_smem(x_gmem, x_smem, arrived)
    plgpu.barrier_wait(arrived)
    plgpu.copy_smem_to_gmem(x_smem, out_gmem)
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.bfloat16),
    scratch_types=[plgpu.SMEM((ROWS, COLS), jnp.bfloat16, transforms=TRANSFORMS), plgpu.Barrier()],
)

if __name__ == "__main__":
    jax.jit(kernel).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.bfloat16)).lower(lowering_platforms=("cuda",))
