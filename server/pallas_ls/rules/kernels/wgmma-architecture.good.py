import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(o_gmem, a, b):
    def multiply(acc):
        plgpu.wgmma(acc, a, b)
        return acc[...]

    o_gmem[...] = pl.run_scoped(multiply, plgpu.ACC((64, 64), jnp.float32))


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((64, 64), jnp.float32),
    scratch_types=[
        plgpu.SMEM((64, 64), jnp.float16, transforms=TILES),
        plgpu.SMEM((64, 64), jnp.float16, transforms=TILES),
    ],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
