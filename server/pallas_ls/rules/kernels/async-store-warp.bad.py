"""Each block of a pair tells the other one something."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def swap(out_gmem, inbox, arrived):
    me = jax.lax.axis_index("pair")

    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
        plgpu.async_store_smem(jnp.float32(0), inbox, arrived, cluster_idx=1 - me, cluster_dim="pair")  # <- refused

    plgpu.barrier_wait(arrived)


kernel = plgpu.kernel(
    swap,
    out_type=jax.ShapeDtypeStruct((1,), jnp.float32),
    scratch_types=dict(
        inbox=plgpu.SMEM((), jnp.float32),
        arrived=plgpu.Barrier(),
    ),
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
