"""Triples a matrix, block by block."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS, BLOCK = 512, 128, 64


def triple(_, x_smem, o_smem):
    o_smem[...] = x_smem[...] * 3.0


def body(x_gmem, o_gmem):
    block = plgpu.BlockSpec((BLOCK, COLS), lambda i: (i, 0))
    plgpu.emit_pipeline(triple, grid=(ROWS // BLOCK,), in_specs=[block], out_specs=[block])(x_gmem, o_gmem)


kernel = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32))

if __name__ == "__main__":
    jax.jit(kernel).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)).lower(lowering_platforms=("cuda",))
