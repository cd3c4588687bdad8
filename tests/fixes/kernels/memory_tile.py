import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 2048, 256
BLOCK = 256


def body(x_gmem, out_gmem, tile, loaded):
    rows = pl.ds(jax.lax.axis_index("rows") * BLOCK, BLOCK)
    plgpu.copy_gmem_to_smem(x_gmem.at[rows], tile, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.copy_smem_to_gmem(tile, out_gmem.at[rows])
    plgpu.wait_smem_to_gmem(0)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32),
    scratch_types=[plgpu.SMEM((BLOCK, COLS), jnp.float32), plgpu.Barrier()],
    grid=(ROWS // BLOCK,),
    grid_names=("rows",),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct((ROWS, COLS), jnp.float32)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
