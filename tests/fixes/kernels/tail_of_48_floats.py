import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

N = 48  # floats a block


def body(out, smem, ready):
    me = jax.lax.axis_index("c")
    plgpu.async_store_smem(
        jnp.ones((N,), jnp.float32),
        smem,
        ready,
        cluster_idx=1 - me,
        cluster_dim="c",
    )


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((N,), jnp.float32),
    scratch_types=[plgpu.SMEM((N,), jnp.float32), plgpu.Barrier()],
    cluster=(2,),
    cluster_names=("c",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
