"""Has room for operands of tcgen05 in tensor memory."""

# pallas: target sm_100a
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def room(o_gmem, a_tmem, acc_tmem):
    del o_gmem, a_tmem, acc_tmem


kernel = plgpu.kernel(
    room,
    out_type=jax.ShapeDtypeStruct((128, 128), jnp.float32),
    scratch_types=dict(
        a_tmem=plgpu.TMEM((128, 64), jnp.bfloat16, packed=True, collective=True),
        acc_tmem=plgpu.TMEM((128, 256), jnp.float32, collective=True),
    ),
    cluster=(2,),
    cluster_names=("pair",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
