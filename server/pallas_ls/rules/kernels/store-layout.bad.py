"""Stores a tile to a swizzled buffer."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(out_gmem, x_smem):
    x = plgpu.layout_cast(jnp.ones((ROWS, COLS), jnp.float32), plgpu.Layout.WGMMA_TRANSPOSED)
    x_smem[...] = x  # <- refused
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(x_smem, out_gmem)
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=[
        plgpu.SMEM((ROWS, COLS), jnp.float32, transforms=(plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128)))
    ],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
