"""What is forced on an operation's result under Warpgroup semantics, and which operations have no layout there.

Mirrors the constraints of jax/experimental/mosaic/gpu/layout_inference.py, as far as known layouts decide them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.array import Array, LayoutName, Operation
from ...domain.dtype import DType
from ...domain.finding import JaxError
from ...domain.layout import Strided, Tiled
from ...domain.ref import Ref
from ...domain.target import JaxVersion
from ..rule import Unsure
from ..store_case import named_layout, transfer_case
from ..transfer.behaviour import behaviour
from ..transfer.solver import can_transfer, no_transfer
from .flow import Flow, Rule, repeated
from .known import (
    Free,
    Given,
    Kind,
    Known,
    Part,
    Tiles,
    arrays_in,
    converted,
    cut,
    does_not_fit,
    is_optimized,
    loaded_from,
    mixed,
    parts,
    reduced_axes,
    shape_error,
    source_of,
)
from .names import CASTS, CONCATENATIONS, IOTAS, LOADS, POINTWISE, REDUCTIONS


def rule_for(name: str) -> Rule | None:
    """How the operation of this name is followed."""
    if name in LOADS:
        return _loaded
    if name in CASTS or name in IOTAS:
        return _named
    if name in POINTWISE:
        return _pointwise
    if name in REDUCTIONS:
        return _reduced
    if name in CONCATENATIONS:
        return _concatenated
    return _sliced if name == "getitem" else None


def _unsatisfiable(f: Flow) -> JaxError:
    """The solver's refusal; where it names the layouts in conflict, which pair it comes upon first is its own."""
    rules = behaviour(f.view.version)
    return JaxError("ValueError", _FAILED) if rules.names_conflict else rules.unsatisfiable


_FAILED = "Failed to infer a possible set of layouts"


# -- where layouts come from -----------------------------------------------------------------------


def _loaded(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """A load: the layout asked for; in tiles where its buffer is tiled; in turns where nothing asks for tiles."""
    if by.operands.get("layout") is not None:
        return _named(f, a, by, given)
    source, shape = source_of(a, by), f.view.exact_shape(a.shape)
    if source is None or not shape:
        return Free.OPEN
    case = transfer_case(f.view, source, optimized=True)
    if not isinstance(case, Unsure) and case.tiling is not None:
        return Tiles(by.site, f"tiles, as {source.name or 'its buffer'} is")
    strided = Strided(shape, 1)
    if strided.applies_to(shape) and f.closures.only_in_turns(a):
        return Given(strided, by.site, "plgpu.Layout.WG_STRIDED, as nothing asks for tiles,")
    return Free.OPEN


def _named(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """A layout named by the program: it must apply to the shape, and be reached from what it is given."""
    name = by.operands.get("new_layout", by.operands.get("layout"))
    shape = f.view.exact_shape(a.shape)
    if not isinstance(name, LayoutName) or shape is None:
        return Free.OPEN
    layout = named_layout(f.view, name)
    if not isinstance(layout, (Tiled, Strided)):
        return Free.OPEN
    shown = name.shown
    if not layout.applies_to(shape):
        error = shape_error(f.view, f.semantics, shape, layout)
        return f.refuse(Kind.SHAPE, by.site, does_not_fit(a, shape, layout, shown), error)
    loaded = loaded_from(by)
    refused = _cannot_load(f, loaded[0], loaded[1], layout) if loaded is not None else None
    if loaded is not None and refused is not None:
        return f.refuse(Kind.TRANSFER, by.site, _no_transfer(loaded[0], loaded[1], shown), refused)
    other = f.twin(by, layout) if loaded is not None else None
    if other is not None and isinstance(a.dtype, DType) and not _one_serves(layout, other.layout, a.dtype.bits):
        text = (
            f"The same part of memory is loaded in {other.name} and in {shown}. JAX merges loads of one buffer that "
            "nothing separates into one, and neither layout is converted to the other. Keep a copy of the data in a "
            "buffer of its own for each."
        )
        return f.refuse(Kind.CONVERSION, by.site, text, _unsatisfiable(f), other)
    before = given.get("x")
    if isinstance(before, Given) and not _converts(a, before.layout, layout):
        text = (
            f"A value in {before.name} cannot be cast to {shown}: no exchange between threads is implemented for the "
            "two. Load it in that layout, or store it and load it again."
        )
        return f.refuse(Kind.CONVERSION, by.site, text, _unsatisfiable(f), before)
    return Given(layout, by.site, shown)


def _one_serves(a: Tiled | Strided, b: Tiled | Strided, bits: int) -> bool:
    """Whether one layout is converted to both."""
    return not {a, *converted(a, bits)}.isdisjoint({b, *converted(b, bits)})


def _converts(a: Array, old: Tiled | Strided, new: Tiled | Strided) -> bool:
    if not isinstance(a.dtype, DType):
        return True
    return old == new or (isinstance(old, Tiled) and old in converted(new, a.dtype.bits))


def _cannot_load(f: Flow, a: Array, load: Operation, layout: Tiled | Strided) -> JaxError | None:
    """JAX's refusal where the buffer can be loaded neither in the layout nor in one that JAX converts to it."""
    source, optimized = source_of(a, load), is_optimized(load)
    if source is None or optimized is None or f.view.version < JaxVersion(0, 11):
        return None
    case = transfer_case(f.view, source, optimized)
    if isinstance(case, Unsure):
        return None
    candidates = [x for x in (layout, *converted(layout, case.bits)) if x.applies_to(case.shape)]
    return no_transfer(case, layout) if all(can_transfer(case, x) is False for x in candidates) else None


def _no_transfer(a: Array, load: Operation, shown: str) -> str:
    source = source_of(a, load)
    name = source.name if isinstance(source, Ref) and source.name else "the buffer"
    text = f"A load of {name} in {shown} has no fast path: its tiling and swizzle do not fit the layout"
    if is_optimized(load):
        text += (
            ", so that threads would meet in the same memory banks. Give the buffer transforms that fit "
            "(plgpu.TilingTransform, plgpu.SwizzleTransform), or allow a slow load: plgpu.load(..., optimized=False)"
        )
    return text + "."


# -- operations ------------------------------------------------------------------------------------


def _pointwise(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """Elementwise: all operands of the result's shape that are no splats are in one layout."""
    shape = f.view.exact_shape(a.shape)
    arrays = {n: v for n, v in by.operands.items() if isinstance(v, Array) and given[n] is not Free.SPLAT}
    if not arrays:
        return repeated(by)
    if shape is None or any(f.view.exact_shape(v.shape) != shape for v in arrays.values()):
        return Free.OPEN  # broadcast on the way
    return _shared(f, by, [given[n] for n in arrays])


def _shared(f: Flow, by: Operation, known: list[Known]) -> Known:
    """The one layout of several values."""
    fixed = [k for k in known if isinstance(k, Given)]
    if not fixed:
        return next((k for k in known if isinstance(k, Tiles)), Free.OPEN)
    first = fixed[0]
    other = next((o for o in fixed if o.layout != first.layout), None)
    if other is None:
        return first
    return f.refuse(Kind.MIXED, by.site, mixed(first, other), _unsatisfiable(f), first, other)


def _reduced(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """A reduction: the layout without the axis. Of all axes at once JAX flattens first, which no tiles survive."""
    source, before = by.operands.get("a", by.operands.get("x")), given.get("a", given.get("x"))
    keepdims, axes = by.operands.get("keepdims", False), reduced_axes(f.view, by)
    if not isinstance(before, (Given, Tiles)) or not isinstance(source, Array) or axes is None:
        return repeated(by)
    shape = f.view.exact_shape(source.shape)
    if shape is None or not isinstance(keepdims, bool):
        return Free.OPEN
    in_tiles = isinstance(before, Tiles) or isinstance(before.layout, Tiled)
    if len(axes) == len(shape) > 1 and in_tiles:
        text = (
            f"All of an array in {before.name} is reduced at once: JAX flattens it first, which tiles do not survive. "
            "Reduce one axis after the other: jnp.sum(jnp.sum(x, axis=1))."
        )
        return f.refuse(Kind.AXES, by.site, text, _unsatisfiable(f), before)
    if isinstance(before, Tiles):
        return Free.OPEN
    if not isinstance(before.layout, Tiled):
        return _reduced_in_turns(f, by, before, axes, shape)
    if len(axes) != 1 or keepdims is True:
        return Free.OPEN
    inner = axes[0] - (len(shape) - len(before.layout.base_tile))
    if inner < 0:
        return before
    return Given(before.layout.reduce(inner), before.site, f"{before.name}.reduce({inner})")


def _reduced_in_turns(f: Flow, by: Operation, before: Given, axes: tuple[int, ...], shape: tuple[int, ...]) -> Known:
    """A strided array is reduced as a whole (NotOfType of the source of `vector.multi_reduction`)."""
    if len(axes) == len(shape):
        return Free.SPLAT
    text = (
        f"An array in {before.name} is reduced over all axes or none, not over {axes} of {shape}. Load it in a layout "
        "made of tiles: plgpu.load(ref, layout=plgpu.Layout.WGMMA, optimized=False)."
    )
    return f.refuse(Kind.AXES, by.site, text, _unsatisfiable(f), before)


def _sliced(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """`x[a:b, c:d]` of a value: the slice is made of whole tiles."""
    source, before = by.operands["of"], given["of"]
    taken = parts(f.view, source, by.operands["index"]) if isinstance(source, Array) else None
    if taken is None or before is Free.SPLAT or not isinstance(source, Array):
        return repeated(by)
    if f.view.exact_shape(source.shape) == tuple(p.size for p in taken):
        return Free.OPEN if any(p.drops for p in taken) else before
    if taken and all(p.drops for p in taken):
        text = (
            "One element is picked out of a value in registers, which only one of the threads holds. Load it from "
            "memory instead, ref[i, j], or reduce: jnp.sum(jnp.where(mask, x, 0))."
        )
        return f.refuse(Kind.SLICE, by.site, text, _unsatisfiable(f))
    return _slice_of(f, by, before, taken) if isinstance(before, Given) else Free.OPEN


def _slice_of(f: Flow, by: Operation, before: Given, taken: list[Part]) -> Known:
    if not isinstance(before.layout, Tiled):
        text = f"An array in {before.name} has no tiles, and cannot be sliced: slice the buffer that it is loaded from."
        return f.refuse(Kind.SLICE, by.site, text, _unsatisfiable(f), before)
    tile = before.layout.base_tile
    if len(tile) > len(taken):
        return Free.OPEN
    tail = taken[-len(tile) :]
    if all(p.start % t == 0 and p.size % t == 0 for p, t in zip(tail, tile, strict=True)):
        return Free.OPEN if any(p.drops for p in taken) else before
    return f.refuse(Kind.SLICE, by.site, cut(before, tile, taken), _unsatisfiable(f), before)


def _concatenated(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """Concatenated arrays are in one layout, which is made of tiles."""
    arrays = [x for v in by.operands.values() for x in arrays_in(v)]
    if len(arrays) < 2:
        return Free.OPEN
    known = [f.layout(x) for x in arrays]
    strided = next((k for k in known if isinstance(k, Given) and isinstance(k.layout, Strided)), None)
    if strided is not None:
        text = (
            f"Under Warpgroup semantics arrays in {strided.name} are not concatenated: load them in a layout made of "
            "tiles, or store them side by side in a buffer."
        )
        return f.refuse(Kind.PARTS, by.site, text, _unsatisfiable(f), strided)
    return _shared(f, by, known)
