"""Multiplies two tiles that lie in registers."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

M, N, K = 64, 128, 64


def body(out_gmem, out):
    a = plgpu.layout_cast(jnp.ones((M, K), jnp.bfloat16), plgpu.Layout.MMA_LHS(jnp.bfloat16))
    b = plgpu.layout_cast(jnp.ones((K, N), jnp.bfloat16), plgpu.Layout.MMA_RHS(jnp.bfloat16))
    acc = plgpu.layout_cast(jnp.zeros((M, N), jnp.float32), plgpu.Layout.MMA_ACC(jnp.bfloat16))
    out[...] = plgpu.mma(acc, a, b).astype(jnp.float32)


kernel = plgpu.kernel(
    body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32), scratch_types=[plgpu.SMEM((M, N), jnp.float32)]
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
