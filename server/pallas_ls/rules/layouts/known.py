"""What is known of a value's register layout, and what is refused on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from ...domain.array import Array, Operation
from ...domain.finding import JaxError
from ...domain.layout import Strided, Tiled
from ...domain.layout_table import (
    TCGEN05,
    TCGEN05_TRANSPOSED,
    WGMMA,
    WGMMA_TRANSPOSED,
    WGMMA_UPCAST_2X,
    WGMMA_UPCAST_4X,
    jax_repr,
    tmem_native,
)
from ...domain.python import ListCell, Slice, Value
from ...domain.ref import Loaded, Ref
from ...domain.target import Semantics
from ...source.span import Site
from ..rule import Note
from ..view import CallView, show_array
from .names import LOADS

_NATIVE = tuple(tmem_native(n) for n in (1, 2, 4, 8, 16, 32))


class Kind(Enum):
    """What a refusal is about; each is a rule of its own."""

    SHAPE = "the layout's tiles do not fit the array"
    MIXED = "operands in different layouts"
    SLICE = "a slice that cuts tiles"
    TRANSFER = "a load that cannot give the layout"
    CONVERSION = "a layout that a value cannot be cast to"
    AXES = "a reduction over axes that the layout does not allow"
    BROADCAST = "a broadcast without a layout"
    PARTS = "arrays that cannot be concatenated"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that cannot get a layout."""

    kind: Kind
    site: Site
    message: str
    jax: JaxError
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A layout that is forced on a value, and where it comes from."""

    layout: Tiled | Strided
    site: Site
    name: str


@dataclass(frozen=True, slots=True)
class Tiles:
    """A value in tiles, of which layout is not known: it comes from a tiled buffer."""

    site: Site
    name: str


class Free(Enum):
    """A value without a forced layout: one value repeated, or nothing is known."""

    SPLAT = "splat"
    OPEN = "open"


Known = Given | Tiles | Free


def converted(layout: Tiled | Strided, bits: int) -> tuple[Tiled, ...]:
    """Layouts from which JAX converts to this one on a cast (constraints.py, `_is_supported_tiled_relayout`)."""
    narrow, nibble = bits <= 16, bits == 4
    if layout == WGMMA:
        return (WGMMA_TRANSPOSED, *(WGMMA_UPCAST_2X,) * narrow, *(WGMMA_UPCAST_4X,) * nibble)
    if layout == WGMMA_UPCAST_2X:
        return ((WGMMA,) * narrow) + ((WGMMA_UPCAST_4X,) * nibble)
    if layout in _NATIVE:
        return _NATIVE
    back = {WGMMA_TRANSPOSED: WGMMA, TCGEN05: TCGEN05_TRANSPOSED, TCGEN05_TRANSPOSED: TCGEN05}
    return (back[layout],) if isinstance(layout, Tiled) and layout in back else ()


# -- operations ------------------------------------------------------------------------------------


def arrays_in(v: Value) -> Iterator[Array]:
    """The arrays of an operand: itself, or the elements of a sequence."""
    if isinstance(v, Array):
        yield v
    elif isinstance(v, ListCell):
        yield from arrays_in(v.slots.get("items"))
    elif type(v) is tuple:
        for x in v:
            yield from arrays_in(x)


def source_of(a: Array, load: Operation) -> Ref | None:
    """The buffer, or the view of one, that a load reads; None where that is not known."""
    for layout in (a.layout, a.cast_from):
        if isinstance(layout, Loaded):
            return layout.ref
    source = load.operands.get("source", load.operands.get("src"))
    return source if isinstance(source, Ref) and load.operands.get("idx") in (None, ()) else None


def loaded_from(by: Operation) -> tuple[Array, Operation] | None:
    """The load whose value is given a layout at once: `load(layout=)`, or a cast of what was loaded."""
    if by.name in LOADS:
        return (by.result, by) if isinstance(by.result, Array) else None
    x = by.operands.get("x")
    return (x, x.by) if isinstance(x, Array) and x.by is not None and x.by.name in LOADS else None


def is_optimized(load: Operation) -> bool | None:
    """What a load's `optimized` says; None where that is not known."""
    given = load.operands.get("optimized", True)
    return given if isinstance(given, bool) else None


def reduced_axes(view: CallView, by: Operation) -> tuple[int, ...] | None:
    """The axes that a reduction removes, none of them negative; None where they are not known."""
    source = by.operands.get("a", by.operands.get("x"))
    axis = by.operands.get("axis", by.operands.get("axes"))
    shape = view.exact_shape(source.shape) if isinstance(source, Array) else None
    if shape is None:
        return None
    if axis is None:
        return tuple(range(len(shape)))
    axes = [view.exact(x) for x in (axis if type(axis) is tuple else (axis,))]
    known = [n for n in axes if n is not None]
    if len(known) != len(axes) or any(not -len(shape) <= n < len(shape) for n in known):
        return None
    return tuple(sorted({n % len(shape) for n in known}))


@dataclass(frozen=True, slots=True)
class Part:
    """What an index takes of one axis; `drops` it where it is one position."""

    start: int
    size: int
    drops: bool = False


def parts(view: CallView, source: Array, index: Value) -> list[Part] | None:
    """What an index made of known numbers and slices without steps takes of each axis; None for any other."""
    shape = view.exact_shape(source.shape)
    items: Sequence[object] = index if type(index) is tuple else (index,)
    if shape is None or len(items) > len(shape) or any(x is Ellipsis for x in items):
        return None
    out: list[Part] = []
    for n, item in zip(shape, (*items, *([Slice(None, None, None)] * (len(shape) - len(items)))), strict=True):
        part = _part(view, item, n)
        if part is None:
            return None
        out.append(part)
    return out


def _part(view: CallView, item: Value, n: int) -> Part | None:
    if isinstance(item, Slice) and item.step is None:
        known = [None if v is None else view.exact(v) for v in (item.start, item.stop)]
        if any(k is None and v is not None for k, v in zip(known, (item.start, item.stop), strict=True)):
            return None
        first, last, _ = slice(*known).indices(n)
        return Part(first, max(0, last - first))
    at = view.exact(item)
    return None if at is None or not -n <= at < n else Part(at % n, 1, drops=True)


# -- words -----------------------------------------------------------------------------------------


def does_not_fit(a: Array, shape: tuple[int, ...], layout: Tiled | Strided, shown: str) -> str:
    """The message for a layout that does not apply."""
    array = show_array(a.shape, a.dtype)
    if isinstance(layout, Strided):
        return f"{shown} was made for an array of shape {layout.shape}; this is {array}."
    tile = "x".join(map(str, layout.base_tile))
    text = f"{shown} comes in tiles of {tile} elements; {array} is not made of whole ones."
    whole = layout.smallest_shape(shape)
    return text if whole is None else f"{text} {a.dtype}{list(whole)} is."


def shape_error(view: CallView, semantics: Semantics, shape: tuple[int, ...], layout: Tiled | Strided) -> JaxError:
    """What JAX raises where a layout does not apply to the shape that is cast to it."""
    if semantics is Semantics.WARPGROUP:
        cast = f"Cannot cast to layout {jax_repr(layout, view.version)}"
        return JaxError("ValueError", f"{cast}: the layout is notcompatible with the operand shape {shape} in")
    if isinstance(layout, Strided):
        return JaxError("ValueError", f"Unsupported shape {layout.shape}, (expected {shape})")
    return JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {shape}")


def mixed(first: Given, other: Given) -> str:
    """The message for operands in two layouts."""
    return (
        f"The operands are in different register layouts, {first.name} and {other.name}. An elementwise operation "
        f"needs one: give one of them the other's with plgpu.layout_cast, or load it in that layout."
    )


def cut(before: Given, tile: tuple[int, ...], taken: Sequence[Part]) -> str:
    """The message for a slice that cuts tiles."""
    shown = "x".join(map(str, tile))
    return (
        f"{before.name} comes in tiles of {shown} elements, which a slice cannot cut: this one starts at "
        f"{tuple(p.start for p in taken)} and is {tuple(p.size for p in taken)}. Slice at multiples of the tile, load "
        "the part from memory instead, or use a layout with smaller tiles."
    )
