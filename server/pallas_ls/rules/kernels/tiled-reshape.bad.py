import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(x_gmem, o_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, tile.reshape((128, 64)), loaded)  # <- refused
    plgpu.barrier_wait(loaded)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((2, 64, 64), jnp.float16, transforms=TILES), plgpu.Barrier()],
)
jax.jit(f).trace(jax.ShapeDtypeStruct((128, 64), jnp.float16)).lower(lowering_platforms=("cuda",))
