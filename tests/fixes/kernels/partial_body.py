import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu



def body(out, smem, ready, *, rows, cols):
    me = jax.lax.axis_index("c")
    x = plgpu.layout_cast(jnp.zeros((rows, cols), jnp.float32), plgpu.Layout.WGMMA)
    plgpu.async_store_smem(x, smem, ready, cluster_idx=1 - me, cluster_dim="c")


ROWS, COLS = 64, 32
kernel = plgpu.kernel(
    functools.partial(body, rows=ROWS, cols=COLS),
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((ROWS, COLS), jnp.float32), plgpu.Barrier()],
    cluster=(2,),
    cluster_names=("c",),
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
