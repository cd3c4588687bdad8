# pallas: target sm_100a
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(x, o_gmem, s, b):
    idx = plgpu.layout_cast(jnp.zeros((16,), jnp.uint32), plgpu.Layout.TMA_INDICES)
    first = jax.lax.axis_index("g") == 0
    plgpu.copy_gmem_to_smem(
        x.at[idx],
        s,
        b,
        collective_axes="g",
    )
    plgpu.barrier_wait(b)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((16, 64), jnp.float32), plgpu.Barrier()],
    cluster=(2,),
    cluster_names=("g",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct((64, 64), jnp.float32)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
