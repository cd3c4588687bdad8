import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def shifted_copy(x, shift, *, block_m=64, block_n=128,
                 semantics=plgpu.LoweringSemantics.Lane):
  m, n = x.shape
  itemsize = jnp.dtype(x.dtype).itemsize
  swizzle = plgpu.find_swizzle(block_n * itemsize * 8)
  transforms = (plgpu.TilingTransform((8, swizzle // itemsize)), plgpu.SwizzleTransform(swizzle))

  def body(x_gmem, shift_gmem, o_gmem, tile, bar):
    mi, ni = lax.axis_index("m"), lax.axis_index("n")
    cols = pl.ds(ni * block_n, block_n)
    first_row = mi * block_m + shift_gmem[0]
    plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds(first_row, block_m), cols], tile, bar)
    plgpu.barrier_wait(bar)
    plgpu.copy_smem_to_gmem(tile, o_gmem.at[pl.ds(mi * block_m, block_m), cols])
    plgpu.wait_smem_to_gmem(0)

  return plgpu.kernel(
      body,
      out_type=jax.ShapeDtypeStruct((m, n), x.dtype),
      scratch_types=[plgpu.SMEM((block_m, block_n), x.dtype), plgpu.Barrier()],
      grid=(m // block_m, n // block_n), grid_names=("m", "n"),
      compiler_params=plgpu.CompilerParams(lowering_semantics=semantics),
  )(x, shift)


FN = shifted_copy
ARGS = [jax.ShapeDtypeStruct((512, 256), jnp.bfloat16), jax.ShapeDtypeStruct((1,), jnp.int32)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
