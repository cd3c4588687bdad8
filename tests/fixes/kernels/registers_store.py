import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 66


def body(x_gmem, out_gmem, tile):
    tile[...] = x_gmem[...] * 2
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, out_gmem)
    plgpu.wait_smem_to_gmem(0)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=[plgpu.SMEM((ROWS, COLS), jnp.float32)],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
