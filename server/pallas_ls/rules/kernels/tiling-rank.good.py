"""Writes ones."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def ones(o_gmem, buf):
    del buf
    o_gmem[...] = jnp.ones((128,), jnp.float32)


kernel = plgpu.kernel(
    ones,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((8, 64), jnp.float32, transforms=(plgpu.TilingTransform((8, 32)),))],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
