import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

BLOCK = 24
ROWS = BLOCK * 2


def body(out, smem, ready):
    me = jax.lax.axis_index("c")
    x = jnp.full((2 * BLOCK, 64), 1.0, jnp.float16)
    plgpu.async_store_smem(x, smem, ready, cluster_idx=1 - me, cluster_dim="c")


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((ROWS, 64), jnp.float16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))),
        plgpu.Barrier(),
    ],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
