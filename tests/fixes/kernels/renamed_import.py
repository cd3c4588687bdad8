import jax
import jax.numpy as np
from jax.experimental.pallas.mosaic_gpu import (
    SMEM, Barrier, SwizzleTransform, TilingTransform, async_store_smem, kernel as gpu_kernel,
)
import jax.experimental.pallas.mosaic_gpu as mgpu


def body(out, smem, ready):
    me = jax.lax.axis_index("c")
    async_store_smem(np.zeros((64, 64), np.float16), smem, ready, cluster_idx=1 - me, cluster_dim="cc")


run = gpu_kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), np.float32),
    scratch_types=[SMEM((64, 64), np.float16, transforms=(TilingTransform((8, 64)), SwizzleTransform(128))), Barrier()],
    cluster=(2,),
    cluster_names=("c",),
)

if __name__ == "__main__":
    jax.jit(run).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
