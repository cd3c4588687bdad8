"""Two buffers of different types in the same memory, one after the other."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def both(o_gmem, shared):
    words, halves = shared
    words[...] = jnp.ones((128,), jnp.float32)
    o_gmem[...] = words[...]
    del halves


kernel = plgpu.kernel(
    both,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.RefUnion(plgpu.SMEM((128,), jnp.float32), plgpu.SMEM((256,), jnp.bool_))],  # <- refused
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
