import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILE_M, TILE_N, TILE_K = 64, 128, 64
TR = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def _kernel(a_gmem, b_gmem, o_gmem, o_smem, acc, *, k_steps):
  def step(_, a_smem, b_smem):
    plgpu.wgmma(acc, a_smem, b_smem)

  plgpu.emit_pipeline(
      step,
      grid=(k_steps,),
      in_specs=[
          plgpu.BlockSpec((TILE_M, TILE_K), lambda k: (0, k), transforms=TR),
          plgpu.BlockSpec((TILE_K, TILE_N), lambda k: (k, 0), transforms=TR),
      ],
      max_concurrent_steps=2,
  )(a_gmem, b_gmem)
  o_smem[...] = acc[...].astype(o_smem.dtype)
  plgpu.commit_smem()
  plgpu.copy_smem_to_gmem(o_smem, o_gmem)
  plgpu.wait_smem_to_gmem(0)


def matmul(a, b):
  return plgpu.kernel(
      functools.partial(_kernel, k_steps=a.shape[1] // TILE_K),
      out_type=jax.ShapeDtypeStruct((TILE_M, TILE_N), a.dtype),
      scratch_types=[
          plgpu.SMEM((TILE_M, TILE_N), a.dtype, transforms=TR),
          plgpu.ACC((TILE_M, TILE_N), jnp.float32),
      ],
  )(a, b)


FN = matmul
ARGS = [jax.ShapeDtypeStruct((64, 512), jnp.bfloat16), jax.ShapeDtypeStruct((512, 128), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
