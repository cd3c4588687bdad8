# pallas: target sm_100a
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(x, o_gmem):
    idx = plgpu.layout_cast(jnp.zeros((16,), jnp.uint32), plgpu.Layout.TMA_INDICES)
    plgpu.async_prefetch(x.at[idx])


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct((64, 64), jnp.float32)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
