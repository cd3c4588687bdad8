"""Sums of products, one accumulator in each of two warpgroups."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def zeros(o_gmem):
    rows = pl.ds(jax.lax.axis_index("wg") * 64, 64)

    def body(acc):
        o_gmem.at[rows][...] = acc[...]

    pl.run_scoped(body, plgpu.ACC((64, 128), jnp.float32))


kernel = plgpu.kernel(
    zeros,
    out_type=jax.ShapeDtypeStruct((128, 128), jnp.float32),
    num_threads=2,
    thread_name="wg",
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
