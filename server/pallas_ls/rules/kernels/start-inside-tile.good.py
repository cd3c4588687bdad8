import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(x_gmem, shift_gmem, o_gmem, tile, loaded):
    first = pl.multiple_of(shift_gmem[0], 8)
    plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds(first, 64)], tile, loaded)
    plgpu.barrier_wait(loaded)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((64, 64), jnp.float16, transforms=TILES), plgpu.Barrier()],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)
jax.jit(f).trace(jax.ShapeDtypeStruct((512, 64), jnp.float16), jax.ShapeDtypeStruct((1,), jnp.int32)).lower(
    lowering_platforms=("cuda",)
)
