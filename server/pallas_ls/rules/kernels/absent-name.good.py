import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(x_gmem, o_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, tile, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.copy_smem_to_gmem(tile, o_gmem)
    plgpu.wait_smem_to_gmem(0)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()],
)
jax.jit(f).trace(jax.ShapeDtypeStruct((128,), jnp.float32)).lower(lowering_platforms=("cuda",))
