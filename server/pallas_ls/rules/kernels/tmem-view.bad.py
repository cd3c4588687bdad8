# pallas: target sm_100a
"""Loads half of an accumulator."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, acc):
    x = plgpu.async_load_tmem(acc.at[pl.ds(0, 64)])  # <- refused
    del x


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.TMEM((128, 128), jnp.float32),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
