import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

CONFIG = dict(tile_m=64, tile_n=128, tile_k=64, steps=4, delay=2)


def kernel(a_gmem, b_gmem, o_gmem, acc, *, tile_m, tile_n, tile_k, steps, delay):
  tr = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

  def body(_, a_smem, b_smem):
    plgpu.wgmma(acc, a_smem, b_smem)
    plgpu.wgmma_wait(delay)

  pipe = plgpu.emit_pipeline(
      body,
      grid=(a_gmem.shape[1] // tile_k,),
      in_specs=[
          plgpu.BlockSpec((tile_m, tile_k), lambda k: (0, k), delay_release=delay, transforms=tr),
          plgpu.BlockSpec((tile_k, tile_n), lambda k: (k, 0), delay_release=delay, transforms=tr),
      ],
      max_concurrent_steps=steps,
  )
  pipe(a_gmem, b_gmem)
  o_gmem[...] = acc[...]


FN = plgpu.kernel(
    functools.partial(kernel, **CONFIG),
    out_type=jax.ShapeDtypeStruct((CONFIG["tile_m"], CONFIG["tile_n"]), jnp.float32),
    scratch_types=[plgpu.ACC((CONFIG["tile_m"], CONFIG["tile_n"]))],
)
ARGS = [jax.ShapeDtypeStruct((64, 512), jnp.bfloat16), jax.ShapeDtypeStruct((512, 128), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
