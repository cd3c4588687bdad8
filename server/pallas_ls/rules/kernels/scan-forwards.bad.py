"""Counts down."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem):
    def step(carry, _):
        return carry + 1, None

    last, _ = jax.lax.scan(step, jnp.int32(0), None, length=4, reverse=True)  # <- refused
    del last


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
