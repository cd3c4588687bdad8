import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

M = 480
BLOCK = 48


def body(x_gmem, out, x_smem, peer, ready, loaded):
    me = jax.lax.axis_index("c")

    @pl.loop(0, M // BLOCK)
    def _(i):
        plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds(i * BLOCK, BLOCK)], x_smem, loaded)
        plgpu.barrier_wait(loaded)
        plgpu.async_store_smem(x_smem[...], peer, ready, cluster_idx=1 - me, cluster_dim="c")
        plgpu.barrier_wait(ready)


TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((BLOCK, 64), jnp.bfloat16, transforms=TRANSFORMS),
        plgpu.SMEM((BLOCK, 64), jnp.bfloat16, transforms=TRANSFORMS),
        plgpu.Barrier(),
        plgpu.Barrier(),
    ],
    cluster=(2,),
    cluster_names=("c",),
)


def main():
    return kernel(jnp.zeros((M, 64), jnp.bfloat16))


if __name__ == "__main__":
    jax.jit(main).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
