"""What the installed JAX says: its own layout objects, and its verdict on the kernel that a StoreCase describes."""

from __future__ import annotations

import os
from dataclasses import replace

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.mosaic.gpu import core as mgpu_core
from jax.experimental.mosaic.gpu import fragmented_array as fa
from jax.experimental.mosaic.gpu import layouts as layouts_lib
from jax.experimental.mosaic.gpu import utils
from jax.experimental.pallas import mosaic_gpu as plgpu

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.layout import RegisterLayout, Replicated, Splat, Strided, Tiled
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.rules.transfer.case import Accepted, BarrierKind, StoreCase, View
from pallas_ls.rules.transfer.lane import Access

VERSION = JaxVersion.parse(jax.__version__)


def from_jax(layout: object) -> RegisterLayout:
    """JAX's own layout object as plain data."""
    if isinstance(layout, fa.TiledLayout):
        warps, lanes = _dims_from_jax(layout.warp_dims), _dims_from_jax(layout.lane_dims)
        return Tiled(layout.tiling.tiles, warps, lanes, layout.vector_dim)
    if isinstance(layout, fa.WGStridedFragLayout):
        return Strided(tuple(layout.shape), layout.vec_size)
    assert isinstance(layout, fa.WGSplatFragLayout)
    return Splat(tuple(layout.shape))


def _dims_from_jax(dims):
    return tuple(d if isinstance(d, int) else Replicated(d.times) for d in dims)


def to_jax(layout: RegisterLayout):
    """A layout for `plgpu.layout_cast`, built from its parts so that no name needs to be looked up."""
    if isinstance(layout, Tiled):
        warps, lanes = _dims_to_jax(layout.warp_dims), _dims_to_jax(layout.lane_dims)
        return plgpu.Layout.TILED(fa.Tiling(layout.tiles), warps, lanes, layout.vector_dim)
    if isinstance(layout, Strided):
        return plgpu.Layout.WG_STRIDED(layout.shape, layout.vec)
    return plgpu.Layout.WG_SPLAT(layout.shape)


def _dims_to_jax(dims):
    return tuple(d if isinstance(d, int) else fa.Replicated(d.times) for d in dims)


def lower(
    kernel, semantics: Semantics, scratch_types, arch: tuple[int, int] = (9, 0), out: jax.ShapeDtypeStruct | None = None
) -> Accepted | JaxError:
    """Lowers a kernel body for CUDA in a cluster of two blocks; nothing runs."""
    name = {Semantics.LANE: "Lane", Semantics.WARPGROUP: "Warpgroup"}[semantics]
    lowering = getattr(plgpu.LoweringSemantics, name)
    # JAX asks the device for its architecture; without one it says Hopper.
    for module in (utils, mgpu_core):
        if hasattr(module, "_infer_arch"):
            module._infer_arch = lambda: arch
    try:
        call = plgpu.kernel(
            kernel,
            out_type=out or jax.ShapeDtypeStruct((128,), jnp.float32),
            scratch_types=scratch_types(),
            grid=(2,),
            grid_names=("g",),
            cluster=(2,),
            cluster_names=("c",),
            compiler_params=plgpu.CompilerParams(lowering_semantics=lowering),
        )
        jax.jit(call).trace().lower(lowering_platforms=("cuda",))
    except Exception as error:  # any refusal is the answer
        return JaxError(type(error).__name__, str(error))
    return Accepted()


def verdict(case: StoreCase) -> Accepted | JaxError:
    """Lowers the kernel that `case` describes with the installed JAX."""

    def scratch_types():
        dtype = getattr(jnp, case.dtype if case.dtype != "bool" else "bool_")
        extra = [plgpu.SMEM(case.shape, dtype)] if case.source is None else []
        return [plgpu.SMEM(case.allocated, dtype, transforms=_transforms(case)), _barrier(case), *extra]

    def body(_, smem, barrier, *other):
        i = jax.lax.axis_index("c")
        value = other[0][...] if other else _value(case)
        ref = smem if case.view is None else _view(smem, case.view, i)
        options = {} if case.atomic is None else {"atomic": case.atomic}
        plgpu.async_store_smem(
            value, ref, barrier, cluster_idx=1 - i, cluster_dim="c", optimized=case.optimized, **options
        )

    return lower(body, case.semantics, scratch_types, case.arch)


def access_verdict(access: Access, layout: RegisterLayout | None, kind: str) -> Accepted | JaxError:
    """Lowers a kernel that loads in a layout (None: as it comes), or that stores a constant cast to one."""
    case = access.case
    dtype = getattr(jnp, case.dtype)

    def scratch_types():
        return [] if access.global_memory else [plgpu.SMEM(case.allocated, dtype, transforms=_transforms(case))]

    def body(out, *scratch):
        ref = out if access.global_memory else scratch[0]
        if case.view is not None:
            ref = _view(ref, case.view, jax.lax.axis_index("c"))
        if kind == "load":
            _load(ref, layout, case.optimized)
        else:
            _store(ref, _value(replace(case, source=layout)), case.optimized)

    out = jax.ShapeDtypeStruct(case.allocated, dtype) if access.global_memory else None
    return lower(body, case.semantics, scratch_types, case.arch, out)


def _load(ref, layout: RegisterLayout | None, optimized: bool) -> None:
    options = {} if layout is None else {"layout": to_jax(layout)}
    index = ((...,),) if JaxVersion(0, 11) > VERSION else ()
    plgpu.load(ref, *index, optimized=optimized, **options)


def _store(ref, value, optimized: bool) -> None:
    if JaxVersion(0, 12) > VERSION:
        ref[...] = value
    else:
        plgpu.store(ref, value, optimized=optimized)


def _transforms(case: StoreCase) -> tuple:
    tiling = () if case.tiling is None else (plgpu.TilingTransform(case.tiling),)
    return tiling if case.swizzle is None else (*tiling, plgpu.SwizzleTransform(case.swizzle))


def _barrier(case: StoreCase):
    if case.barrier is BarrierKind.CLUSTER:
        return plgpu.ClusterBarrier(collective_axes=("c",))
    if case.barrier is BarrierKind.DATA:
        return plgpu.SMEM((1,), jnp.int32)
    return plgpu.Barrier(orders_tensor_core=case.barrier_orders_tensor_core)


def _value(case: StoreCase):
    dtype = getattr(jnp, case.dtype if case.dtype != "bool" else "bool_")
    zeros = jnp.zeros(case.shape, dtype)
    if case.source is None or isinstance(case.source, Splat):
        return zeros
    return plgpu.layout_cast(zeros, to_jax(case.source))


def _view(smem, view: View, i):
    index = []
    for part in view.index:
        if part is None:
            index.append(i)
        elif part.offset_multiple:
            index.append(pl.ds(i * part.offset_multiple, part.size))
        else:
            index.append(pl.ds(0, part.size))
    ref = smem.at[tuple(index)]
    return ref if view.permutation is None else ref.transpose(view.permutation)


def printed(layout: object) -> str | None:
    """A layout as the installed JAX's messages print it; None where only whole arrays can be printed."""
    return layouts_lib.pprint_layout(layout) if hasattr(layouts_lib, "pprint_layout") else None
