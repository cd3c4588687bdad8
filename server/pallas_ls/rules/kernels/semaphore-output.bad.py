"""Has a semaphore, and uses it for nothing."""

import jax
from jax.experimental.pallas import mosaic_gpu as plgpu


def idle(done):
    del done


kernel = plgpu.kernel(
    idle,
    out_type=plgpu.SemaphoreType.REGULAR,  # <- refused
    scratch_types=[],
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
