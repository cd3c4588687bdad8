import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu



def body(out, smem, ready):
    me = jax.lax.axis_index("c")
    x = plgpu.layout_cast(jnp.zeros((64, 64), jnp.bfloat16), plgpu.Layout.WGMMA)
    plgpu.async_store_smem(x, smem, ready)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((64, 64), jnp.bfloat16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))),
        plgpu.Barrier(),
    ],
    grid=(2,),
    grid_names=("blocks",),
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
