import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

N = 64
BF16 = jnp.bfloat16
TR = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def transpose_tile(x_gmem, xt_gmem, x_smem, xt_smem, bar):
  plgpu.copy_gmem_to_smem(x_gmem, x_smem, bar)
  plgpu.barrier_wait(bar)
  v = plgpu.load(x_smem, layout=plgpu.Layout.WGMMA)
  xt_smem.T[...] = plgpu.layout_cast(v, plgpu.Layout.WGMMA_TRANSPOSED)
  plgpu.commit_smem()
  plgpu.copy_smem_to_gmem(xt_smem, xt_gmem)
  plgpu.wait_smem_to_gmem(0)


FN = plgpu.kernel(
    transpose_tile,
    out_type=jax.ShapeDtypeStruct((N, N), BF16),
    scratch_types=[*(plgpu.SMEM((N, N), BF16, transforms=TR) for _ in range(2)), plgpu.Barrier()],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)
ARGS = [jax.ShapeDtypeStruct((N, N), BF16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
