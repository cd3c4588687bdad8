# arch: 10.0
import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def _body(a_gmem, b_gmem, o_gmem, *, tile):
  m, n, k = tile
  tr = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

  @functools.partial(
      pl.run_scoped,
      a_smem=plgpu.SMEM((m, k), jnp.bfloat16, transforms=tr),
      b_smem=plgpu.SMEM((k, n), jnp.bfloat16, transforms=tr),
      acc=plgpu.TMEM((m, n), jnp.float32),
      loaded=plgpu.Barrier(num_arrivals=2),
      done=plgpu.Barrier(orders_tensor_core=True),
  )
  def _(a_smem, b_smem, acc, loaded, done):
    plgpu.copy_gmem_to_smem(a_gmem, a_smem, loaded)
    plgpu.copy_gmem_to_smem(b_gmem, b_smem, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
    plgpu.barrier_wait(done)
    o_gmem[...] = plgpu.async_load_tmem(acc)


TILE = (128, 128, 64)
FN = plgpu.kernel(
    functools.partial(_body, tile=TILE),
    out_type=jax.ShapeDtypeStruct(TILE[:2], jnp.float32),
)
ARGS = [
    jax.ShapeDtypeStruct((TILE[0], TILE[2]), jnp.bfloat16),
    jax.ShapeDtypeStruct((TILE[2], TILE[1]), jnp.bfloat16),
]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
