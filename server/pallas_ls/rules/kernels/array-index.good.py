"""Gathers rows."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 128, 128


def body(x_gmem, ids_gmem, out_gmem):
    @pl.loop(0, ROWS)
    def _(i):
        out_gmem[i] = x_gmem[ids_gmem[i]]


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=[],
)

if __name__ == "__main__":
    jax.jit(kernel).trace(
        jax.ShapeDtypeStruct((4096, COLS), jnp.float32), jax.ShapeDtypeStruct((ROWS,), jnp.int32)
    ).lower(lowering_platforms=("cuda",))
