"""Doubles an array several times."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROUNDS = 6


def body(out_gmem, x):
    @pl.loop(0, ROUNDS, unroll=3)
    def _(i):
        x[...] = x[...] * 2


kernel = plgpu.kernel(
    body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32), scratch_types=[plgpu.SMEM((128,), jnp.float32)]
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
