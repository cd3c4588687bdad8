import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS = 48
COLS = 64
DTYPE = jnp.bfloat16


def body(out, smem, ready):
    me = jax.lax.axis_index("cluster")
    tile = plgpu.layout_cast(jnp.zeros((ROWS, COLS), DTYPE), plgpu.Layout.WGMMA)
    plgpu.async_store_smem(tile, smem, ready, cluster_idx=1 - me, cluster_dim="cluster")
    plgpu.barrier_wait(ready)


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((ROWS, COLS), DTYPE, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))),
        plgpu.Barrier(),
    ],
    grid=(2,),
    grid_names=("g",),
    cluster=(2,),
    cluster_names=("cluster",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
