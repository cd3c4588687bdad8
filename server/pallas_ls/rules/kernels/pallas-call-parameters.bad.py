"""Triples a matrix, block by block."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS, BLOCK = 512, 128, 64


def triple(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 3.0


kernel = pl.pallas_call(  # <- refused
    triple,
    jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    grid=(ROWS // BLOCK,),
    in_specs=[plgpu.BlockSpec((BLOCK, COLS), lambda i: (i, 0))],
    out_specs=plgpu.BlockSpec((BLOCK, COLS), lambda i: (i, 0)),
    compiler_params=plgpu.CompilerParams(),
)

if __name__ == "__main__":
    jax.jit(kernel).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)).lower(lowering_platforms=("cuda",))
