import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, ready):
    pl.semaphore_signal(ready, 1, core_index=0)  # <- refused


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SemaphoreType.REGULAR(())],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
