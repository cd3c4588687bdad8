"""The blocks of a cluster wait for each other."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(x_gmem, out_gmem, met):
    plgpu.barrier_arrive(met)
    plgpu.barrier_wait(met)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16),
    scratch_types=dict(
        met=plgpu.ClusterBarrier(collective_axes=("pair",)),
    ),
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16)
    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))
