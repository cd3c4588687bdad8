import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu



def body(out, smem, ready):
    me = jax.lax.axis_index("c")
    plgpu.async_store_smem(
        plgpu.layout_cast(jnp.zeros((64, 64), jnp.int8), plgpu.Layout.WGMMA),
        smem, ready,
        cluster_idx=1 - me, cluster_dim="c")


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((64, 64), jnp.int8, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(64))),
        plgpu.Barrier(),
    ],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
