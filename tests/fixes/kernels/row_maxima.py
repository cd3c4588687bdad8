import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out, row_max, ready):
    me = jax.lax.axis_index("c")
    scores = plgpu.layout_cast(jnp.zeros((64, 64), jnp.float32), plgpu.Layout.WGMMA)
    plgpu.async_store_smem(scores.max(axis=1), row_max, ready, cluster_idx=1 - me, cluster_dim="c")
    plgpu.barrier_wait(ready)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=dict(row_max=plgpu.SMEM((64,), jnp.float32), ready=plgpu.Barrier()),
    cluster=(2,),
    cluster_names=("c",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
