
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

F32 = jnp.float32
TILES = {"q": (64, 256), "k": (128, 256), "v": (32, 256)}
GATES = ("decay", "beta", "mask", "norm")
SLOTS = {n: plgpu.SMEM(s, F32) for n, s in TILES.items()} | {"gates": plgpu.SMEM((len(GATES), 128), F32)}

def body(x_gmem, o_gmem, *, bar, **bufs):
  gates = bufs["gates"]
  for i, _ in enumerate(GATES):
    plgpu.copy_gmem_to_smem(x_gmem, gates.at[i], bar)
    plgpu.barrier_wait(bar)
  o_gmem[...] = gates[0] * gates[1] + gates[2] * gates[3]

FN = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), F32),
    scratch_types=SLOTS | {"bar": plgpu.Barrier()},
)
ARGS = [jax.ShapeDtypeStruct((128,), F32)]

if __name__ == "__main__":
  jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))
