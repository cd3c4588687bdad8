import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

N = 128
DTYPE = jnp.float32
DEFAULT = plgpu.CompilerParams()


def add_body(x_gmem, y_gmem, out_gmem, x_smem, y_smem, ready):
  plgpu.copy_gmem_to_smem(x_gmem, x_smem, ready.at[0])
  plgpu.copy_gmem_to_smem(y_gmem, y_smem, ready.at[1])
  plgpu.barrier_wait(ready.at[0])
  plgpu.barrier_wait(ready.at[1])
  x_smem[...] = x_smem[...] + y_smem[...]
  plgpu.commit_smem()
  plgpu.copy_smem_to_gmem(x_smem, out_gmem)
  plgpu.wait_smem_to_gmem(0)


add = plgpu.kernel(
    add_body,
    out_type=jax.ShapeDtypeStruct((N,), DTYPE),
    scratch_types=[
        plgpu.SMEM((N,), DTYPE),
        plgpu.SMEM((N,), DTYPE),
        plgpu.Barrier(num_barriers=2),
    ],
    compiler_params=DEFAULT,
)
ARGS = [jax.ShapeDtypeStruct((N,), DTYPE)] * 2

if __name__ == "__main__":
  jax.jit(add).trace(*ARGS).lower(lowering_platforms=("cuda",))
