"""What a changed shape must still agree with: copies, loads, stores and the blocks that cover the data.

The rules judge the calls that they know. A fix that makes a number larger reaches further calls; of each of them it
must be known that it takes the new numbers, else the fix is not proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, LayoutName, Shape, ShapeDtype, Splat, byte_count
from ..domain.dtype import DType
from ..domain.fact import CallFact, Division
from ..domain.finding import JaxError
from ..domain.layout import RegisterLayout
from ..domain.layout import Splat as SplatLayout
from ..domain.python import Int, Value
from ..domain.ref import Ds, Indexed, Loaded, Ref, RefType, Swizzle, Tiling
from ..domain.target import JaxVersion, Semantics, Target
from ..rules import references, tcgen05, wgmma
from ..rules.buffers import buffer_types
from ..rules.rule import Unsure
from ..rules.store_case import named_layout
from ..rules.transfer.case import Undecided
from ..rules.transfer.ops import cast_layout
from ..rules.view import CallView

#: Calls that take any shape, and those that a rule judges.
ANY = frozenset(
    (
        *("SMEM", "GMEM", "Barrier", "ClusterBarrier", "TilingTransform", "SwizzleTransform", "RefUnion"),
        *("CompilerParams", "ShapeDtypeStruct", "kernel", "kernel()", "kernel.body", "kernel.memory"),
        *("TMEM", "ACC", "BlockSpec", "emit_pipeline", "emit_pipeline_warp_specialized"),
        *("pl.loop", "nd_loop", "pipeline()", "pipeline.memory"),
        *("ref.at", "ref.get", "ref.transpose", "cluster_ref", "lax.axis_index", "find_swizzle", "pl.debug_print"),
        *("ACC", "TMEM", "set_max_registers", "tcgen05_commit_arrive", "async_load_tmem"),
        *("barrier_wait", "barrier_arrive", "commit_smem", "wait_smem_to_gmem"),
        *("print_layout", "debug_print", "wait_load_tmem", "commit_tmem", "async_prefetch", "broadcasted_iota"),
        *("pl.align_to", "pl.cdiv", "pl.ds", "pl.dslice", "pl.num_programs", "pl.program_id", "pl.when"),
        *("plgpu.name", "getitem", "carry"),
    )
)
#: Calls whose two operands have one shape and one element type.
SAME = {
    "async_store_smem": ("src", "ref"),
    "copy_gmem_to_smem": ("src", "dst"),
    "copy_smem_to_gmem": ("src", "dst"),
    "store": ("dst", "value"),
    "ref.set": ("target", "value"),
    "async_store_tmem": ("ref", "value"),
    "async_copy_smem_to_tmem": ("smem_ref", "tmem_ref"),
}
#: Calls whose operands a model of their own accepts or not.
MULTIPLICATIONS = {"wgmma": wgmma.is_accepted, "tcgen05_mma": tcgen05.is_accepted}
#: The first release whose `plgpu.load` takes a reference alone: before, it also had to be given an index.
WITHOUT_INDEX = JaxVersion(0, 11)
#: What makes positions, in any layout that they are cast to at once.
IOTAS = ("jax.lax.broadcasted_iota", "jax.numpy.arange", "broadcasted_iota")
#: Threads of a warpgroup.
THREADS = 128
#: Bytes of shared memory of a block (sm_90a, sm_100a), some left for barriers; each buffer starts at a multiple.
MOST_SMEM = 232_448 - 1024
SMEM_ALIGNMENT = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Follow:
    """An operand that must take another shape, too.

    Attributes:
      fact: the call as it was; operand: the parameter's name.
      shape: what it must become.
    """

    fact: CallFact
    operand: str
    shape: tuple[int, ...]


def signature(v: Value) -> object:
    """What a call sees of a value: shapes, types and numbers, not where they come from."""
    if isinstance(v, (Array, ShapeDtype)):
        return _shape(v.shape), str(v.dtype), getattr(v, "layout", None).__repr__()
    if isinstance(v, Ref):
        return _shape(v.shape), str(v.dtype), signature(v.type), tuple(signature(x) for x in v.views)
    if isinstance(v, RefType):
        return v.kind, v.space, _shape(v.shape), str(v.dtype), signature(v.transforms)
    if isinstance(v, Tiling):
        return "tiling", signature(v.tiling)
    if isinstance(v, Swizzle):
        return "swizzle", signature(v.swizzle)
    if isinstance(v, Indexed):
        return tuple(repr(i) for i in v.items) if isinstance(v.items, tuple) else repr(v.items)
    if isinstance(v, Int):
        return dims.text(v.dim)
    if type(v) is tuple:
        return tuple(signature(x) for x in v)
    return v if v is None or isinstance(v, (bool, str, float)) else type(v).__name__


def _shape(shape: Shape) -> object:
    return tuple(signature(e) for e in shape) if isinstance(shape, tuple) else type(shape).__name__


def of_call(fact: CallFact) -> object:
    """All that a call is given, and what it returns."""
    return (*((k, signature(v)) for k, v in fact.operands.items()), signature(fact.result))


def agrees(old: CallFact | None, new: CallFact, target: Target, divisions: Iterable[Division]) -> bool | list[Follow]:
    """Whether a call takes what a fix gives it: yes, no, or only if an operand follows.

    Attributes:
      old: the call before the fix, None where there was none; divisions: those of the edited program.
    """
    view = CallView(new, target)
    if new.api in SAME:
        return _same(view, old, *SAME[new.api])
    if new.api == "layout_cast":
        return _cast(view)
    if new.api in MULTIPLICATIONS:
        return MULTIPLICATIONS[new.api](view)
    if new.api in ("ref.get", "load") and not _is_loadable(view):
        return False
    if new.api in ("ref.at", "ref.get"):
        return _covers(view, old, divisions)
    if new.api in ("launch", "pl.run_scoped"):
        return _has_room(view)
    return new.api in ANY or new.api == "load" or new.api.startswith(("jax.", "Layout."))


# -- operands of one shape -------------------------------------------------------------------------


def _same(view: CallView, old: CallFact | None, first: str, second: str) -> bool | list[Follow]:
    a, b = view.value(first), view.value(second)
    if isinstance(b, Array) and b.shape == () and not isinstance(a, Array):
        return True
    if not isinstance(a, (Array, Ref)) or not isinstance(b, (Array, Ref)) or a.dtype != b.dtype:
        return False
    differ = view.shapes_differ(a.shape, b.shape)
    if differ is False:
        return not _is_unstorable(view, b)
    return _follow(view, old, first, second) if differ else False


def _is_unstorable(view: CallView, x: Array | Ref) -> bool:
    """Whether a stored value is one number for all elements, and those are not dealt out to threads evenly.

    A store to tensor memory under Lane semantics takes none (fragmented_array.py, tcgen05.py: `_store`).
    """
    if not isinstance(x, Array) or not isinstance(x.layout, Splat) or view.fact.api not in references.STORES:
        return False
    shape = view.exact_shape(x.shape)
    count = math.prod(shape) if shape is not None else 0
    uneven = count != 1 and count % THREADS != 0
    return uneven or (view.fact.api == "async_store_tmem" and view.semantics is Semantics.LANE)


def _is_loadable(view: CallView) -> bool:
    """Whether a load has a layout: of a tiled buffer under Lane semantics wgmma's; a named one that was made for it."""
    ref = references.reference(view)
    shape = view.exact_shape(ref.shape) if ref is not None else None
    if ref is None or ref.type.kind != "data":
        return True
    if view.fact.api == "load" and view.version < WITHOUT_INDEX:
        return False
    name = view.value("layout")
    if isinstance(name, LayoutName):
        given = name.args[0] if name.args else None
        return name.name == "WG_STRIDED" and ref.type.transforms == () and given is not None and given == ref.shape
    if view.semantics is not Semantics.LANE or ref.type.transforms in ((), None):
        return True
    return shape is not None and len(shape) == 2 and shape[0] % 64 == 0 and shape[1] % 8 == 0


def _follow(view: CallView, old: CallFact | None, first: str, second: str) -> bool | list[Follow]:
    """The operand that kept its shape follows the one that did not."""
    if old is None:
        return False
    for kept, changed in ((first, second), (second, first)):
        before, after = old.operands.get(kept), view.value(kept)
        shape = view.exact_shape(getattr(view.value(changed), "shape", ()))
        moved = signature(old.operands.get(changed)) != signature(view.value(changed))
        if shape and moved and signature(getattr(before, "shape", None)) == signature(getattr(after, "shape", None)):
            return [Follow(old, kept, shape)]
    return False


# -- layouts ---------------------------------------------------------------------------------------


def _cast(view: CallView) -> bool:
    """Whether a value can be cast to the layout that is named."""
    x, name = view.value("x"), view.value("new_layout")
    if not isinstance(x, Array) or not isinstance(name, LayoutName) or not isinstance(x.dtype, DType):
        return False
    shape, new = view.exact_shape(x.shape), named_layout(view, name)
    if shape is None or new is None or isinstance(new, Unsure):
        return False
    if x.by is not None and x.by.name in IOTAS:
        return not isinstance(new, SplatLayout)
    if isinstance(x.layout, Loaded) and name.name == "WG_STRIDED" and view.semantics is Semantics.WARPGROUP:
        return not x.layout.ref.views and x.layout.ref.type.transforms == ()
    old = _layout(view, x, shape)
    if old is None or isinstance(old, Unsure):
        return False
    return not isinstance(cast_layout(old, new, shape, x.dtype.bits, view.version), JaxError | Undecided)


def _layout(view: CallView, x: Array, shape: tuple[int, ...]) -> RegisterLayout | Unsure | None:
    if isinstance(x.layout, Splat):
        return SplatLayout(shape)
    if isinstance(x.layout, Loaded) and view.semantics is Semantics.WARPGROUP and _is_tiled(x.layout.ref):
        return SplatLayout(shape)
    return named_layout(view, x.layout) if isinstance(x.layout, LayoutName) else None


def _is_tiled(ref: Ref) -> bool:
    """A whole buffer from which the solver loads any tiled layout."""
    kinds = [type(t) for t in ref.type.transforms] if isinstance(ref.type.transforms, tuple) else []
    return not ref.views and kinds == [Tiling, Swizzle]


# -- room ------------------------------------------------------------------------------------------


def _has_room(view: CallView) -> bool:
    """Whether the buffers that a call allocates fit into shared memory, as far as this call knows."""
    total = 0
    for t in buffer_types(view):
        if t.kind != "data" or t.space != "smem":
            continue
        size = byte_count(t.shape, t.dtype)
        exact = view.simplify(size) if size is not None else None
        if not isinstance(exact, int):
            return True  # nothing is known of it, as before
        total += -(-exact // SMEM_ALIGNMENT) * SMEM_ALIGNMENT
    return total <= MOST_SMEM


# -- blocks that cover the data --------------------------------------------------------------------


def _covers(view: CallView, old: CallFact | None, divisions: Iterable[Division]) -> bool:
    """Whether the blocks of another size still cover what they are cut from, none reaching over its end."""
    after, before = _last_view(view.fact.result, view), _last_view(old.result, view) if old is not None else None
    if after is None:
        return True
    whole = view.value("self")
    if not isinstance(whole, Ref) or not isinstance(whole.shape, tuple):
        return False
    old_whole = old.operands.get("self") if old is not None else None
    for axis, item in enumerate(after):
        if not isinstance(item, Ds):
            continue
        was = before[axis] if before is not None and axis < len(before) else None
        extent = whole.shape[axis]
        old_extent = (
            old_whole.shape[axis] if isinstance(old_whole, Ref) and isinstance(old_whole.shape, tuple) else None
        )
        unchanged = isinstance(was, Ds) and (was.start, was.size, old_extent) == (item.start, item.size, extent)
        if not unchanged and not _covered(view, item, extent, divisions):
            return False
    return True


def _last_view(result: Value, view: CallView) -> tuple[object, ...] | None:
    part = result.layout.ref if isinstance(result, Array) and isinstance(result.layout, Loaded) else result
    last = part.views[-1] if isinstance(part, Ref) and part.views else None
    made = last.made.site if isinstance(last, Indexed) and last.made is not None else None
    return last.items if isinstance(last, Indexed) and isinstance(last.items, tuple) and made is not None else None


def _covered(view: CallView, item: Ds, extent: object, divisions: Iterable[Division]) -> bool:
    """The whole axis; a part of it at a known place; or one of the blocks that a division cuts it into."""
    if not isinstance(extent, Int) or not isinstance(item.size, Int):
        return False
    if view.decide(conds.equal(item.size.dim, extent.dim)):
        return True
    start = item.start.index if isinstance(item.start, Array) else item.start
    if not isinstance(start, Int):
        return False
    end = dims.add(start.dim, item.size.dim)
    if isinstance(view.simplify(start.dim), int):
        return view.decide(conds.at_most(end, extent.dim)) is True
    size = view.exact(item.size)
    aligned = size is not None and view.fact.facts.divisor(view.simplify(start.dim)) % size == 0
    cut = any(d.exact and d.dividend == extent.dim and d.divisor == item.size.dim for d in divisions)
    return aligned and (cut or _reaches_the_end(view, start, size, extent))


def _reaches_the_end(view: CallView, start: Int, size: int | None, extent: Int) -> bool:
    """Blocks from the beginning, of which the last one ends with the axis (a grid or cluster of known size)."""
    low, high = view.fact.facts.span(start.dim)
    whole = view.exact(extent)
    return low == 0 and high is not None and size is not None and whole == high + size
