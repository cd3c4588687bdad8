"""Adds one in the layout of wgmma."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64
TRANSFORMS = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))


def body(x_gmem, out_gmem, x_smem, arrived):
    plgpu.copy_gmem_to_smem(x_gmem, x_smem, arrived)
    plgpu.barrier_wait(arrived)
    x = plgpu.layout_cast(x_smem[...], plgpu.Layout.WGMMA)
    x_smem[...] = x + 1
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(x_smem, out_gmem)
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=dict(
        x_smem=plgpu.SMEM((ROWS, COLS), jnp.float32, transforms=TRANSFORMS),
        arrived=plgpu.Barrier(),
    ),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(kernel).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)).lower(lowering_platforms=("cuda",))
