# pallas: target sm_100a
"""Two blocks multiply together."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

M, N, K = 128, 128, 64
TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def multiply(a_gmem, b_gmem, out_gmem, a, b, acc, arrived, done):
    plgpu.copy_gmem_to_smem(a_gmem, a, arrived)
    plgpu.copy_gmem_to_smem(b_gmem, b, arrived)
    plgpu.barrier_wait(arrived)
    plgpu.tcgen05_mma(acc, a, b, done, accumulate=False, collective_axis="pair")
    plgpu.barrier_wait(done)


kernel = plgpu.kernel(
    multiply,
    out_type=jax.ShapeDtypeStruct((M, 2 * N), jnp.float32),
    scratch_types=[
        plgpu.SMEM((M, K), jnp.float16, transforms=TILED),
        plgpu.SMEM((K, N), jnp.float16, transforms=TILED),
        plgpu.TMEM((M, 2 * N), jnp.float32),  # <- refused
        plgpu.Barrier(num_arrivals=2),
        plgpu.Barrier(orders_tensor_core=True),
    ],
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    a = jax.ShapeDtypeStruct((M, K), jnp.float16)
    b = jax.ShapeDtypeStruct((K, N), jnp.float16)
    jax.jit(kernel).trace(a, b).lower(lowering_platforms=("cuda",))
