"""Kernels for JAX's GPU interpreter: two threads that agree on who writes, and two that do not."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.pallas import mosaic_gpu as plgpu

OUT = jax.ShapeDtypeStruct((2, 128), jnp.float32)


def in_turn(x):
    """Each of the two threads writes a row of its own."""

    def body(x_gmem, o_gmem):
        row = lax.axis_index("thread")
        o_gmem[row] = x_gmem[row] + 1

    return plgpu.kernel(body, out_type=OUT, num_threads=2, thread_name="thread")(x)


def at_once(x):
    """Both threads write the same row, with nothing between them."""

    def body(x_gmem, o_gmem):
        o_gmem[0] = x_gmem[lax.axis_index("thread")]

    return plgpu.kernel(body, out_type=OUT, num_threads=2, thread_name="thread")(x)
