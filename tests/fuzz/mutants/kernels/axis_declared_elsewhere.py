import dataclasses
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


@dataclasses.dataclass(frozen=True)
class Config:
  tile_m: int = 64
  tile_n: int = 128
  collective: bool = False


def copy_tiles(x, config: Config = Config()):
  m, n = x.shape

  def body(x_gmem, o_gmem, buf, bar):
    cta = lax.axis_index("x") if config.collective else 0
    mi, ni = lax.axis_index("m"), lax.axis_index("n")
    tile_m = config.tile_m
    rows = pl.ds((mi * (1 + config.collective) + cta) * tile_m, tile_m)
    cols = pl.ds(ni * config.tile_n, config.tile_n)
    plgpu.copy_gmem_to_smem(x_gmem.at[rows, cols], buf, bar)
    plgpu.barrier_wait(bar)
    plgpu.copy_smem_to_gmem(buf, o_gmem.at[rows, cols])
    plgpu.wait_smem_to_gmem(0)

  launch = dict(cluster=(2,), cluster_names=("x",)) if config.collective else {}
  return plgpu.kernel(
      body,
      out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
      scratch_types=[plgpu.SMEM((config.tile_m, config.tile_n), x.dtype), plgpu.Barrier()],
      grid=(m // config.tile_m // (1 + config.collective), n // config.tile_n),
      grid_names=("m", "n"),
      **launch,
  )(x)


FN = copy_tiles
ARGS = [jax.ShapeDtypeStruct((512, 512), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
