# pallas: target sm_100a
"""Clears an accumulator."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, acc):
    zeros = plgpu.layout_cast(jnp.zeros((128, 128), jnp.float32), plgpu.Layout.TCGEN05)
    plgpu.async_store_tmem(acc, zeros)
    plgpu.commit_tmem()


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.TMEM((128, 128), jnp.float32),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
