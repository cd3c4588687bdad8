import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

M, N, BLOCK = 512, 128, 64
SWIZZLE = plgpu.find_swizzle(N * jnp.dtype(jnp.float32).itemsize * 8)
TRANSFORMS = (plgpu.TilingTransform((8, SWIZZLE // 4)), plgpu.SwizzleTransform(SWIZZLE))


def scale(x_ref, y_ref, tmp):
  tmp[...] = x_ref[...] * 3.0
  y_ref[...] = tmp[...]


def body(x_gmem, y_gmem, tmp):
  spec = plgpu.BlockSpec((BLOCK, N), lambda i: (i, 0), transforms=TRANSFORMS)
  plgpu.emit_pipeline(
      lambda _, x, y: scale(x, y, tmp),
      grid=(M // BLOCK,), in_specs=[spec], out_specs=[spec], max_concurrent_steps=2,
  )(x_gmem, y_gmem)


FN = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((M, N), jnp.float32),
    scratch_types=[plgpu.SMEM((BLOCK, N), jnp.float32, transforms=TRANSFORMS)],
)
ARGS = [jax.ShapeDtypeStruct((M, N), jnp.float32)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
