import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o_gmem, mine):
    plgpu.cluster_ref(mine, {"pair": 1})[...] = jnp.zeros((128,), jnp.float32)  # <- refused


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32)],
    cluster=(2,),
    cluster_names=("pair",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Warpgroup),
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
