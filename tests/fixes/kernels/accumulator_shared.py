import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(o_gmem, acc, out):
    """Stores what nothing was added to."""
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def _():
        out[...] = acc[...]

    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(out, o_gmem)
    plgpu.wait_smem_to_gmem(0)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((64, 64), jnp.float32),
    scratch_types=[
        plgpu.ACC((64, 64), jnp.float32),
        plgpu.SMEM((64, 64), jnp.float32),
    ],
    num_threads=2,
    thread_name="wg",
)

if __name__ == "__main__":
    jax.jit(f).trace().lower(lowering_platforms=("cuda",))
    print("LOWERED OK")
