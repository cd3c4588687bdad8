import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(o_gmem, s):
    row = s[...]
    o_gmem[0] = jnp.argmax(row)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.int32),
    scratch_types=[plgpu.SMEM((256,), jnp.float32)],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(f).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
