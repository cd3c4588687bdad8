# arch: 10.0
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILE_M, TILE_N, TILE_K = 128, 128, 64
COLLECTIVE = True
TR = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(a_gmem, b_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
  cta = lax.axis_index("pair")
  rows, cols = pl.ds(cta * TILE_M, TILE_M), pl.ds(pl.multiple_of(cta * TILE_N // 2, TILE_N // 2), TILE_N // 2)
  plgpu.copy_gmem_to_smem(a_gmem.at[rows], a_smem, loaded)
  plgpu.copy_gmem_to_smem(b_gmem.at[:, cols], b_smem, loaded)
  plgpu.barrier_wait(loaded)
  plgpu.barrier_arrive(done)
  plgpu.barrier_wait(done)
  plgpu.tcgen05_mma(acc, a_smem, b_smem, accumulate=False, collective_axis="pair")
  o_gmem[rows, :] = plgpu.async_load_tmem(acc)


FN = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((2 * TILE_M, TILE_N), jnp.float32),
    scratch_types=[
        plgpu.SMEM((TILE_M, TILE_K), jnp.bfloat16, transforms=TR),
        plgpu.SMEM((TILE_K, TILE_N // 2), jnp.bfloat16, transforms=TR),
        plgpu.TMEM((TILE_M, TILE_N), jnp.float32, collective=COLLECTIVE),
        plgpu.Barrier(num_arrivals=2),
        plgpu.ClusterBarrier(collective_axes=("pair",)),
    ],
    cluster=(2,), cluster_names=("pair",),
)
ARGS = [jax.ShapeDtypeStruct((2 * TILE_M, TILE_K), jnp.bfloat16), jax.ShapeDtypeStruct((TILE_K, TILE_N), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
