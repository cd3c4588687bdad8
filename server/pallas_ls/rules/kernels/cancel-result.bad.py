import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, answer, answered):
    plgpu.try_cluster_cancel(answer, answered)  # <- refused


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((8,), jnp.int8), plgpu.Barrier()],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
