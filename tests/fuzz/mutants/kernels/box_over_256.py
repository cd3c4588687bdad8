import dataclasses
import functools
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


@dataclasses.dataclass(frozen=True)
class CopyConfig:
  block_rows: int = 32
  block_cols: int = 256
  dtype: type = jnp.bfloat16


def _body(src, dst, buf, bar, *, cfg: CopyConfig):
  r, c = lax.axis_index("r"), lax.axis_index("c")
  rows = pl.ds(r * cfg.block_rows, cfg.block_rows)
  cols = pl.ds(c * cfg.block_cols, cfg.block_cols)
  plgpu.copy_gmem_to_smem(src.at[rows, cols], buf, bar)
  plgpu.barrier_wait(bar)
  plgpu.copy_smem_to_gmem(buf, dst.at[rows, cols])
  plgpu.wait_smem_to_gmem(0)


def dispatch_copy(x, cfg=CopyConfig()):
  m, n = x.shape
  return plgpu.kernel(
      functools.partial(_body, cfg=cfg),
      out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
      grid=(m // cfg.block_rows, n // cfg.block_cols),
      grid_names=("r", "c"),
      scratch_types=(
          plgpu.SMEM((cfg.block_rows, cfg.block_cols), cfg.dtype),
          plgpu.Barrier(),
      ),
  )(x)


FN = dispatch_copy
ARGS = [jax.ShapeDtypeStruct((256, 5120), jnp.bfloat16)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
