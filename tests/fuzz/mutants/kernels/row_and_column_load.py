import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

T = 64
W = plgpu.Layout.WGMMA
TR = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))


@plgpu.kernel(
    out_type=jax.ShapeDtypeStruct((8, T, T), jnp.float32),
    scratch_types=dict(
        gates=plgpu.SMEM((2, T), jnp.float32),
        out=plgpu.SMEM((T, T), jnp.float32, transforms=TR),
        bar=plgpu.Barrier(),
    ),
    grid=(8,), grid_names=("c",),
)
def decay(g_gmem, o_gmem, *, gates, out, bar):
  c = lax.axis_index("c")
  plgpu.copy_gmem_to_smem(g_gmem.at[c], gates, bar)
  plgpu.barrier_wait(bar)
  rows = plgpu.load(gates.at[0], layout=W.reduce(1))
  cols = plgpu.load(gates.at[1], layout=W.reduce(0))
  d = lax.broadcast_in_dim(rows, (T, T), (0,)) - lax.broadcast_in_dim(cols, (T, T), (1,))
  out[...] = jnp.exp2(d)
  plgpu.commit_smem()
  plgpu.copy_smem_to_gmem(out, o_gmem.at[c])
  plgpu.wait_smem_to_gmem(0)


FN = decay
ARGS = [jax.ShapeDtypeStruct((8, 2, T), jnp.float32)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
