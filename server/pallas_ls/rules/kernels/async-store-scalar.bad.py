"""Each block of a pair sends one number to the other one."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

LANES = 128


def swap(out_gmem, inbox, arrived):
    me = jax.lax.axis_index("pair")
    total = jnp.float32(me)
    plgpu.async_store_smem(total, inbox, arrived, cluster_idx=1 - me, cluster_dim="pair")  # <- refused
    plgpu.barrier_wait(arrived)
    out_gmem[me] = inbox[...]


kernel = plgpu.kernel(
    swap,
    out_type=jax.ShapeDtypeStruct((2,), jnp.float32),
    scratch_types=dict(
        inbox=plgpu.SMEM((), jnp.float32),
        arrived=plgpu.Barrier(),
    ),
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
