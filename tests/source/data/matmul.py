"""A pipelined matrix multiplication for Hopper, its configuration and its test."""

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

SWIZZLE = 128
STAGES = 4
LAYOUTS = {
    "wgmma": plgpu.Layout.WGMMA,
    "strided": plgpu.Layout.WG_STRIDED((64,), vec_size=1),
}


@dataclasses.dataclass(frozen=True)
class Config:
    """Tile sizes in elements."""

    tile_m: int = 128
    tile_n: int = 128
    tile_k: int = 64
    stages: int = STAGES

    @property
    def smem_bytes(self):
        # Both operands, every stage.
        per_stage = (self.tile_m + self.tile_n) * self.tile_k * 2
        return per_stage * self.stages

    def grid(self, m, n):
        if m % self.tile_m or n % self.tile_n:
            raise ValueError(f"{m=} and {n=} must be multiples of {self.tile_m} and {self.tile_n}")
        return (m // self.tile_m, n // self.tile_n)


def matmul(a, b, config=Config()):
    """Multiplies a [m, k] with b [k, n]."""
    m, k = a.shape
    k2, n = b.shape
    if k != k2:
        raise ValueError(f"inner dimensions differ: {k} and {k2}")
    dtype = jnp.dtype(a.dtype)
    transforms = (
        plgpu.TilingTransform((8, SWIZZLE // dtype.itemsize)),
        plgpu.SwizzleTransform(SWIZZLE),
    )

    def kernel(a_gmem, b_gmem, out_gmem, *scratch, done=None):
        a_smem, b_smem, acc_smem, barriers = scratch
        m_slice = pl.ds(lax.axis_index("m") * config.tile_m, config.tile_m)
        n_slice = pl.ds(lax.axis_index("n") * config.tile_n, config.tile_n)

        def fetch(step, slot):
            k_slice = pl.ds(step * config.tile_k, config.tile_k)
            plgpu.copy_gmem_to_smem(a_gmem.at[m_slice, k_slice], a_smem.at[slot], barriers.at[slot])
            plgpu.copy_gmem_to_smem(
                b_gmem.at[k_slice, n_slice],
                b_smem.at[slot],
                barriers.at[slot],
            )

        for slot in range(config.stages):
            fetch(slot, slot)

        def accumulate(acc_ref):
            @functools.partial(lax.fori_loop, 0, k // config.tile_k, init_val=None)
            def _(step, carry):
                slot = lax.rem(step, config.stages)
                plgpu.barrier_wait(barriers.at[slot])
                plgpu.wgmma(acc_ref, a_smem.at[slot], b_smem.at[slot])
                plgpu.wgmma_wait(0)

                @pl.when(step + config.stages < k // config.tile_k)
                def refill():
                    fetch(step + config.stages, slot)

                return carry

            return acc_ref[...]

        acc = pl.run_scoped(accumulate, plgpu.ACC((config.tile_m, config.tile_n), jnp.float32))
        acc_smem[...] = acc.astype(dtype)
        plgpu.commit_smem()
        try:
            plgpu.copy_smem_to_gmem(acc_smem, out_gmem.at[m_slice, n_slice])
        except NotImplementedError as error:
            print(error)
            raise
        else:
            plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        kernel,
        out_shape=jax.ShapeDtypeStruct((m, n), dtype),
        grid=config.grid(m, n),
        grid_names=("m", "n"),
        scratch_shapes=[
            plgpu.SMEM((config.stages, config.tile_m, config.tile_k), dtype, transforms=transforms),
            plgpu.SMEM((config.stages, config.tile_k, config.tile_n), dtype, transforms=transforms),
            plgpu.SMEM((config.tile_m, config.tile_n), dtype, transforms=transforms),
            plgpu.Barrier(num_arrivals=2, num_barriers=config.stages),
        ],
    )(a, b)


class MatmulTest:
    shapes = ((4096, 4096, 4096), (1024, 512, 256))

    def test_shapes(self):
        for m, n, k in self.shapes:
            with jax.named_scope("matmul"):
                out = matmul(jnp.ones((m, k), jnp.bfloat16), jnp.ones((k, n), jnp.bfloat16))
            assert out.shape == (m, n)

    def test_config(self):
        config = Config(tile_m=64)
        assert config.smem_bytes == (64 + 128) * 64 * 2 * 4, "größe"


if __name__ == "__main__":
    for size, stages in itertools.product((512, 1024), (2, 4)):
        x = jnp.ones((size, size), jnp.float16)
        print(matmul(x, x, Config(stages=stages)))
    while False:
        pass
