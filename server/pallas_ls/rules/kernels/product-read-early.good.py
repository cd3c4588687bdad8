import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(a_gmem, b_gmem, o_gmem, a, b, acc, loaded, done):
    plgpu.copy_gmem_to_smem(a_gmem, a, loaded)
    plgpu.copy_gmem_to_smem(b_gmem, b, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)
    plgpu.barrier_wait(done)
    o_gmem[...] = plgpu.async_load_tmem(acc)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128, 128), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128, 64), jnp.float16, transforms=TILES),
        plgpu.SMEM((64, 128), jnp.float16, transforms=TILES),
        plgpu.TMEM((128, 128), jnp.float32),
        plgpu.Barrier(num_arrivals=2),
        plgpu.Barrier(orders_tensor_core=True),
    ],
)
jax.jit(f).trace(jax.ShapeDtypeStruct((128, 64), jnp.float16), jax.ShapeDtypeStruct((64, 128), jnp.float16)).lower(
    lowering_platforms=("cuda",)
)
