"""Kernels that JAX refuses, one a function; the comment with its name and JAX's answer is on the line to blame."""

import functools

import jax
import jax.numpy as jnp
import tiles
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

LANE = plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane)
WARPGROUP = plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Warpgroup)
OUT = jax.ShapeDtypeStruct((128,), jnp.float32)
TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

in_cluster = functools.partial(
    plgpu.kernel, out_type=OUT, grid=(2,), grid_names=("g",), cluster=(2,), cluster_names=("c",)
)
store = functools.partial(plgpu.async_store_smem, cluster_idx=0, cluster_dim="c")


def tiled(rows):
    return plgpu.SMEM((rows, 64), jnp.float16, transforms=TRANSFORMS)


def swizzle_value():
    return plgpu.SwizzleTransform(16)  # <- swizzle_value: ValueError: Swizzle 16 is not supported


def no_arrivals():
    return plgpu.kernel(
        lambda o, b: None,
        out_type=OUT,
        scratch_types=[plgpu.Barrier(num_arrivals=0)],  # <- no_arrivals: ValueError: Num arrivals must be at least 1
    )


def store_to_a_value():
    def body(o, smem, barrier):
        x = jnp.zeros((64, 64), jnp.float16)
        store(x, x, barrier)  # <- store_to_a_value: ValueError: Can

    return in_cluster(body, scratch_types=[tiled(64), plgpu.Barrier()], compiler_params=WARPGROUP)


def shapes_differ():
    def body(o, smem, barrier):
        x = jnp.zeros((64, 32), jnp.float16)
        store(x, smem, barrier)  # <- shapes_differ: TypeError: The stored

    return in_cluster(body, scratch_types=[tiled(64), plgpu.Barrier()], compiler_params=WARPGROUP)


def slice_inside_a_tile():
    """Raised while lowering, from the stack of the primitive."""

    def body(o, smem, barrier):
        x = jnp.zeros((8, 64), jnp.float16)
        ref = smem.at[4:12]
        store(x, ref, barrier)  # <- slice_inside_a_tile: ValueError:

    return in_cluster(body, scratch_types=[tiled(64), plgpu.Barrier()], compiler_params=LANE)


def in_a_helper_of_another_file():
    def body(o, smem, barrier):
        tiles.store_every_other_row(smem, barrier)

    return in_cluster(body, scratch_types=[tiled(64), plgpu.Barrier()], compiler_params=WARPGROUP)


def in_a_branch(limit):
    def body(o):
        @pl.when(lax.axis_index("g") < limit)
        def _():
            lax.axis_index("nowhere")  # <- in_a_branch: NameError: Found an unbound axis name: nowhere

    return in_cluster(body, compiler_params=WARPGROUP)


def box_too_large(x):
    """Raised while Mosaic's dialect is lowered: only the operation's location names the line."""

    def body(x_gmem, o, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)  # <- box_too_large: ValueError: Async copies only support
        plgpu.barrier_wait(barrier)

    scratch = [plgpu.SMEM((4, 512), jnp.float32), plgpu.Barrier()]
    return plgpu.kernel(body, out_type=OUT, scratch_types=scratch, compiler_params=WARPGROUP)(x)


def no_layouts():
    """JAX infers the layouts of the kernel as a whole, and names no line where there are none."""

    def body(o, smem, barrier):
        x = jnp.zeros((48, 64), jnp.float16)
        plgpu.barrier_arrive(barrier)
        store(x + x, smem, barrier)  # <- no_layouts: ValueError: Failed to infer a possible set of layouts.
        plgpu.barrier_wait(barrier)

    return in_cluster(body, scratch_types=[tiled(48), plgpu.Barrier()], compiler_params=WARPGROUP)


def no_layouts_in_a_loop():
    def body(o, smem, barrier):
        @pl.loop(0, 4)
        def _(i):
            x = jnp.full((48, 64), i, jnp.float16)
            store(x, smem, barrier)  # <- no_layouts_in_a_loop: ValueError: Failed to infer a possible set of layouts.

    return in_cluster(body, scratch_types=[tiled(48), plgpu.Barrier()], compiler_params=WARPGROUP)


def tiles_do_not_divide():
    """Raised before the body is called: the scratch type is at fault."""

    def body(o, smem):
        pass

    smem = plgpu.SMEM((60, 64), jnp.float16, transforms=TRANSFORMS)  # <- tiles_do_not_divide: AssertionError:
    return plgpu.kernel(body, out_type=OUT, scratch_types=[smem], compiler_params=WARPGROUP)


def too_much_shared_memory():
    """Raised for the kernel as a whole."""

    def everything_at_once(o, smem):
        pass

    smem = plgpu.SMEM((1024, 64), jnp.float32)
    return plgpu.kernel(  # <- too_much_shared_memory: ValueError: Mosaic GPU kernel exceeds
        everything_at_once, out_type=OUT, scratch_types=[smem], compiler_params=LANE
    )


def unequal_threads(x, *, rows):
    if x.shape[0] % rows:
        raise ValueError("rows left over")  # <- unequal_threads: ValueError: rows left over
    return x
