"""Kernels that lower on JAX 0.10.2 and newer, called in the ways that people call them."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


@dataclasses.dataclass(frozen=True)
class Config:
    rows: int = 64
    columns: int = 64


def doubled(x, *, config=Config()):
    def body(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        smem[...] = smem[...] * 2
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)

    shape = (config.rows, config.columns)
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct(shape, x.dtype),
        scratch_types=[plgpu.SMEM(shape, x.dtype), plgpu.Barrier()],
    )(x)


def of_a_tree(tree, times):
    for _ in range(times):  # a traced `times` would raise here
        tree = {**tree, "x": doubled(tree["x"])}
    return tree["x"]


wide = functools.partial(doubled, config=Config(columns=128))


def body(x_gmem, o_gmem, smem, barrier):
    plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
    plgpu.barrier_wait(barrier)
    plgpu.copy_smem_to_gmem(smem, o_gmem)
    plgpu.wait_smem_to_gmem(0)


copy = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((64, 64), jnp.float32),
    scratch_types=[plgpu.SMEM((64, 64), jnp.float32), plgpu.Barrier()],
)
