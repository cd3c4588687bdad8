import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

M, N, K = 64, 128, 64


def body(x_gmem, ids_gmem, w_gmem, o_gmem):
  def scoped(lhs, rhs, out, bar):
    plgpu.copy_gmem_to_smem(w_gmem, rhs, bar)

    first = pl.multiple_of(ids_gmem[0], 8)  # rows were packed outside the kernel
    lhs[...] = plgpu.load(x_gmem.at[pl.ds(first, M), :], layout=plgpu.Layout.WGMMA, optimized=False)

    plgpu.commit_smem()
    plgpu.barrier_wait(bar)

    def mma(acc):
      plgpu.wgmma(acc, lhs, rhs)
      return acc[...]

    out[...] = pl.run_scoped(mma, plgpu.ACC((M, N)))
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(out, o_gmem)
    plgpu.wait_smem_to_gmem(0)

  pl.run_scoped(
      scoped,
      lhs=plgpu.SMEM((M, K), jnp.bfloat16),
      rhs=plgpu.SMEM((K, N), jnp.bfloat16),
      out=plgpu.SMEM((M, N), jnp.float32),
      bar=plgpu.Barrier(),
  )


FN = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((M, N), jnp.float32))
ARGS = [
    jax.ShapeDtypeStruct((4096, K), jnp.bfloat16),
    jax.ShapeDtypeStruct((M,), jnp.int32),
    jax.ShapeDtypeStruct((K, N), jnp.bfloat16),
]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
