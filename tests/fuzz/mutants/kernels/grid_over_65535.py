import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

CHUNK = 128


def double(x):
  batch, length = x.shape
  chunks = length // CHUNK

  def body(x_gmem, o_gmem, buf, bar):
    where = (lax.axis_index("b"), pl.ds(lax.axis_index("c") * CHUNK, CHUNK))
    plgpu.copy_gmem_to_smem(x_gmem.at[where], buf, bar)
    plgpu.barrier_wait(bar)
    buf[...] += buf[...]
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(buf, o_gmem.at[where])
    plgpu.wait_smem_to_gmem(0)

  return plgpu.kernel(
      body,
      out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
      scratch_types=[plgpu.SMEM((CHUNK,), x.dtype), plgpu.Barrier()],
      grid=(batch, chunks),
      grid_names=("b", "c"),
  )(x)


FN = double
ARGS = [jax.ShapeDtypeStruct((2, 65536 * CHUNK), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
