import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu



def make_kernel(tile_m, tile_n, dtype):
    def body(out, smem, ready):
        me = jax.lax.axis_index("c")
        acc = plgpu.layout_cast(jnp.zeros((tile_m, tile_n), dtype), plgpu.Layout.WGMMA)
        plgpu.async_store_smem(acc, smem, ready, cluster_idx=1 - me, cluster_dim="c")

    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
        scratch_types=dict(smem=plgpu.SMEM((tile_m, tile_n), dtype, transforms=transforms), ready=plgpu.Barrier()),
        cluster=(2,),
        cluster_names=("c",),
    )


kernel = make_kernel(64, 96, jnp.bfloat16)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
