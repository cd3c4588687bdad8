import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu



def body(out):
    me = jax.lax.axis_index("c")

    def scoped(buffer, ready):
        x = jnp.zeros((64, 64), jnp.bfloat16)
        plgpu.async_store_smem(x, buffer, ready, cluster_idx=1 - me, cluster_dim="c")
        plgpu.barrier_wait(ready)

    pl.run_scoped(
        scoped,
        plgpu.SMEM((64, 64), jnp.bfloat16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(64))),
        plgpu.Barrier(),
    )


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
