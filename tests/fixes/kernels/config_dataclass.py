import dataclasses

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu



@dataclasses.dataclass(frozen=True)
class Config:
    rows: int = 64
    cols: int = 64
    swizzle: int = 16


def make(config):
    transforms = (
        plgpu.TilingTransform((8, 8 * config.swizzle // 16)),
        plgpu.SwizzleTransform(config.swizzle),
    )

    def body(out, smem, ready):
        me = jax.lax.axis_index("c")
        x = plgpu.layout_cast(jnp.zeros((config.rows, config.cols), jnp.float16), plgpu.Layout.WGMMA)
        plgpu.async_store_smem(x, smem, ready, cluster_idx=1 - me, cluster_dim="c")

    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
        scratch_types=[
            plgpu.SMEM((config.rows, config.cols), jnp.float16, transforms=transforms),
            plgpu.Barrier(),
        ],
        cluster=(2,),
        cluster_names=("c",),
    )


CONFIG = Config()
kernel = make(CONFIG)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
