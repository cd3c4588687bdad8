import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS = 48


def body(x_gmem, out, x_smem, peer, ready, loaded):
    me = jax.lax.axis_index("c")
    plgpu.copy_gmem_to_smem(x_gmem, x_smem, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.async_store_smem(x_smem[...], peer, ready, cluster_idx=1 - me, cluster_dim="c")
    plgpu.barrier_wait(ready)
    plgpu.copy_smem_to_gmem(peer, out)
    plgpu.wait_smem_to_gmem(0)


TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((48, 64), jnp.bfloat16),
    scratch_types=[
        plgpu.SMEM((ROWS, 64), jnp.bfloat16, transforms=TRANSFORMS),
        plgpu.SMEM((ROWS, 64), jnp.bfloat16, transforms=TRANSFORMS),
        plgpu.Barrier(),
        plgpu.Barrier(),
    ],
    cluster=(2,),
    cluster_names=("c",),
)


def main():
    x = jnp.zeros((ROWS, 64), jnp.bfloat16)
    return kernel(x)


if __name__ == "__main__":
    jax.jit(main).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
