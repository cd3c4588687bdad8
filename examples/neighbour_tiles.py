"""Two blocks of a cluster hand each other a scaled copy of their tile, through shared memory and not through GMEM.

The tile has 48 rows, which looks aligned: 48 x 64 float16 are 6,144 bytes, a multiple of 128. JAX refuses it all the same.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILE_ROWS = 48
TILE_COLS = 64
DTYPE = jnp.float16
BLOCKS = 2


def tile_buffer():
    """A tile in shared memory, swizzled so that the lanes of a warp meet different banks."""
    return plgpu.SMEM(
        (TILE_ROWS, TILE_COLS),
        DTYPE,
        transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)),
    )


def swap_body(x_gmem, o_gmem, mine, theirs, loaded, received):
    block = jax.lax.axis_index("pair")
    rows = pl.ds(block * TILE_ROWS, TILE_ROWS)
    plgpu.copy_gmem_to_smem(x_gmem.at[rows], mine, loaded)
    plgpu.barrier_wait(loaded)
    tile = mine[...] * 2
    plgpu.async_store_smem(tile, theirs, received, cluster_idx=1 - block, cluster_dim="pair")
    plgpu.barrier_wait(received)
    plgpu.copy_smem_to_gmem(theirs, o_gmem.at[rows])
    plgpu.wait_smem_to_gmem(0)


swap = plgpu.kernel(
    swap_body,
    out_type=jax.ShapeDtypeStruct((BLOCKS * TILE_ROWS, TILE_COLS), DTYPE),
    scratch_types=[tile_buffer(), tile_buffer(), plgpu.Barrier(), plgpu.Barrier()],
    cluster=(BLOCKS,),
    cluster_names=("pair",),
)


if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((BLOCKS * TILE_ROWS, TILE_COLS), DTYPE)
    jax.jit(swap).trace(x).lower(lowering_platforms=("cuda",))
    print("lowers")
