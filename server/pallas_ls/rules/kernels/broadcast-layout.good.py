"""Shifts each row by its largest element."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 128, 64


def body(out_gmem):
    tile = plgpu.layout_cast(jnp.zeros((ROWS, COLS), jnp.float32), plgpu.Layout.WGMMA) + 1
    largest = jax.lax.broadcast_in_dim(jnp.max(tile, axis=1), (ROWS, COLS), (0,))
    shifted = tile - largest
    out_gmem[...] = jnp.sum(shifted, axis=1)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS,), jnp.float32),
    scratch_types=[],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
