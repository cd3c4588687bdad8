"""Runs files in JAX's interpreter on the CPU and prints what their `main` returns: `python interpret.py FILE…`.

The interpreter does not know stores to other blocks. In the files here every block sends what it receives, so a store
of the block to itself is the same. Prints a JSON line a file: the results as lists, or the error.
"""

import json
import os
import runpy
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
from jax.experimental.pallas import mosaic_gpu as plgpu


def to_itself(src, ref, barrier, *, cluster_idx, cluster_dim, **options):
    """`plgpu.async_store_smem` where the sender is the receiver."""
    ref[...] = src
    plgpu.barrier_arrive(barrier)


plgpu.async_store_smem = to_itself


def returned(path):
    """What the file's `main` returns."""
    main = runpy.run_path(path)["main"]
    with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams()):
        return jax.tree.map(lambda x: x.astype("float32").tolist(), jax.jit(main)())


if __name__ == "__main__":
    for file in sys.argv[1:]:
        try:
            row = {"file": file, "values": returned(file)}
        except Exception as error:  # whatever it says is for the test to show
            row = {"file": file, "error": f"{type(error).__name__}: {str(error)[:500]}"}
        print(json.dumps(row), flush=True)
