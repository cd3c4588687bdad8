"""Needs an architecture with transactions on barriers: refused below sm_90."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(x_gmem, o_gmem, smem, barrier):
    plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
    plgpu.barrier_wait(barrier)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((64, 64), jnp.float32), plgpu.Barrier()],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)
jax.jit(f).trace(jax.ShapeDtypeStruct((64, 64), jnp.float32)).lower(lowering_platforms=("cuda",))
