# pallas: target sm_90a
"""Multiplies two tiles."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(out_gmem, a, b, acc, done):
    plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)  # <- refused
    plgpu.barrier_wait(done)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128, 64), jnp.float16, transforms=TILED),
        plgpu.SMEM((64, 128), jnp.float16, transforms=TILED),
        plgpu.TMEM((128, 128), jnp.float32),
        plgpu.Barrier(orders_tensor_core=True),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
