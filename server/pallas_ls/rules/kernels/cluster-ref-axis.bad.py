import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, tile):
    tile[...] = plgpu.cluster_ref(tile, {"c": 1})[...]  # <- refused


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32)],
    cluster=(2,),
    cluster_names=("pair",),
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
