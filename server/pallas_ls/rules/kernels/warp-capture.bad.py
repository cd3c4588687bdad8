import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, tile):
    x = tile[...]

    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
        pl.debug_print("{}", x)  # <- refused


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32)],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
