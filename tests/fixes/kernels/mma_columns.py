import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

M, N, K = 256, 1024, 64
TILE_M, TILE_N = 64, 512
TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(a_gmem, b_gmem, out_gmem, a, b, out, arrived):
    rows = pl.ds(jax.lax.axis_index("m") * TILE_M, TILE_M)
    columns = pl.ds(jax.lax.axis_index("n") * TILE_N, TILE_N)
    plgpu.copy_gmem_to_smem(a_gmem.at[rows], a, arrived)
    plgpu.copy_gmem_to_smem(b_gmem.at[:, columns], b, arrived)
    plgpu.barrier_wait(arrived)

    def multiply(acc):
        plgpu.wgmma(acc, a, b)
        return acc[...]

    out[...] = pl.run_scoped(multiply, plgpu.ACC((TILE_M, TILE_N), jnp.float32)).astype(jnp.float16)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(out, out_gmem.at[rows, columns])
    plgpu.wait_smem_to_gmem(0)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((M, N), jnp.float16),
    scratch_types=[
        plgpu.SMEM((TILE_M, K), jnp.float16, transforms=TILED),
        plgpu.SMEM((K, TILE_N), jnp.float16, transforms=TILED),
        plgpu.SMEM((TILE_M, TILE_N), jnp.float16, transforms=TILED),
        plgpu.Barrier(num_arrivals=2),
    ],
    grid=(M // TILE_M, N // TILE_N),
    grid_names=("m", "n"),
)

if __name__ == "__main__":
    jax.jit(f).trace(jax.ShapeDtypeStruct((M, K), jnp.float16), jax.ShapeDtypeStruct((K, N), jnp.float16)).lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
