import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 64


def body(x_gmem, out_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, tile, loaded, leader_tracked=plgpu.CopyPartition.REPLICATED)
    plgpu.barrier_wait(loaded)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16),
    scratch_types=dict(
        tile=plgpu.SMEM((ROWS, COLS), jnp.float16),
        loaded=plgpu.Barrier(),
    ),
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    x = jax.ShapeDtypeStruct((ROWS, COLS), jnp.float16)
    jax.jit(f).trace(x).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
