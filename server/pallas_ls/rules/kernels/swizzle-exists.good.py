import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROW = 128
SWIZZLE = plgpu.find_swizzle(ROW * 16)


def body(x_gmem, o_gmem, tile):
    tile[...] = jnp.zeros((64, ROW), jnp.bfloat16)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((64, ROW), jnp.bfloat16)],
)
jax.jit(f).trace(jax.ShapeDtypeStruct((64, ROW), jnp.bfloat16)).lower(lowering_platforms=("cuda",))
