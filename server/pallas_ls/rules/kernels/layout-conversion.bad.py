"""Takes a tile to another layout."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 128, 64


def body(out_gmem):
    x = plgpu.layout_cast(jnp.zeros((ROWS, COLS), jnp.float32), plgpu.Layout.WGMMA)
    y = plgpu.layout_cast(x + 1, plgpu.Layout.TCGEN05)  # <- refused
    out_gmem[...] = jnp.sum(y, axis=1)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS,), jnp.float32),
    scratch_types=[],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
