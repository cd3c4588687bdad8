"""A call of `async_store_smem` as the transfer model's question: `StoreCase` from a call fact."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from ..domain import dim as dims
from ..domain.array import Array, LayoutName, Splat, byte_count
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.layout import RegisterLayout
from ..domain.layout import Splat as SplatLayout
from ..domain.layout_table import instantiate
from ..domain.python import Int, Unknown, Value
from ..domain.ref import Ds, Indexed, Loaded, Permuted, Position, Ref, RefType, Swizzle, Tiling
from ..domain.target import Semantics
from .buffers import transforms_are_sound
from .rule import Unsure
from .transfer.behaviour import behaviour
from .transfer.case import Accepted, BarrierKind, Outcome, Sliced, StoreCase, Undecided, View
from .transfer.lane import Access, load_layout
from .transfer.store import async_store_outcome
from .view import CallView

_KINDS = {"barrier": BarrierKind.BARRIER, "cluster_barrier": BarrierKind.CLUSTER}


def outcome(v: CallView) -> Outcome | Unsure:
    """What JAX's lowering says of the call, once everything before it has passed."""
    return v.cached("outcome", lambda: _outcome(v))


def _outcome(v: CallView) -> Outcome | Unsure:
    case = store_case(v)
    if isinstance(case, Unsure):
        return case
    found = async_store_outcome(case)
    return Unsure(_FREE) if isinstance(found, Accepted) and _may_keep_its_layout(v, case) else found


_FREE = "the value is computed; whether the layout that it is given can be changed on the way is not known"


def _may_keep_its_layout(v: CallView, case: StoreCase) -> bool:
    """Whether a computed value is refused if it keeps the layout of the values that it was computed from."""
    src = v.value("src")
    if case.source is not None or not isinstance(src, Array) or not isinstance(src.layout, LayoutName):
        return False
    kept = named_layout(v, src.layout)
    return isinstance(kept, RegisterLayout) and isinstance(async_store_outcome(replace(case, source=kept)), JaxError)


def store_case(v: CallView) -> StoreCase | Unsure:
    """The call's data, where all that decides is known exactly."""
    return v.cached("case", lambda: _store_case(v))


def _store_case(v: CallView) -> StoreCase | Unsure:
    src, ref, barrier = v.value("src"), v.value("ref"), v.value("barrier")
    semantics = v.semantics
    if not isinstance(ref, Ref) or not isinstance(barrier, Ref) or not isinstance(src, Array) or semantics is None:
        return Unsure("an operand is not known")
    shape = v.exact_shape(ref.shape)
    if shape is None or not isinstance(ref.dtype, DType):
        return Unsure("the shape or the element type is not known")
    transforms = exact_transforms(v, ref.type)
    if isinstance(transforms, Unsure):
        return transforms
    view = _view(v, ref)
    if isinstance(view, Unsure):
        return view
    source = source_layout(v, src, shape, semantics)
    if isinstance(source, Unsure):
        return source
    atomic, optimized = v.value("atomic"), v.value("optimized")
    if not (atomic is None or isinstance(atomic, str)) or not isinstance(optimized, bool):
        return Unsure("atomic or optimized is not known")
    return StoreCase(
        shape,
        ref.dtype.bits,
        ref.dtype.name,
        source,
        transforms[0],
        transforms[1],
        semantics,
        v.version,
        optimized,
        atomic,
        _KINDS.get(barrier.type.kind, BarrierKind.DATA),
        barrier.type.params.get("orders_tensor_core") is True,
        view,
        v.capability,
        isinstance(src.layout, Splat) or isinstance(src.cast_from, Splat),
    )


def transfer_case(
    v: CallView, ref: Ref, optimized: bool, semantics: Semantics = Semantics.WARPGROUP
) -> StoreCase | Unsure:
    """A load from or a store to a buffer (or a view of it), as the solver's constraint and Lane semantics take it.

    Under Warpgroup semantics only of shared memory: with global memory any layout will do.
    """
    shape = v.exact_shape(ref.shape)
    spaces = ("smem", "gmem") if semantics is Semantics.LANE else ("smem",)
    if shape is None or not isinstance(ref.dtype, DType) or ref.type.space not in spaces or ref.type.kind != "data":
        return Unsure("the buffer is not known")
    transforms = exact_transforms(v, ref.type)
    view = _view(v, ref)
    if isinstance(transforms, Unsure) or isinstance(view, Unsure):
        return Unsure("the buffer's transforms or the view are not known")
    return StoreCase(
        shape,
        ref.dtype.bits,
        ref.dtype.name,
        None,
        transforms[0],
        transforms[1],
        semantics,
        v.version,
        optimized,
        view=view,
        arch=v.capability,
    )


def exact_transforms(v: CallView, t: RefType) -> tuple[tuple[int, ...] | None, int | None] | Unsure:
    """(tiling, swizzle) of a buffer: a tiling and then a swizzle, either of them, or none."""
    if isinstance(t.transforms, Unknown):
        return Unsure(t.transforms.why)
    if not transforms_are_sound(v, t):
        return Unsure("the buffer's transforms are refused or not known")
    tiling: tuple[int, ...] | None = None
    swizzle: int | None = None
    for i, x in enumerate(t.transforms):
        if isinstance(x, Tiling) and tiling is None and i == 0 and isinstance(x.tiling, tuple):
            tiling = v.exact_shape(x.tiling)
            if tiling is None:
                return Unsure("the tiling is not known")
        elif isinstance(x, Swizzle) and swizzle is None and i == len(t.transforms) - 1:
            swizzle = v.exact(x.swizzle)
            if swizzle is None:
                return Unsure("the swizzle is not known")
        else:
            return Unsure("these transforms have no model")
    return tiling, swizzle


def source_layout(
    v: CallView, src: Array, shape: tuple[int, ...], semantics: Semantics
) -> RegisterLayout | Unsure | None:
    """The register layout of the stored value; None where it is not known, or left to the solver."""
    layout = src.layout
    if isinstance(layout, Splat):
        return SplatLayout(shape)
    if isinstance(layout, LayoutName):
        if semantics is Semantics.WARPGROUP and src.made is None:
            return None  # computed from values of that layout: the solver may change it on the way
        return named_layout(v, layout)
    if isinstance(layout, Loaded):
        if semantics is Semantics.WARPGROUP and behaviour(v.version).splat_from_front and len(shape) > 2:
            return None  # there the solver gives a constant fewer layouts than a loaded value
        if semantics is Semantics.WARPGROUP:
            return SplatLayout(shape)  # as free as a constant: the solver gives it any layout that the store takes
        return _lane_load(v, layout.ref)
    return None


def loaded_layout(v: CallView, a: Array) -> RegisterLayout | Unsure | None:
    """The layout that Lane semantics give a loaded value; None where that is not known."""
    return _lane_load(v, a.layout.ref) if isinstance(a.layout, Loaded) else None


def _lane_load(v: CallView, ref: Ref) -> RegisterLayout | Unsure | None:
    """The layout that Lane semantics pick for a load of a buffer or of a view of it."""
    access = lane_access(v, ref)
    if isinstance(access, Unsure):
        return access
    found = load_layout(access, None)
    if isinstance(found, JaxError):
        return Unsure("the load itself is refused")
    return None if isinstance(found, Undecided) else found


def lane_access(v: CallView, ref: Ref, optimized: bool = True) -> Access | Unsure:
    """A load from or a store to a buffer, or a view of it, under Lane semantics."""
    global_memory = ref.type.space == "gmem"
    case = transfer_case(v, ref, optimized, Semantics.LANE)
    return case if isinstance(case, Unsure) else Access(case, global_memory)


def named_layout(v: CallView, name: LayoutName) -> RegisterLayout | Unsure | None:
    """The layout that a name stands for, in the target's version."""
    values = plain_arguments(v, name)
    if isinstance(values, Unsure):
        return values
    base = instantiate(name.name, v.version, *values)
    if base is None or isinstance(base, JaxError):
        return Unsure(f"the layout {name.name} is not known")
    for axis in name.reduced:
        reduce = getattr(base, "reduce", None)
        if reduce is None:
            return Unsure(f"a reduced {name.name} has no model")
        try:
            base = reduce((axis,))
        except ValueError:
            return Unsure(f"this reduction of {name.name} is refused")
    return base


def plain_arguments(v: CallView, name: LayoutName) -> tuple[tuple[object, ...], dict[str, object]] | Unsure:
    """A parametric layout's arguments and keywords as plain Python, a dtype as its width in bits."""
    args = _plain(v, name.args)
    options = _plain(v, tuple(x for _, x in name.options))
    if isinstance(args, Unsure):
        return args
    if isinstance(options, Unsure):
        return options
    return args, dict(zip((k for k, _ in name.options), options, strict=True))


def _plain(v: CallView, args: tuple[Value, ...]) -> tuple[object, ...] | Unsure:
    out: list[object] = []
    for a in args:
        if isinstance(a, Int):
            n = v.exact(a)
            if n is None:
                return Unsure("a layout's argument is not known")
            out.append(n)
        elif type(a) is tuple:
            inner = _plain(v, a)
            if isinstance(inner, Unsure):
                return inner
            out.append(inner)
        else:
            out.append(a.bits if isinstance(a, DType) else a)
    return tuple(out)


def _view(v: CallView, ref: Ref) -> View | Unsure | None:
    """The views of a reference as one slice and one permutation."""
    if not ref.views:
        return None
    parent = v.exact_shape(ref.type.shape)
    if parent is None:
        return Unsure("the buffer's shape is not known")
    index: list[Sliced | None] = [Sliced(size) for size in parent]
    permutation: tuple[int, ...] | None = None
    for x in ref.views:
        if isinstance(x, Indexed) and permutation is None and isinstance(x.items, tuple):
            answer = _narrow(v, index, x)
            if answer is not None:
                return answer
        elif isinstance(x, Permuted) and permutation is None and isinstance(x.permutation, tuple):
            permutation = x.permutation
        else:
            return Unsure("these views have no model")
    return View(parent, tuple(index), permutation)


def _narrow(v: CallView, index: list[Sliced | None], x: Indexed) -> Unsure | None:
    """Applies one `.at[...]` to the axes that are left, in place."""
    left = [i for i, s in enumerate(index) if s is not None]
    items = x.items if isinstance(x.items, tuple) else ()
    if len(left) != len(items):
        return Unsure("an index of another rank")
    for axis, item in zip(left, items, strict=True):
        old = index[axis]
        assert old is not None
        if isinstance(item, Position):
            index[axis] = None
        elif isinstance(item, Ds) and v.exact(item.stride) == 1 and v.exact(item.size) is not None:
            offset = _combined(old.offset_multiple, _offset_multiple(v, item.start))
            index[axis] = Sliced(v.exact(item.size) or 0, offset)
        else:
            return Unsure("this index has no model")
    return None


def _offset_multiple(v: CallView, start: Value) -> int:
    if isinstance(start, Array):
        start = start.index
    if isinstance(start, Int):
        return v.fact.facts.divisor(v.simplify(start.dim))
    return 1


def _combined(a: int, b: int) -> int:
    return gcd(a, b)


def sent_bytes(v: CallView) -> dims.Dim | None:
    """Bytes that the call sends, where known; symbolic where the shape is."""
    src = v.value("src")
    ref = v.value("ref")
    for x in (src, ref):
        if isinstance(x, (Array, Ref)):
            n = byte_count(x.shape, x.dtype)
            if n is not None:
                return v.simplify(n)
    return None
