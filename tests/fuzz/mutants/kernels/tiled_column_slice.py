import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

K, N, HALF = 64, 512, 256
TR = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(b_gmem, o_gmem, b_smem, bar):
  for part in range(N // HALF):
    cols = pl.ds(part * HALF, HALF)
    plgpu.copy_gmem_to_smem(b_gmem.at[:, cols], b_smem.at[part], bar)
  plgpu.barrier_wait(bar)
  for part in range(N // HALF):
    cols = pl.ds(part * HALF, HALF)
    plgpu.copy_smem_to_gmem(b_smem.at[part], o_gmem.at[:, cols])
  plgpu.wait_smem_to_gmem(0)


FN = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((K, N), jnp.bfloat16),
    scratch_types=[plgpu.SMEM((N // HALF, K, HALF), jnp.bfloat16, transforms=TR), plgpu.Barrier(num_arrivals=N // HALF)],
)
ARGS = [jax.ShapeDtypeStruct((K, N), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
