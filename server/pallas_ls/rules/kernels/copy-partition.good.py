"""Each of two blocks gets its part of a tile; the first one counts the bytes."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(x_gmem, out_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(
        x_gmem, tile, loaded, collective_axes="pair", leader_tracked=plgpu.CopyPartition.PARTITIONED(0)
    )
    plgpu.barrier_wait(loaded)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16),
    scratch_types=dict(
        tile=plgpu.SMEM((ROWS, COLS), jnp.float16),
        loaded=plgpu.Barrier(),
    ),
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((2 * ROWS, COLS), jnp.float16)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
