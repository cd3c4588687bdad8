"""Doubles small integers."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, x):
    wide = x[...].astype(jnp.int32)
    x[...] = (wide + wide).astype(jnp.int8)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((512,), jnp.int8),
    ],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Warpgroup),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
