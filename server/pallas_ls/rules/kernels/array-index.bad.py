"""Gathers rows."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 128, 64


def body(x_gmem, ids_gmem, out_gmem):
    ids = ids_gmem[...]
    out_gmem[...] = x_gmem[ids]  # <- refused


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=[],
)

if __name__ == "__main__":
    jax.jit(kernel).trace(
        jax.ShapeDtypeStruct((4096, COLS), jnp.float32), jax.ShapeDtypeStruct((ROWS,), jnp.int32)
    ).lower(lowering_platforms=("cuda",))
