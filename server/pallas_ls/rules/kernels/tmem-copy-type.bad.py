# pallas: target sm_100a
"""Copies an operand to tensor memory."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, tile, operand):
    plgpu.async_copy_smem_to_tmem(tile, operand)  # <- refused


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128, 64), jnp.float16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))),
        plgpu.TMEM((128, 64), jnp.float32),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
