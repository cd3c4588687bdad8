import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

THREADS = 2
ROWS_PER_THREAD = 64


def body(x_gmem, o_gmem, buf, bars):
  wg = lax.axis_index("wg")
  rows = pl.ds(wg * ROWS_PER_THREAD, ROWS_PER_THREAD)
  plgpu.copy_gmem_to_smem(x_gmem.at[rows], buf.at[wg], bars.at[wg])
  plgpu.barrier_wait(bars.at[wg])
  plgpu.copy_smem_to_gmem(buf.at[wg], o_gmem.at[rows])
  plgpu.wait_smem_to_gmem(0)


FN = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((THREADS * ROWS_PER_THREAD, 128), jnp.int8),
    scratch_types=[
        plgpu.SMEM((THREADS, ROWS_PER_THREAD, 128), jnp.int8),
        plgpu.Barrier(num_barriers=THREADS),
    ],
    num_threads=THREADS,
    thread_name="wg",
)
ARGS = [jax.ShapeDtypeStruct((THREADS * ROWS_PER_THREAD, 128), jnp.int8)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
