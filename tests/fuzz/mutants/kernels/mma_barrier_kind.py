# arch: 10.0
import dataclasses
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


@dataclasses.dataclass(frozen=True)
class Tile:
  m: int = 128
  n: int = 128
  k: int = 64
  dtype: jnp.dtype = jnp.bfloat16

  def smem(self, *shape):
    sw = plgpu.find_swizzle(shape[-1] * jnp.dtype(self.dtype).itemsize * 8)
    return plgpu.SMEM(shape, self.dtype, transforms=(
        plgpu.TilingTransform((8, sw // jnp.dtype(self.dtype).itemsize)), plgpu.SwizzleTransform(sw)))


def matmul(a, b, t=Tile()):
  def body(a_gmem, b_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
    plgpu.copy_gmem_to_smem(a_gmem, a_smem, loaded)
    plgpu.copy_gmem_to_smem(b_gmem, b_smem, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
    plgpu.barrier_wait(done)
    o_gmem[...] = plgpu.async_load_tmem(acc)

  return plgpu.kernel(
      body,
      out_type=jax.ShapeDtypeStruct((t.m, t.n), jnp.float32),
      scratch_types=[
          t.smem(t.m, t.k), t.smem(t.k, t.n),
          plgpu.TMEM((t.m, t.n), jnp.float32),
          plgpu.Barrier(num_arrivals=2),
          plgpu.Barrier(orders_tensor_core=True),
      ],
  )(a, b)


FN = matmul
ARGS = [jax.ShapeDtypeStruct((128, 64), jnp.bfloat16), jax.ShapeDtypeStruct((64, 128), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
