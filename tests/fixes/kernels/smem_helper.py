import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu



def tiled(shape, dtype, swizzle=128):
    bits = jnp.dtype(dtype).itemsize * 8
    return plgpu.SMEM(
        shape,
        dtype,
        transforms=(plgpu.TilingTransform((8, 8 * swizzle // bits)), plgpu.SwizzleTransform(swizzle)),
    )


def body(out, smem, ready):
    me = jax.lax.axis_index("c")
    x = plgpu.layout_cast(jnp.zeros((64, 32), jnp.bfloat16), plgpu.Layout.WGMMA)
    plgpu.async_store_smem(x, smem, ready, cluster_idx=1 - me, cluster_dim="c")


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[tiled((64, 32), jnp.bfloat16), plgpu.Barrier()],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
