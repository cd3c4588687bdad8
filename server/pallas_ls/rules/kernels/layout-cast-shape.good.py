"""Each block of a pair sends a tile to the other one."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64
TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def swap(out_gmem, inbox, arrived):
    me = jax.lax.axis_index("pair")
    tile = plgpu.layout_cast(jnp.full((ROWS, COLS), me, jnp.float16), plgpu.Layout.WGMMA)
    plgpu.async_store_smem(tile, inbox, arrived, cluster_idx=1 - me, cluster_dim="pair")
    plgpu.barrier_wait(arrived)
    plgpu.copy_smem_to_gmem(inbox, out_gmem.at[pl.ds(me * ROWS, ROWS)])
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    swap,
    out_type=jax.ShapeDtypeStruct((2 * ROWS, COLS), jnp.float16),
    scratch_types=dict(
        inbox=plgpu.SMEM((ROWS, COLS), jnp.float16, transforms=TRANSFORMS),
        arrived=plgpu.Barrier(),
    ),
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
