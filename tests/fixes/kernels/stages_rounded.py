import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

STAGES = 2
TILE = 40


def body(out, smem, ready):
    me = jax.lax.axis_index("c")

    @pl.loop(0, 4)
    def _(i):
        slot = jax.lax.rem(i, STAGES)
        x = jnp.zeros((TILE, 64), jnp.bfloat16)
        plgpu.async_store_smem(x, smem.at[slot], ready.at[slot], cluster_idx=1 - me, cluster_dim="c")


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM(
            (STAGES, TILE, 64),
            jnp.bfloat16,
            transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)),
        ),
        plgpu.Barrier(num_barriers=STAGES),
    ],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
