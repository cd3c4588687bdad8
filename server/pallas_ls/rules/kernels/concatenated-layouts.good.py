"""Puts a tile beside itself."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(x_gmem, out_gmem):
    x = x_gmem[...]
    out_gmem[:, pl.ds(0, COLS)] = x
    out_gmem[:, pl.ds(COLS, COLS)] = x


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, 2 * COLS), jnp.float32),
    scratch_types=[],
)

if __name__ == "__main__":
    jax.jit(kernel).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)).lower(lowering_platforms=("cuda",))
