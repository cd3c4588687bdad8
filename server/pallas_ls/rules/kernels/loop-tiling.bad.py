"""Doubles blocks of an array, tile by tile of its grid."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 8, 12


def body(x_gmem, out_gmem):
    @plgpu.nd_loop((ROWS, COLS), collective_axes="sm", tiling=(3, 4))  # <- refused
    def _(loop):
        row, column = loop.index
        out_gmem[row, column] = x_gmem[row, column] * 2


kernel = plgpu.kernel(
    body, out_type=jax.ShapeDtypeStruct((ROWS, COLS, 128), jnp.float32), grid=(132,), grid_names=("sm",)
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS, 128), jnp.float32)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
