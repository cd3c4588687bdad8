# pallas: target sm_90a
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(x_gmem, o_gmem, scaled):
    o_gmem[...] = x_gmem[...]


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.TMEM((128, 128), jnp.float32)],  # <- refused
)
jax.jit(f).trace(jax.ShapeDtypeStruct((128,), jnp.float32)).lower(lowering_platforms=("cuda",))
