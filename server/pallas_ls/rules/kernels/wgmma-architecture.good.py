# pallas: target sm_90a
"""Multiplies two tiles."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(out_gmem, a, b, acc):
    plgpu.wgmma(acc, a, b)
    plgpu.wgmma_wait(0)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((64, 64), jnp.float16, transforms=TILED),
        plgpu.SMEM((64, 128), jnp.float16, transforms=TILED),
        plgpu.ACC((64, 128)),
    ],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
