"""Chooses among three values."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, which):
    x = jax.lax.select_n(which[...], which[...], which[...], which[...])  # <- refused
    del x


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128,), jnp.int32),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
