import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILE, HIDDEN = 128, 256


def gather_tokens(x, token_ids):
  n = token_ids.shape[0]

  @plgpu.kernel(
      out_type=jax.ShapeDtypeStruct((n, HIDDEN), x.dtype),
      scratch_types=[plgpu.SMEM((TILE, HIDDEN), x.dtype), plgpu.Barrier(num_arrivals=TILE)],
      grid=(n // TILE,),
      grid_names=("t",),
  )
  def run(x_gmem, ids_gmem, o_gmem, buf, bar):
    start = lax.axis_index("t") * TILE

    @pl.loop(0, TILE)
    def _(r):
      plgpu.copy_gmem_to_smem(x_gmem.at[ids_gmem[start + r]], buf.at[r], bar)

    plgpu.barrier_wait(bar)
    plgpu.copy_smem_to_gmem(buf, o_gmem.at[pl.ds(start, TILE)])
    plgpu.wait_smem_to_gmem(0)

  return run(x, token_ids)


FN = gather_tokens
ARGS = [jax.ShapeDtypeStruct((4096, HIDDEN), jnp.bfloat16), jax.ShapeDtypeStruct((512,), jnp.int32)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
