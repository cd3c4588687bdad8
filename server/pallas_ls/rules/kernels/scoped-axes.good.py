"""Two warpgroups fill a buffer that they share."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def fill(o_gmem):
    def body(buf):
        wg = jax.lax.axis_index("wg")
        buf.at[wg][...] = jnp.full((128,), wg, jnp.float32)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(buf.at[wg], o_gmem.at[wg])
        plgpu.wait_smem_to_gmem(0)

    pl.run_scoped(body, plgpu.SMEM((2, 128), jnp.float32), collective_axes="wg")


kernel = plgpu.kernel(
    fill,
    out_type=jax.ShapeDtypeStruct((2, 128), jnp.float32),
    num_threads=2,
    thread_name="wg",
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
