"""Keeps an accumulator in tensor memory."""

# pallas: target sm_100a
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def zeros(o_gmem, acc):
    plgpu.async_store_tmem(acc, plgpu.layout_cast(jnp.zeros((128, 128), jnp.float32), plgpu.Layout.TCGEN05))
    plgpu.commit_tmem()
    o_gmem[...] = plgpu.async_load_tmem(acc)


kernel = plgpu.kernel(
    zeros,
    out_type=jax.ShapeDtypeStruct((128, 128), jnp.float32),
    scratch_types=dict(
        acc=plgpu.TMEM((128, 128), jnp.float32),
    ),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
