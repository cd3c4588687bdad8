"""The layout that each operation gives its result under Lane semantics, and what it refuses.

Mirrors the lowering rules of jax/_src/pallas/mosaic_gpu/lowering.py and `FragmentedArray`
(jax/experimental/mosaic/gpu/fragmented_array.py), operation by operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ...domain.array import Array, LayoutName, Operation
from ...domain.dtype import DType
from ...domain.finding import JaxError
from ...domain.layout import RegisterLayout, Splat, Strided, Tiled
from ...domain.layout_table import WGMMA, jax_repr
from ...domain.python import Slice
from ...domain.ref import Ref
from ...domain.target import JaxVersion
from ..rule import Unsure
from ..store_case import lane_access, named_layout
from ..transfer import ops
from ..transfer.case import Undecided
from ..transfer.lane import LayoutResult, load_layout
from .flow import Flow, Rule, repeated
from .known import (
    Free,
    Given,
    Kind,
    Known,
    Part,
    arrays_in,
    cut,
    does_not_fit,
    is_optimized,
    mixed,
    parts,
    reduced_axes,
    shape_error,
    source_of,
)
from .names import BROADCASTS, CASTS, CONCATENATIONS, IOTAS, LOADS, POINTWISE, REDUCTIONS, TMEM_LOADS

#: Elementwise functions whose operands jax.numpy broadcasts to the result's shape at once.
_SELECTIONS = frozenset(("jax.numpy.where", "jax.lax.select"))


def rule_for(name: str) -> Rule | None:
    """How the operation of this name is followed."""
    table: tuple[tuple[frozenset[str], Rule], ...] = (
        (LOADS, _loaded),
        (CASTS | IOTAS, _cast),
        (TMEM_LOADS, _loaded_from_tmem),
        (POINTWISE, _pointwise),
        (REDUCTIONS, _reduced),
        (BROADCASTS, _broadcast),
        (CONCATENATIONS, _concatenated),
        (frozenset(("getitem",)), _picked),
    )
    return next((rule for names, rule in table if name in names), None)


def as_layout(known: Known, shape: tuple[int, ...]) -> RegisterLayout | None:
    """A known layout for an array of this shape."""
    if isinstance(known, Given):
        return known.layout
    return Splat(shape) if known is Free.SPLAT else None


# -- where layouts come from -----------------------------------------------------------------------


def _hint(f: Flow, by: Operation) -> LayoutName | Literal["unknown"] | None:
    """The layout that an operation is told: that of a cast which immediately follows (lower_jaxpr_to_mosaic_gpu)."""
    cast = f.cast_of(by)
    if cast is None:
        return None
    name = cast.operands.get("new_layout")
    return name if cast is f.next(by) and isinstance(name, LayoutName) else "unknown"


def _loaded(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """`ref[...]`, `plgpu.load`: the layout asked for, else the one that JAX picks."""
    name = by.operands.get("layout") or _hint(f, by)
    source, optimized = source_of(a, by), is_optimized(by)
    if source is None or optimized is None or not (name is None or isinstance(name, LayoutName)):
        return Free.OPEN
    layout = None if name is None else named_layout(f.view, name)
    access = lane_access(f.view, source, optimized)
    if isinstance(access, Unsure) or isinstance(layout, Unsure) or (layout is None and name is not None):
        return Free.OPEN
    found = load_layout(access, layout)
    shown = "the layout of the load" if name is None else name.shown
    if isinstance(found, JaxError):
        buffer = source.name or "the buffer"
        return _refused_load(f, a, by, found, layout, (buffer, shown))
    return Given(found, by.site, shown) if isinstance(found, (Tiled, Strided)) else Free.OPEN


def _refused_load(
    f: Flow, a: Array, by: Operation, jax: JaxError, layout: RegisterLayout | None, words: tuple[str, str]
) -> Known:
    """A refused load, where no other rule tells of it (of transforms, and of how many elements there are)."""
    buffer, shown = words
    cast = f.cast_of(by) if by.operands.get("layout") is None and layout is not None else None
    site = by.site if cast is None else cast.site
    shape = f.view.exact_shape(a.shape)
    if jax.message.startswith("Tiling (") and shape is not None:
        default = WGMMA if layout is None else layout
        name = shown if layout is not None else f"WGMMA, in which {buffer} is loaded unless the load says otherwise,"
        if isinstance(default, (Tiled, Strided)):
            return f.refuse(Kind.SHAPE, site, does_not_fit(a, shape, default, name), jax)
    if jax.type not in _TRANSFERS and layout is None:
        return Free.OPEN
    if isinstance(layout, Strided) and layout.shape != shape and shape is not None:
        return f.refuse(Kind.SHAPE, site, does_not_fit(a, shape, layout, shown), jax)
    return f.refuse(Kind.TRANSFER, site, _why_no_load(buffer, shown, jax), jax)


_TRANSFERS = ("UnsupportedTransferError", "TransferPlanDerivationError")


def _why_no_load(buffer: str, shown: str, jax: JaxError) -> str:
    start = f"{buffer} cannot be loaded in {shown}"
    if "bank conflicts" in jax.message:
        return (
            f"{start} quickly: its tiling and swizzle do not fit the layout, so that threads would meet in the same "
            "memory banks. Give it transforms that fit (plgpu.TilingTransform, plgpu.SwizzleTransform), or allow a "
            "slow load: plgpu.load(..., optimized=False)."
        )
    if "GMEM" in jax.message or "Only optimized" in jax.message:
        return (
            f"{start} quickly: it lies in global memory, which a warp reads by whole sectors of 32 bytes. Copy it to "
            "shared memory first, or allow a slow load: plgpu.load(..., optimized=False)."
        )
    if "stride" in jax.message or "Vectorized" in jax.message:
        return (
            f"{start}: the elements that a thread holds together do not lie together there. Load in a layout whose "
            "vectors run along the buffer's rows, or through a transposed view, ref.T."
        )
    return f"{start}."


def _loaded_from_tmem(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """`plgpu.async_load_tmem` in a named layout: its tiles are as high as the buffer (tcgen05.py, TMEMRef.load)."""
    name = by.operands.get("layout") or _hint(f, by)
    source, shape = by.operands.get("src"), f.view.exact_shape(a.shape)
    layout = named_layout(f.view, name) if isinstance(name, LayoutName) else None
    if not isinstance(source, Ref) or source.type.space != "tmem" or not isinstance(layout, Tiled) or shape is None:
        return Free.OPEN
    if len(shape) != 2 or len(layout.base_tile) != 2 or not layout.applies_to(shape):
        return Free.OPEN
    shown = f"plgpu.Layout.{layout.name}"
    if shape[0] == layout.base_tile[0]:
        return Given(layout, by.site, shown)
    text = (
        f"{source.name or 'The buffer'} has {shape[0]} rows, {shown} tiles of {layout.base_tile[0]}: tensor memory is "
        "loaded one tile high. Load it as plgpu.Layout.TCGEN05 or TCGEN05_TMEM_NATIVE."
    )
    return f.refuse(Kind.TRANSFER, by.site, text, JaxError("NotImplementedError", "Loading multiple row tiles"))


def _cast(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """A layout named by the program: it must apply to the shape, and JAX must be able to move the registers."""
    name = by.operands.get("new_layout", by.operands.get("layout"))
    shape = f.view.exact_shape(a.shape)
    if not isinstance(name, LayoutName) or shape is None or not isinstance(a.dtype, DType):
        return Free.OPEN
    layout = named_layout(f.view, name)
    if not isinstance(layout, (Tiled, Strided)):
        return Free.OPEN
    x = by.operands.get("x")
    if isinstance(x, Array) and id(x.by) in f.refused:
        return Free.OPEN
    shown, before = name.shown, given.get("x", Free.SPLAT)
    old = as_layout(before, shape)
    found = layout if old is None else ops.cast_layout(old, layout, shape, a.dtype.bits, f.view.version)
    if not layout.applies_to(shape):
        error = found if isinstance(found, JaxError) else shape_error(f.view, f.semantics, shape, layout)
        return f.refuse(Kind.SHAPE, by.site, does_not_fit(a, shape, layout, shown), error)
    if isinstance(found, JaxError) and isinstance(before, Given):
        text = (
            f"A value in {before.name} cannot be cast to {shown}: no exchange between threads is implemented for the "
            "two. Load it in that layout, or store it and load it again."
        )
        return f.refuse(Kind.CONVERSION, by.site, text, found, before)
    return Given(layout, by.site, shown)


# -- elementwise -----------------------------------------------------------------------------------


def _pointwise(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """All operands that are no splats are in one layout; nothing in tiles is broadcast by itself."""
    shape = f.view.exact_shape(a.shape)
    arrays = {n: v for n, v in by.operands.items() if isinstance(v, Array) and given[n] is not Free.SPLAT}
    if not arrays:
        return repeated(by)
    if shape is None:
        return Free.OPEN
    fixed: list[Given] = []
    for n, v in arrays.items():
        known, mine = given[n], f.view.exact_shape(v.shape)
        if mine is None:
            return Free.OPEN
        if not isinstance(known, Given):
            continue
        if mine == shape:
            fixed.append(known)
            continue
        refused = _not_broadcast(f, by, known, mine, shape)
        if refused is not None:
            return f.refuse(Kind.BROADCAST, by.site, _no_broadcast(known, mine, shape), refused, known)
    if any(f.view.exact_shape(v.shape) != shape for v in arrays.values()) or not fixed:
        return Free.OPEN
    other = next((o for o in fixed if o.layout != fixed[0].layout), None)
    if other is None:
        return fixed[0]
    jax = JaxError("ValueError", "Incompatible FragmentedArray layouts")
    return f.refuse(Kind.MIXED, by.site, mixed(fixed[0], other), jax, fixed[0], other)


def _not_broadcast(
    f: Flow, by: Operation, known: Given, mine: tuple[int, ...], shape: tuple[int, ...]
) -> JaxError | None:
    """JAX's refusal of the broadcast that jax.numpy puts before an operation; None where it is not certain."""
    if by.name in _SELECTIONS or not by.name.startswith("jax.numpy.") or not isinstance(known.layout, Tiled):
        return None
    added = len(shape) - len(mine)
    if added == 0:
        return JaxError("NotImplementedError", jax_repr(known.layout, f.view.version))
    grown, dims = (1,) * added + mine, tuple(range(added, len(shape)))
    found = ops.broadcast_in_dim(known.layout, grown, dims, f.view.version)
    return found if isinstance(found, JaxError) else None


def _no_broadcast(known: Given, old: tuple[int, ...], new: tuple[int, ...]) -> str:
    return (
        f"An array of shape {old} in {known.name} is broadcast to {new}, for which JAX finds no layout under Lane "
        f"semantics. Say where its axes go, and in which layout: plgpu.layout_cast(jax.lax.broadcast_in_dim(x, {new}, "
        "dimensions), layout)."
    )


# -- shapes ----------------------------------------------------------------------------------------


def _reduced(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """A reduction: one axis of tiles, or all of a strided array."""
    source, before = by.operands.get("a", by.operands.get("x")), given.get("a", given.get("x"))
    axes, keepdims = reduced_axes(f.view, by), by.operands.get("keepdims", False)
    shape = f.view.exact_shape(source.shape) if isinstance(source, Array) else None
    if shape is None or not shape or axes is None or not axes or before is None or not isinstance(keepdims, bool):
        return Free.OPEN
    layout = as_layout(before, shape)
    if layout is None:
        return Free.OPEN
    found = ops.reduce(layout, shape, axes, f.view.version)
    origins = (before,) if isinstance(before, Given) else ()
    if isinstance(found, JaxError):
        return f.refuse(Kind.AXES, by.site, _why_not_reduced(layout, axes, shape), found, *origins)
    if not keepdims or isinstance(found, Undecided) or not isinstance(before, Given):
        return _result(f, by, found, before)
    grown = tuple(1 if i in axes else n for i, n in enumerate(shape))
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    again = ops.broadcast_in_dim(found, grown, kept, f.view.version)
    if isinstance(again, JaxError):
        text = (
            f"keepdims=True makes an array of shape {grown}, which no tiles fit. Under Lane semantics reduce without "
            f"it, and broadcast where it is used: jax.lax.broadcast_in_dim(x, {shape}, {kept})."
        )
        return f.refuse(Kind.BROADCAST, by.site, text, again, before)
    return _result(f, by, again, before)


def _result(f: Flow, by: Operation, found: LayoutResult, before: Known) -> Known:
    if isinstance(found, Splat):
        return Free.SPLAT
    if not isinstance(found, (Tiled, Strided)):
        return Free.OPEN
    site = before.site if isinstance(before, Given) else by.site
    return Given(found, site, f"plgpu.Layout.{found.name}")


def _why_not_reduced(layout: RegisterLayout, axes: tuple[int, ...], shape: tuple[int, ...]) -> str:
    if isinstance(layout, Splat):
        return (
            f"All elements of this array of shape {shape} are one value, which is not reduced in a kernel: the sum is "
            "that value times their number, the largest is the value."
        )
    if isinstance(layout, Strided):
        return (
            f"An array that is dealt out in turns (WG_STRIDED) is reduced over all axes or none, not over {axes} of "
            f"{shape}. Load it in a layout made of tiles: plgpu.load(ref, layout=plgpu.Layout.WGMMA)."
        )
    return (
        f"Axes {axes} are reduced at once; an array in {layout.name} loses one axis at a time. Reduce one after the "
        "other: jnp.max(jnp.max(x, axis=1))."
    )


def _broadcast(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """`jax.lax.broadcast_in_dim`."""
    operand, dimensions, hint = by.operands.get("operand"), by.operands.get("broadcast_dimensions"), _hint(f, by)
    shape = f.view.exact_shape(a.shape)
    dims = tuple(f.view.exact(d) for d in dimensions) if type(dimensions) is tuple else None
    mine = f.view.exact_shape(operand.shape) if isinstance(operand, Array) else None
    if shape is None or dims is None or mine is None or hint == "unknown":
        return Free.OPEN
    known = [d for d in dims if d is not None]
    return _broadcast_to(f, by, given["operand"], mine, shape, tuple(known)) if len(known) == len(dims) else Free.OPEN


def _broadcast_to(
    f: Flow, by: Operation, before: Known, mine: tuple[int, ...], shape: tuple[int, ...], dims: tuple[int, ...]
) -> Known:
    layout, hint = as_layout(before, mine), _hint(f, by)
    asked = named_layout(f.view, hint) if isinstance(hint, LayoutName) else None
    if layout is None or isinstance(asked, Unsure) or hint == "unknown" or (hint is not None and asked is None):
        return Free.OPEN
    found = ops.broadcast_in_dim(layout, shape, dims, f.view.version, asked)
    if isinstance(found, JaxError) and isinstance(before, Given):
        return f.refuse(Kind.BROADCAST, by.site, _no_broadcast(before, mine, shape), found, before)
    return _result(f, by, found, before) if not isinstance(found, JaxError) else Free.OPEN


def _picked(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """`x[...]` of a value: whole tiles, or new axes."""
    source, before, index = by.operands["of"], given["of"], by.operands["index"]
    if before is Free.SPLAT or not isinstance(source, Array) or not isinstance(before, Given):
        return repeated(by)
    items = index if type(index) is tuple else (index,)
    if None in [x if x is None else 0 for x in items]:
        return _with_new_axes(f, a, by, before, items)
    taken, shape = parts(f.view, source, index), f.view.exact_shape(source.shape)
    if taken is None or shape is None:
        return Free.OPEN
    if shape == tuple(p.size for p in taken):
        return Free.OPEN if any(p.drops for p in taken) else before
    return _slice_of(f, by, before, taken)


def _with_new_axes(f: Flow, a: Array, by: Operation, before: Given, items: tuple[object, ...]) -> Known:
    """`x[:, None]`: JAX broadcasts to the shape with the new axis."""
    shape = f.view.exact_shape(a.shape)
    kept = tuple(i for i, x in enumerate(items) if x is not None)
    source = by.operands["of"]
    mine = f.view.exact_shape(source.shape) if isinstance(source, Array) else None
    whole = all(x is None or (isinstance(x, Slice) and (x.start, x.stop, x.step) == (None,) * 3) for x in items)
    if shape is None or mine is None or not whole or len(items) != len(shape):
        return Free.OPEN
    return _broadcast_to(f, by, before, mine, shape, kept)


def _slice_of(f: Flow, by: Operation, before: Given, taken: list[Part]) -> Known:
    if not isinstance(before.layout, Tiled):
        jax = JaxError("NotImplementedError", "Only arrays with tiled layouts can be sliced")
        text = f"An array in {before.name} has no tiles, and cannot be sliced: slice the buffer that it is loaded from."
        return f.refuse(Kind.SLICE, by.site, text, jax, before)
    tile = before.layout.base_tile
    full = (1,) * (len(taken) - len(tile)) + tile
    jax: JaxError | None = None
    if any(p.start % t for p, t in zip(taken, full, strict=True)):
        jax = JaxError("ValueError", "Base indices of array slices must be aligned to the beginning of a tile.")
    elif any(p.size % t for p, t in zip(taken, full, strict=True)):
        jax = JaxError("ValueError", "The slice shape must be a multiple of the tile shape.")
    if jax is not None:
        return f.refuse(Kind.SLICE, by.site, cut(before, tile, taken), jax, before)
    return Free.OPEN if any(p.drops for p in taken) else before


def _concatenated(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """Arrays side by side: tiles in one layout, or strided ones along the first axis."""
    arrays = [x for v in by.operands.values() for x in arrays_in(v)]
    axis = f.view.exact(by.operands.get("axis", by.operands.get("dimension")))
    shape = f.view.exact_shape(a.shape)
    if len(arrays) < 2 or axis is None or shape is None or f.view.version < JaxVersion(0, 11):
        return Free.OPEN
    known = [f.layout(x) for x in arrays]
    first = known[0]
    if first is Free.SPLAT:
        jax = JaxError("NotImplementedError", "Concatenating arrays with splat layout is not supported.")
        text = "A constant is concatenated: it has no registers of its own. Give it the layout of the others first."
        return f.refuse(Kind.PARTS, by.site, f"{text} plgpu.layout_cast(x, layout).", jax)
    if not isinstance(first, Given):
        return Free.OPEN
    if isinstance(first.layout, Strided) and axis % len(shape) != 0:
        text = "Concatenating arrays with strided layout is only supported along axis 0"
        why = (
            f"Arrays in {first.name} are dealt out in turns, row after row: they are concatenated along axis 0 only. "
            "Load them in a layout made of tiles."
        )
        return f.refuse(Kind.PARTS, by.site, why, JaxError("NotImplementedError", text), first)
    for i, other in enumerate(known[1:], 1):
        jax = _differs(first, other, i, f)
        if jax is not None:
            name = other.name if isinstance(other, Given) else "no layout yet, as a constant"
            why = f"Concatenated arrays are in one layout; these are in {first.name} and {name}."
            return f.refuse(Kind.PARTS, by.site, why, jax, first, *((other,) if isinstance(other, Given) else ()))
    if any(k is Free.OPEN for k in known):
        return Free.OPEN
    layout = Strided(shape, first.layout.vec) if isinstance(first.layout, Strided) else first.layout
    return Given(layout, first.site, first.name)


def _differs(first: Given, other: Known, i: int, f: Flow) -> JaxError | None:
    """JAX's refusal of an array that is not in the layout of the first; None where it is, or that is not known."""
    if other is Free.OPEN:
        return None
    layout = other.layout if isinstance(other, Given) else None
    if isinstance(first.layout, Strided):
        if not isinstance(layout, Strided):
            return JaxError("ValueError", "Expected WGStridedFragLayout, got")
        vec = first.layout.vec
        text = f"got {layout.vec} at index {i} (expected {vec})"
        jax = JaxError("ValueError", f"All WGStridedFragLayout arrays must have the same vec_size, {text}")
        return None if layout.vec == vec else jax
    if layout == first.layout:
        return None
    return JaxError("ValueError", "All arrays must have the same layout, got")
