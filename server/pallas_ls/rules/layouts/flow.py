"""The register layout of every value that a call is given, followed through the operations that computed it.

Under Warpgroup semantics JAX solves one system for the whole kernel (jax/experimental/mosaic/gpu/layout_inference.py).
What is followed here is the part that is forced: a `layout_cast` (or `load(layout=)`) fixes a layout, values that are
no splat keep their producer's (`derive_relayout_constraints`: only a splat is laid out anew by itself), elementwise
operations share one. Whatever else the kernel does makes the system only harder. Under Lane semantics each operation
decides on the spot (fragmented_array.py), and the same values are forced.

What an operation needs to be refused for is that it is used: the dialect's canonicalisation drops dead ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from ...domain.array import Array, LayoutName, Operation
from ...domain.array import Splat as SplatLayout
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
from ...domain.python import Int, Slice, Value
from ...domain.ref import Ref
from ...domain.target import Semantics
from ...source.span import Site
from ..rule import Note, Unsure
from ..store_case import loaded_layout, named_layout, transfer_case
from ..transfer.behaviour import behaviour
from ..transfer.solver import can_transfer, no_transfer
from ..view import CallView, show_array
from .names import CASTS, LOADS, POINTWISE, REDUCTIONS

_NATIVE = tuple(tmem_native(n) for n in (1, 2, 4, 8, 16, 32))


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


class Kind(Enum):
    """What a refusal is about; each is a rule of its own."""

    SHAPE = "the layout's tiles do not fit the array"
    MIXED = "operands in different layouts"
    SLICE = "a slice that cuts tiles"
    TRANSFER = "a load that cannot give the layout"


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


class Free(Enum):
    """A value without a forced layout: one value repeated, or nothing is known."""

    SPLAT = "splat"
    OPEN = "open"


Known = Given | Free


class Flow:
    """The layouts of one call's operands, worked out once for all rules that ask.

    Attributes:
      refusals: what was found on the way, in the order in which the program computes.
    """

    def __init__(self, view: CallView, semantics: Semantics) -> None:
        self.view = view
        self.semantics = semantics
        self.memo: dict[int, Known] = {}
        self.refusals: list[Refusal] = []
        for value in view.fact.operands.values():
            if isinstance(value, Array):
                self.layout(value)

    def layout(self, a: Value) -> Known:
        """The layout of a value."""
        if not isinstance(a, Array):
            return Free.SPLAT if isinstance(a, (int, float, bool, Int)) else Free.OPEN
        if a.shape == ():
            return Free.SPLAT
        if a.by is None:
            return Free.SPLAT if isinstance(a.layout, SplatLayout) else Free.OPEN
        known = self.memo.get(id(a.by))
        if known is None:
            self.memo[id(a.by)] = Free.OPEN  # for whatever would lead back here
            known = self.memo[id(a.by)] = self.computed(a, a.by)
        return known

    def computed(self, a: Array, by: Operation) -> Known:
        """The layout of what an operation gives; its operands are always looked into."""
        given = {name: self.layout(v) for name, v in by.operands.items()}
        rule = _rule_for(by.name)
        return rule(self, a, by, given) if rule is not None else _otherwise(a)

    def refuse(self, kind: Kind, site: Site, message: str, jax: JaxError, *origins: Given) -> Free:
        """Records a refusal; the value after it is open, so that one fault is told once."""
        notes = tuple(Note(o.site, f"{o.name} comes from here") for o in origins)
        self.refusals.append(Refusal(kind, site, message, jax, notes))
        return Free.OPEN


Rule = Callable[[Flow, Array, Operation, Mapping[str, Known]], Known]


def _otherwise(a: Array) -> Free:
    return Free.SPLAT if isinstance(a.layout, SplatLayout) else Free.OPEN


def _rule_for(name: str) -> Rule | None:
    if name in LOADS:
        return _loaded
    if name in CASTS:
        return _cast
    if name in POINTWISE:
        return _pointwise
    if name in REDUCTIONS:
        return _reduced
    return _sliced if name == "getitem" else None


# -- where layouts come from -----------------------------------------------------------------------


def _loaded(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """`ref[...]`, `plgpu.load`: the layout asked for, else under Lane semantics the one that JAX picks."""
    if by.operands.get("layout") is not None:
        return _cast(f, a, by, given)
    if f.semantics is Semantics.WARPGROUP:
        return Free.OPEN
    picked = loaded_layout(f.view, a)
    return Given(picked, by.site, "the layout of the load") if isinstance(picked, (Tiled, Strided)) else Free.OPEN


def _cast(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """A layout named by the program: it must apply to the shape, and under Lane semantics be reachable."""
    name = by.operands.get("new_layout", by.operands.get("layout"))
    shape = f.view.exact_shape(a.shape)
    if not isinstance(name, LayoutName) or shape is None:
        return Free.OPEN
    layout = named_layout(f.view, name)
    if not isinstance(layout, (Tiled, Strided)):
        return Free.OPEN
    shown = f"plgpu.Layout.{name.name}"
    if not layout.applies_to(shape):
        return f.refuse(Kind.SHAPE, by.site, does_not_fit(a, shape, layout, shown), shape_error(f, shape, layout))
    source = _loaded_from(by)
    refused = _cannot_load(f, source, layout) if f.semantics is Semantics.WARPGROUP and source is not None else None
    if source is not None and refused is not None:
        return f.refuse(Kind.TRANSFER, by.site, _no_transfer(source, shown), refused)
    return Given(layout, by.site, shown)


def _loaded_from(by: Operation) -> Operation | None:
    """The load whose value is given the layout at once: `load(layout=)`, or a cast of what was loaded."""
    if by.name in LOADS:
        return by
    x = by.operands.get("x")
    return x.by if isinstance(x, Array) and x.by is not None and x.by.name in LOADS else None


def _cannot_load(f: Flow, load: Operation, layout: Tiled | Strided) -> JaxError | None:
    """JAX's refusal where the buffer can be loaded neither in the layout nor in one that JAX converts to it."""
    source, optimized = load.operands.get("source", load.operands.get("src")), load.operands.get("optimized", True)
    if not isinstance(source, Ref) or not isinstance(optimized, bool):
        return None
    case = transfer_case(f.view, source, optimized)
    if isinstance(case, Unsure):
        return None
    candidates = [x for x in (layout, *converted(layout, case.bits)) if x.applies_to(case.shape)]
    return no_transfer(case, layout) if all(can_transfer(case, x) is False for x in candidates) else None


def _no_transfer(load: Operation, shown: str) -> str:
    source = load.operands.get("source", load.operands.get("src"))
    name = source.name if isinstance(source, Ref) and source.name else "the buffer"
    optimized = load.operands.get("optimized", True)
    text = f"A load of {name} in {shown} has no fast path: its tiling and swizzle do not fit the layout"
    if optimized is True:
        text += (
            ", so that threads would meet in the same memory banks. Give the buffer transforms that fit "
            "(plgpu.TilingTransform, plgpu.SwizzleTransform), or allow a slow load: plgpu.load(..., optimized=False)"
        )
    return text + "."


def does_not_fit(a: Array, shape: tuple[int, ...], layout: Tiled | Strided, shown: str) -> str:
    """The message for a layout that does not apply."""
    array = show_array(a.shape, a.dtype)
    if isinstance(layout, Strided):
        return f"{shown} was made for an array of shape {layout.shape}; this is {array}."
    tile = "x".join(map(str, layout.base_tile))
    text = f"{shown} comes in tiles of {tile} elements; {array} is not made of whole ones."
    whole = layout.smallest_shape(shape)
    return text if whole is None else f"{text} {a.dtype}{list(whole)} is."


def shape_error(f: Flow, shape: tuple[int, ...], layout: Tiled | Strided) -> JaxError:
    """What JAX raises where a layout does not apply to the shape that is cast to it."""
    if f.semantics is Semantics.WARPGROUP:
        cast = f"Cannot cast to layout {jax_repr(layout, f.view.version)}"
        return JaxError("ValueError", f"{cast}: the layout is notcompatible with the operand shape {shape} in")
    if isinstance(layout, Strided):
        return JaxError("ValueError", f"Unsupported shape {layout.shape}, (expected {shape})")
    return JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {shape}")


# -- operations ------------------------------------------------------------------------------------


def _pointwise(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """Elementwise: all operands of the result's shape that are no splats are in one layout."""
    shape = f.view.exact_shape(a.shape)
    arrays = {n: v for n, v in by.operands.items() if isinstance(v, Array) and given[n] is not Free.SPLAT}
    if not arrays:
        return _otherwise(a)
    if shape is None or any(f.view.exact_shape(v.shape) != shape for v in arrays.values()):
        return Free.OPEN  # broadcast on the way
    fixed = [k for n in arrays if isinstance(k := given[n], Given)]
    if not fixed:
        return Free.OPEN
    first = fixed[0]
    other = next((o for o in fixed if o.layout != first.layout), None)
    if other is None:
        return first
    message = (
        f"The operands are in different register layouts, {first.name} and {other.name}. An elementwise operation "
        f"needs one: give one of them the other's with plgpu.layout_cast, or load it in that layout."
    )
    return f.refuse(Kind.MIXED, by.site, message, _mixed_error(f), first, other)


def _mixed_error(f: Flow) -> JaxError:
    if f.semantics is Semantics.LANE:
        return JaxError("ValueError", "Incompatible FragmentedArray layouts")
    return behaviour(f.view.version).unsatisfiable


def _reduced(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """A reduction over one axis: the layout without it."""
    source, before = by.operands.get("a", by.operands.get("x")), given.get("a", given.get("x"))
    axis, keepdims = by.operands.get("axis"), by.operands.get("keepdims", False)
    if not isinstance(before, Given) or not isinstance(source, Array) or not isinstance(axis, Int):
        return _otherwise(a)
    shape, n = f.view.exact_shape(source.shape), f.view.exact(axis)
    if shape is None or n is None or keepdims is not False or not isinstance(before.layout, Tiled):
        return Free.OPEN
    inner = n % len(shape) - (len(shape) - len(before.layout.base_tile))
    if inner < 0:
        return before
    return Given(before.layout.reduce(inner), before.site, f"{before.name}.reduce({inner})")


def _sliced(f: Flow, a: Array, by: Operation, given: Mapping[str, Known]) -> Known:
    """`x[a:b, c:d]` of a value: the slice is made of whole tiles."""
    source, before = by.operands["of"], given["of"]
    if isinstance(source, Array) and isinstance(before, Given):
        ranges = _ranges(f.view, source, by.operands["index"])
        if ranges is not None:
            return _slice_of(f, a, by, before, ranges)
    return _otherwise(a)


def _slice_of(f: Flow, a: Array, by: Operation, before: Given, ranges: list[tuple[int, int]]) -> Known:
    if not isinstance(before.layout, Tiled):
        return Free.OPEN
    tile = before.layout.base_tile
    if len(tile) > len(ranges):
        return Free.OPEN
    tail = ranges[-len(tile) :]
    if all(start % t == 0 and size % t == 0 for (start, size), t in zip(tail, tile, strict=True)):
        return before
    starts, sizes = tuple(s for s, _ in ranges), tuple(n for _, n in ranges)
    shown = "x".join(map(str, tile))
    message = (
        f"{before.name} comes in tiles of {shown} elements, which a slice cannot cut: this one starts at {starts} and "
        f"is {sizes}. Slice at multiples of the tile, load the part from memory instead, or use a layout with smaller "
        "tiles."
    )
    return f.refuse(Kind.SLICE, by.site, message, _slice_error(f, tile, ranges), before)


def _slice_error(f: Flow, tile: tuple[int, ...], ranges: list[tuple[int, int]]) -> JaxError:
    if f.semantics is Semantics.WARPGROUP:
        return behaviour(f.view.version).unsatisfiable
    full = (1,) * (len(ranges) - len(tile)) + tile
    starts = tuple(s for s, _ in ranges)
    if any(s % t for s, t in zip(starts, full, strict=True)):
        return JaxError("ValueError", "Base indices of array slices must be aligned to the beginning of a tile.")
    return JaxError("ValueError", "The slice shape must be a multiple of the tile shape.")


def _ranges(view: CallView, source: Array, index: Value) -> list[tuple[int, int]] | None:
    """(start, size) for each axis of an index made of known slices without steps; None for any other."""
    shape = view.exact_shape(source.shape)
    items = index if type(index) is tuple else (index,)
    if shape is None or len(items) > len(shape):
        return None
    out: list[tuple[int, int]] = []
    for n, item in zip(shape, (*items, *([Slice(None, None, None)] * (len(shape) - len(items)))), strict=True):
        bounds = _bounds(view, item, n)
        if bounds is None:
            return None
        out.append(bounds)
    return out


def _bounds(view: CallView, item: object, n: int) -> tuple[int, int] | None:
    if item is None or not isinstance(item, Slice) or item.step is not None:
        return None
    known = [None if v is None else view.exact(v) for v in (item.start, item.stop)]
    if any(k is None and v is not None for k, v in zip(known, (item.start, item.stop), strict=True)):
        return None
    first, last, _ = slice(*known).indices(n)
    return first, max(0, last - first)
