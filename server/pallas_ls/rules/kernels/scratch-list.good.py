"""Writes ones."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def ones(o_gmem, buf):
    buf[...] = jnp.ones((128,), jnp.float32)
    o_gmem[...] = buf[...]


kernel = plgpu.kernel(
    ones,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32)],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
