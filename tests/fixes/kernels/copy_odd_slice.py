import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(x, o_gmem, s, b):
    plgpu.copy_gmem_to_smem(x, s.at[4:16], b)
    plgpu.barrier_wait(b)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((64, 64), jnp.float16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))), plgpu.Barrier()],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct((12, 64), jnp.float16)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
