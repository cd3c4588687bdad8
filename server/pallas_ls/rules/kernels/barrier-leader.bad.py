"""Blocks of a cluster wait for each other."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def meet(o_gmem, met):
    del o_gmem
    plgpu.barrier_arrive(met)
    plgpu.barrier_wait(met)


kernel = plgpu.kernel(
    meet,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.ClusterBarrier(collective_axes=("x", "y"), leader_tracked=True)],  # <- refused
    cluster=(2, 2),
    cluster_names=("x", "y"),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
