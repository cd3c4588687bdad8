"""Lowers when it is imported, as scripts do."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(o, smem):
    smem[...] = jnp.zeros((64, 64), jnp.float32)
    plgpu.commit_smem()


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((64, 64), jnp.float32)],
)
jax.jit(f).trace().lower(lowering_platforms=("cuda",))
jax.jit(f).trace().lower(lowering_platforms=("cuda",))

if __name__ == "__main__":
    raise SystemExit("the module was run as a script")
