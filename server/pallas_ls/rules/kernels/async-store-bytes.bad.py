"""Each block of a pair sends a sum for each of its rows to the other one."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS = 48


def swap(out_gmem, inbox, arrived):
    me = jax.lax.axis_index("pair")
    totals = jnp.full((ROWS,), me, jnp.float32)
    plgpu.async_store_smem(totals, inbox, arrived, cluster_idx=1 - me, cluster_dim="pair")  # <- refused
    plgpu.barrier_wait(arrived)
    plgpu.copy_smem_to_gmem(inbox, out_gmem.at[pl.ds(me * ROWS, ROWS)])
    plgpu.wait_smem_to_gmem(0)


kernel = plgpu.kernel(
    swap,
    out_type=jax.ShapeDtypeStruct((2 * ROWS,), jnp.float32),
    scratch_types=dict(
        inbox=plgpu.SMEM((ROWS,), jnp.float32),
        arrived=plgpu.Barrier(),
    ),
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
