import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, smem, barrier):
    x = plgpu.layout_cast(jnp.zeros((64, 64), jnp.float16), plgpu.Layout.WGMMA)
    i = jax.lax.axis_index("c")
    plgpu.async_store_smem(x, smem, barrier, cluster_idx=1 - i, cluster_dim="c")


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((64, 64), jnp.float16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))),
        plgpu.Barrier(),
    ],
    grid=(2,),
    grid_names=("g",),
    cluster=(2,),
    cluster_names=("c",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Warpgroup),
)


def run():
    return f()
