import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(x_gmem, y_gmem, o_gmem, x, y, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, x, loaded)
    plgpu.copy_gmem_to_smem(y_gmem, y, loaded)
    plgpu.barrier_wait(loaded)
    x[...] = x[...] + y[...]


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128,), jnp.float32),
        plgpu.SMEM((128,), jnp.float32),
        plgpu.Barrier(num_arrivals=2),
    ],
)
jax.jit(f).trace(jax.ShapeDtypeStruct((128,), jnp.float32), jax.ShapeDtypeStruct((128,), jnp.float32)).lower(
    lowering_platforms=("cuda",)
)
