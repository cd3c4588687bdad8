import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def matmul(a, b, tile_m=64, tile_n=128, tile_k=64, out_dtype=jnp.bfloat16):
  (m, k), (_, n) = a.shape, b.shape
  tr = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

  def kernel(a_gmem, b_gmem, o_gmem, o_smem, acc):
    mi, ni = lax.axis_index("m"), lax.axis_index("n")
    plgpu.emit_pipeline(
        lambda _, a_s, b_s: plgpu.wgmma(acc, a_s, b_s),
        grid=(k // tile_k,),
        in_specs=[
            plgpu.BlockSpec((tile_m, tile_k), lambda kk: (mi, kk), transforms=tr, delay_release=1),
            plgpu.BlockSpec((tile_k, tile_n), lambda kk: (kk, ni), transforms=tr, delay_release=1),
        ],
        max_concurrent_steps=3,
    )(a_gmem, b_gmem)
    o_smem[...] = acc[...].astype(out_dtype)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(o_smem, o_gmem.at[pl.ds(mi * tile_m, tile_m), pl.ds(ni * tile_n, tile_n)])
    plgpu.wait_smem_to_gmem(0)

  return plgpu.kernel(
      kernel,
      out_type=jax.ShapeDtypeStruct((m, n), out_dtype),
      grid=(m // tile_m, n // tile_n), grid_names=("m", "n"),
      scratch_types=dict(
          o_smem=plgpu.SMEM((tile_m, tile_n), out_dtype, transforms=tr),
          acc=plgpu.ACC((tile_m, tile_n), jnp.float32),
      ),
  )(a, b)


FN = matmul
ARGS = [jax.ShapeDtypeStruct((512, 512), jnp.bfloat16), jax.ShapeDtypeStruct((512, 512), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
