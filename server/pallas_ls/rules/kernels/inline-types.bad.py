import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, tile):
    @plgpu.inline_mgpu(arg_types=(jnp.float32,))  # <- refused
    def nothing(ctx, tile):
        pass

    nothing(tile)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32)],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
