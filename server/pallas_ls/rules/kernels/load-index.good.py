"""Adds one to a tile."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(x_gmem, out_gmem):
    x = plgpu.layout_cast(x_gmem[...], plgpu.Layout.WG_STRIDED((ROWS, COLS), 2))
    out_gmem[...] = x + 1


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=[],
)

if __name__ == "__main__":
    jax.jit(kernel).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)).lower(lowering_platforms=("cuda",))
