"""Multiplies two tiles of float32."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

M, N, K = 64, 128, 64
TILED = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))


def multiply(a_gmem, b_gmem, out_gmem, a, b, acc, arrived):
    plgpu.copy_gmem_to_smem(a_gmem, a, arrived)
    plgpu.copy_gmem_to_smem(b_gmem, b, arrived)
    plgpu.barrier_wait(arrived)
    plgpu.wgmma(acc, a, b.T)
    plgpu.wgmma_wait(0)


kernel = plgpu.kernel(
    multiply,
    out_type=jax.ShapeDtypeStruct((M, N), jnp.float32),
    scratch_types=[
        plgpu.SMEM((M, K), jnp.float32, transforms=TILED),
        plgpu.SMEM((N, K), jnp.float32, transforms=TILED),
        plgpu.ACC((M, N), jnp.float32),
        plgpu.Barrier(num_arrivals=2),
    ],
)

if __name__ == "__main__":
    a = jax.ShapeDtypeStruct((M, K), jnp.float32)
    b = jax.ShapeDtypeStruct((N, K), jnp.float32)
    jax.jit(kernel).trace(a, b).lower(lowering_platforms=("cuda",))
