import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(o_gmem, s):
    x = plgpu.load(s, layout=plgpu.Layout.WGMMA, optimized=False)
    o_gmem[...] = x[0:32]


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((32, 64), jnp.float32),
    scratch_types=[plgpu.SMEM((64, 64), jnp.float32)],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(f).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
