import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, answer, answered):
    plgpu.try_cluster_cancel(answer, answered)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.TryClusterCancelResult(), plgpu.Barrier()],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
