import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

STAGES, TILE = 4, 256


def stream_sum(x_gmem, o_gmem, bufs, bars):
  steps = x_gmem.shape[0] // TILE

  def fetch(i):
    slot = lax.rem(i, STAGES)
    plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds(i * TILE, TILE)], bufs.at[slot], bars.at[slot])

  for i in range(min(STAGES, steps)):
    fetch(i)

  def step(i, total):
    slot = lax.rem(i, STAGES)
    plgpu.barrier_wait(bars.at[slot])
    total += bufs[slot]
    pl.when(i + STAGES < steps)(lambda: fetch(i + STAGES))
    return total

  o_gmem[...] = lax.fori_loop(0, steps, step, jnp.zeros((TILE,), jnp.float32))


FN = plgpu.kernel(
    stream_sum,
    out_type=jax.ShapeDtypeStruct((TILE,), jnp.float32),
    scratch_types=[plgpu.SMEM((STAGES, TILE), jnp.float32), plgpu.Barrier(num_barriers=STAGES)],
)
ARGS = [jax.ShapeDtypeStruct((16 * TILE,), jnp.float32)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
