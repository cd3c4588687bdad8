import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, tile):
    def add_one(i, x):
        return x + 1.0

    tile[...] = jax.lax.fori_loop(0, 10, add_one, tile[...], unroll=4)  # <- refused


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32)],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
