import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

SHAPE = (2, 2, 2, 2, 4, 64)


def body(x_gmem, out_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, tile, loaded)
    plgpu.barrier_wait(loaded)
    out_gmem[...] = tile[...]


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct(SHAPE, jnp.float16),
    scratch_types=[plgpu.SMEM(SHAPE, jnp.float16), plgpu.Barrier()],
    cluster=(2,),
    cluster_names=("c",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct(SHAPE, jnp.float16)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
