import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, best):
    plgpu.atomic_max(best, best[...])


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((512,), jnp.int32)],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
