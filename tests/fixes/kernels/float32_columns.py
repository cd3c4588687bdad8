import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(a_gmem, o_gmem, a, b, acc, arrived):
    plgpu.copy_gmem_to_smem(a_gmem, a, arrived)
    plgpu.barrier_wait(arrived)
    plgpu.wgmma(acc, a, b)
    plgpu.wgmma_wait(0)


TILED = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))
f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((64, 32), jnp.float32, transforms=TILED),
        plgpu.SMEM((32, 128), jnp.float32, transforms=TILED),
        plgpu.ACC((64, 128), jnp.float32),
        plgpu.Barrier(),
    ],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct((64, 32), jnp.float32)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
