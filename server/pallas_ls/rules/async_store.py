"""Rules of `plgpu.async_store_smem`, in the order of JAX's checks (jax/_src/pallas/mosaic_gpu/primitives.py)."""

from __future__ import annotations

from collections.abc import Callable

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, LayoutName, Splat
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.layout import Tiled
from ..domain.layout_table import jax_repr
from ..domain.python import Int, Opaque, Unknown, Value
from ..domain.ref import Ds, Elsewhere, Indexed, Permuted, Position, Ref, Swizzle, Tiling
from ..domain.target import JaxVersion, Semantics
from ..source.span import Site
from .advice import lowering_variant, rounded, show_variant
from .buffers import transforms_are_sound
from .rule import Answer, Note, Problem, Rule, Unsure
from .store_case import named_layout, outcome, sent_bytes, store_case
from .transfer.case import Accepted, Undecided
from .view import CallView, origins, show_array, show_shape

API = ("async_store_smem",)
PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
CORE = "jax/_src/pallas/mosaic_gpu/core.py"
LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
V11 = JaxVersion(0, 11)


def _operands(v: CallView) -> tuple[Array, Ref, Ref] | Unsure:
    src, ref, barrier = v.value("src"), v.value("ref"), v.value("barrier")
    if not isinstance(src, Array):
        return Unsure("the stored value is not known")
    if not isinstance(ref, Ref) or not isinstance(barrier, Ref):
        return Unsure("the buffer or the barrier is not known")
    return src, ref, barrier


def _buffer_note(ref: Ref) -> tuple[Note, ...]:
    made = ref.type.made
    if made is None:
        return ()
    where = made.args.get("shape", made.site)
    notes = [Note(where, f"{ref.name or 'the buffer'} is {show_array(ref.type.shape, ref.type.dtype)}")]
    for extent in ref.type.shape if isinstance(ref.type.shape, tuple) else ():
        for origin in origins(extent):
            if not _within(origin.site, where) and all(n.site != origin.site for n in notes):
                notes.append(Note(origin.site, f"for its extent of {dims.text(extent.dim)}"))
    return tuple(notes)


def _within(inner: Site, outer: Site) -> bool:
    same = (inner.path, inner.chunk) == (outer.path, outer.chunk)
    return same and outer.start <= inner.start and inner.end <= outer.end


# -- tracing ---------------------------------------------------------------------------------------


def shape(v: CallView) -> Answer:
    """The value's shape is not the buffer's."""
    found = _operands(v)
    if isinstance(found, Unsure):
        return found
    src, ref, _ = found
    differ = v.shapes_differ(src.shape, ref.shape)
    if differ is not True:
        return None if differ is False else Unsure("whether the shapes agree is not known")
    a, b = show_shape(src.shape), show_shape(ref.shape)
    jax = JaxError("TypeError", f"The stored value has shape {a}, but the target reference has shape {b}")
    text = f"The value is {show_array(src.shape, src.dtype)}, {ref.name or 'the buffer'} takes {show_array(ref.shape, ref.dtype)}.{_slot_hint(v, src, ref)}"
    return Problem(text, jax, v.site("src"), _buffer_note(ref))


def _slot_hint(v: CallView, src: Array, ref: Ref) -> str:
    """Where the buffer has slots of the value's shape: how to name one."""
    if not isinstance(src.shape, tuple) or not isinstance(ref.shape, tuple) or len(ref.shape) != len(src.shape) + 1:
        return ""
    if v.shapes_differ(src.shape, ref.shape[1:]) is not False:
        return ""
    return f" Name one of its {show_shape(ref.shape[:1])[1:-2]} slots: {ref.name or 'ref'}.at[i]."


def dtype(v: CallView) -> Answer:
    """The value's element type is not the buffer's."""
    found = _operands(v)
    if isinstance(found, Unsure):
        return found
    src, ref, _ = found
    if isinstance(src.dtype, Opaque) and src.dtype == ref.dtype:
        return None
    if not isinstance(src.dtype, DType) or not isinstance(ref.dtype, DType):
        return Unsure("an element type is not known")
    if src.dtype == ref.dtype:
        return None
    jax = JaxError(
        "TypeError", f"The stored value has dtype {src.dtype}, but the target reference has dtype {ref.dtype}"
    )
    text = f"The value is {src.dtype}, {ref.name or 'the buffer'} holds {ref.dtype}: an asynchronous store does not convert. Cast first: .astype({_jnp(ref.dtype)})."
    return Problem(text, jax, v.site("src"), _buffer_note(ref))


def _jnp(dtype: DType) -> str:
    return "jnp.bool_" if dtype.name == "bool" else f"jnp.{dtype.name}"


def single_barrier(v: CallView) -> Answer:
    """Several barriers where one is taken."""
    found = _operands(v)
    if isinstance(found, Unsure):
        return found
    barrier = found[2]
    if not isinstance(barrier.shape, tuple):
        return Unsure("how many barriers these are is not known")
    total = dims.product(tuple(e.dim for e in barrier.shape if isinstance(e, Int)))
    if any(isinstance(e, Unknown) for e in barrier.shape):
        return Unsure("how many barriers these are is not known")
    one = v.decide(conds.equal(total, 1))
    if one is not False:
        return None if one else Unsure("how many barriers these are is not known")
    shown = show_shape(barrier.shape)
    jax = JaxError("TypeError", f"Expected a single barrier, got a barrier reference with shape {shown}")
    text = f"{barrier.name or 'barrier'} holds {dims.text(v.simplify(total))} barriers; pass one of them: {barrier.name or 'barrier'}.at[i]."
    made = barrier.type.made
    notes = (Note(made.args.get("num_barriers", made.site), "declared here"),) if made else ()
    return Problem(text, jax, v.site("barrier"), notes)


# -- lowering, before the store itself -------------------------------------------------------------


def warp_level(v: CallView) -> Answer:
    """The call stands in code for one warp."""
    if v.fact.launch is None or not v.fact.launch.warp:
        return None
    semantics = v.semantics
    if semantics is None:
        return Unsure("the lowering semantics are not known")
    name = "Lane" if semantics is Semantics.LANE else "Warpgroup"
    jax = JaxError(
        "NotImplementedError",
        f"Unimplemented primitive in Pallas Mosaic GPU lowering: async_store_smem for lowering semantics LoweringSemantics.{name} and user thread "
        "semantics PrimitiveSemantics.Warp. Please file an issue at https://github.com/jax-ml/jax/issues/new/choose.",
    )
    text = (
        "async_store_smem is a store by a whole warpgroup: it has no form for a single warp "
        "(pl.core_map(plgpu.WarpMesh))."
    )
    return Problem(text, jax)


def _tiling(v: CallView, ref: Ref) -> tuple[int, ...] | None:
    """The buffer's exact tiling, where its transforms are sound."""
    if isinstance(ref.type.transforms, tuple) and transforms_are_sound(v, ref.type):
        for x in ref.type.transforms:
            if isinstance(x, Tiling) and isinstance(x.tiling, tuple):
                return v.exact_shape(x.tiling)
    return None


def _has_swizzle(ref: Ref) -> bool:
    return isinstance(ref.type.transforms, tuple) and any(isinstance(x, Swizzle) for x in ref.type.transforms)


def _tiled_items(v: CallView) -> list[tuple[Indexed, object, int]]:
    """The first index of a tiled buffer, one entry a tiled dimension: (view, item, tile)."""
    ref = v.value("ref")
    if not isinstance(ref, Ref) or not ref.views or not isinstance(ref.views[0], Indexed):
        return []
    first = ref.views[0]
    tiling = _tiling(v, ref)
    if tiling is None or not isinstance(first.items, tuple) or len(first.items) < len(tiling):
        return []
    return [(first, item, tile) for item, tile in zip(first.items[-len(tiling) :], tiling, strict=True)]


def strided_view(v: CallView) -> Answer:
    """A slice with a step in a tiled dimension."""
    for view, item, _ in _tiled_items(v):
        if isinstance(item, Ds):
            stride = v.exact(item.stride)
            if stride is None:
                return Unsure("a slice's step is not known")
            if stride != 1:
                jax = JaxError("NotImplementedError", f"Strided slices unsupported. Got stride: {stride}")
                return Problem(
                    f"A tiled buffer cannot be sliced with a step ({stride}): its tiles are whole. Slice without a step, or put what is picked into a dimension "
                    "of its own, in front of the tiled ones.",
                    jax,
                    view.made.site if view.made else None,
                )
    return None


def slice_of_tiles(v: CallView) -> Answer:
    """A slice of a tiled dimension that does not start and end at whole tiles."""
    for view, item, tile in _tiled_items(v):
        if isinstance(item, Ds):
            start = v.exact(item.start.index if isinstance(item.start, Array) else item.start)
            size = v.exact(item.size)
            if (start is not None and isinstance(item.start, Int) and start % tile) or (
                size is not None and size % tile
            ):
                shown = start if isinstance(item.start, Int) and start is not None else "…"
                jax = JaxError(
                    "ValueError",
                    f"Expected slice start ({shown}) and slice size ({size}) to be divisible by the tile size ({tile})",
                )
                text = f"The buffer is tiled by {tile} here; a slice starts and ends at whole tiles (start {shown}, size {size}). {_tile_hint(start, size, tile)}"
                return Problem(text, jax, view.made.site if view.made else None)
            if size is None:
                return Unsure("a slice's size is not known")
    return None


def _tile_hint(start: int | None, size: int | None, tile: int) -> str:
    first = (start or 0) // tile * tile
    if size is not None and size % tile:
        return f"Take {-(-size // tile) * tile} of them, or a tiling that divides {size}."
    return f"Start at {first} or {first + tile}."


def tile_index(v: CallView) -> Answer:
    """An integer index in a tiled dimension."""
    for view, item, tile in _tiled_items(v):
        if isinstance(item, Position):
            jax = JaxError(
                "TypeError", "Unsupported index type: <class 'jax._src.interpreters.partial_eval.DynamicJaxprTracer'>"
            )
            text = f"This dimension is tiled by {tile}: take whole tiles (pl.ds), not one position, or index a dimension in front of the tiled ones."
            return Problem(text, jax, view.made.site if view.made else None)
    return None


def transposed(v: CallView) -> Answer:
    """A transposed view whose last dimension is not the swizzled one."""
    ref = v.value("ref")
    if not isinstance(ref, Ref) or v.semantics is not Semantics.LANE or not _has_swizzle(ref):
        return None
    for x in ref.views:
        if (
            isinstance(x, Permuted)
            and isinstance(x.permutation, tuple)
            and x.permutation
            and x.permutation[-1] != len(x.permutation) - 1
        ):
            jax = JaxError("ValueError", "Can't transpose the swizzled dimension.")
            text = "A swizzled buffer cannot be stored to through a transposed view: its rows are permuted in place. Store to it as it is and read it transposed."
            return Problem(text, jax, x.made.site if x.made else v.site("ref"))
    return None


def layout_shape(v: CallView) -> Answer:
    """The value is given a register layout whose tiles do not divide its shape."""
    src = v.value("src")
    if not isinstance(src, Array) or not isinstance(src.layout, LayoutName) or src.made is None:
        return None
    shape, layout = v.exact_shape(src.shape), named_layout(v, src.layout)
    if shape is None or not isinstance(layout, Tiled) or layout.applies_to(shape):
        return None
    if v.semantics is Semantics.WARPGROUP:
        cast = f"Cannot cast to layout {jax_repr(layout, v.version)}"
        jax = JaxError("ValueError", f"{cast}: the layout is notcompatible with the operand shape {shape} in")
    else:
        jax = JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {shape}")
    name, tile = f"plgpu.Layout.{src.layout.name}", "x".join(map(str, layout.base_tile))
    text = f"{name} comes in tiles of {tile} elements; {show_array(src.shape, src.dtype)} is not made of whole ones."
    if len(shape) >= len(layout.base_tile):
        whole = rounded(shape, layout.base_tile)
        text += f" {src.dtype}{list(whole)} is."
    return Problem(text, jax, src.made.site)


def elsewhere(v: CallView) -> Answer:
    """A reference that already names another block or device."""
    ref = v.value("ref")
    if not isinstance(ref, Ref):
        return None
    for x in ref.views:
        if isinstance(x, Elsewhere):
            jax = _elsewhere_error(v, x.how)
            if jax is None:
                return Unsure(f"what JAX says of {x.how} here is not known")
            text = f"async_store_smem addresses the other block itself (cluster_idx): pass the buffer, not plgpu.{x.how}(...)."
            return Problem(text, jax, v.site("ref"))
    return None


def _elsewhere_error(v: CallView, how: str) -> JaxError | None:
    if how != "cluster_ref":
        return None
    if v.semantics is Semantics.LANE:
        return JaxError("ValueError", "Expected SMEM but got: 7 : i32")
    if v.version < V11:
        return JaxError("MLIRError", "Verification failed:")
    report = "Pallas encountered an internal verification error. Please file a bug at https://github.com/jax-ml/jax/issues/new/choose."
    detail = "'mosaic_gpu.async_store_smem' op The `destination` memref must be in SMEM."
    return JaxError("VerificationError", f"{report} Error details: {detail}")


def barrier_view(v: CallView) -> Answer:
    """A barrier picked by something else than integers and whole slices."""
    barrier = v.value("barrier")
    if not isinstance(barrier, Ref):
        return None
    for x in barrier.views:
        if not isinstance(x, Indexed) or not isinstance(x.items, tuple):
            return Unsure("the barrier's view is not known")
        for item in x.items:
            where = x.made.site if x.made else v.site("barrier")
            if isinstance(item, Ds) and v.exact(item.stride) not in (1, None):
                jax = JaxError("NotImplementedError", "Barrier does not support slice with `stride != 1`")
                return Problem("Barriers cannot be sliced with a step. Name one: .at[i].", jax, where)
            index = item.index if isinstance(item, Position) else None
            if isinstance(index, float):
                jax = JaxError("ValueError", f"Barrier can only be indexed with integers or slices, got {index}")
                return Problem(f"A barrier's index is an integer, not {index}.", jax, where)
    return None


def cluster_index(v: CallView) -> Answer:
    """A block index that is no integer scalar."""
    index = v.value("cluster_idx")
    if isinstance(index, float):
        jax = JaxError("ValueError", f"Unsupported index: {index} of type <class 'jax._src.literals.TypedFloat'>")
        return Problem(f"cluster_idx is an integer, not {index}.", jax, v.site("cluster_idx"))
    if not isinstance(index, Array) or not isinstance(index.shape, tuple):
        return None if isinstance(index, Int) else Unsure("cluster_idx is not known")
    if index.shape == ():
        return None
    if v.semantics is None:
        return Unsure("the lowering semantics are not known")
    if v.semantics is Semantics.LANE and isinstance(index.layout, Splat):
        return None
    if v.semantics is Semantics.LANE:
        return Unsure("an array as cluster_idx")
    jax = JaxError(
        "ValueError", "Unsupported index: OpResult(… of type <class 'jaxlib.mlir._mlir_libs._mlir.ir.OpResult'>"
    )
    text = f"cluster_idx is one integer; this is {show_array(index.shape, index.dtype)}."
    return Problem(text, jax, v.site("cluster_idx"))


def cluster_axis(v: CallView) -> Answer:
    """A cluster axis that the kernel does not have."""
    axis, launch = v.value("cluster_dim"), v.fact.launch
    if launch is None or not isinstance(launch.cluster_names, tuple):
        return Unsure("the kernel's cluster axes are not known")
    names = launch.cluster_names
    if not all(isinstance(n, str) for n in names) or not isinstance(axis, (str, Int)):
        return Unsure("the kernel's cluster axes are not known")
    name: Value = axis if isinstance(axis, str) else v.exact(axis)
    if name is None or name in names:
        return None if name is not None else Unsure("cluster_dim is not known")
    jax = JaxError("LookupError", f"Unknown cluster axis {name}, available axes: {list(names)}")
    available = (
        f"its cluster axes are {', '.join(map(repr, names))}"
        if names
        else "it has no cluster (cluster=, cluster_names=)"
    )
    grid = launch.grid_names if isinstance(launch.grid_names, tuple) else ()
    extra = (
        " A grid axis does not count: blocks of different clusters cannot reach each other's shared memory."
        if name in grid
        else ""
    )
    notes = (Note(launch.made.args.get("cluster_names", launch.made.site), "the kernel's mesh"),) if launch.made else ()
    return Problem(f"The kernel has no cluster axis {name!r}; {available}.{extra}", jax, v.site("cluster_dim"), notes)


# -- the store itself ------------------------------------------------------------------------------


def _sends(v: CallView) -> str:
    src, total = v.value("src"), sent_bytes(v)
    shown = show_array(src.shape, src.dtype) if isinstance(src, Array) else "a value"
    return f"Sends {_count(total)} ({shown})" if total is not None else f"Sends {shown}"


def _count(total: dims.Dim) -> str:
    return f"{total:,} B" if isinstance(total, int) else f"{dims.text(total)} B"


def _multiple_text(v: CallView) -> str:
    total = sent_bytes(v)
    if isinstance(total, int) and total % 128:
        return f", not a multiple of 128: {total} % 128 = {total % 128}, the next is {-(-total // 128) * 128}"
    return ""


def _refused(*kinds: str) -> Callable[[CallView], Answer]:
    """A check that reports the outcomes of some kinds."""

    def check(v: CallView) -> Answer:
        found = outcome(v)
        if isinstance(found, (Unsure, Undecided)):
            return Unsure(found.why if isinstance(found, Unsure) else found.reason)
        if isinstance(found, Accepted) or kind_of(v, found) not in kinds:
            return None
        return _problem(v, found)

    return check


#: What an outcome is about, by its beginning.
_KINDS: tuple[tuple[str, str], ...] = (
    ("Scalars are not", "scalar"),
    ("async_store_smem requires a tiled", "transforms"),
    ("not enough values to unpack", "transforms"),
    ("Only swizzled transfers", "transforms"),
    ("Unsupported transforms", "transforms"),
    ("Can only transfer integer", "bits"),
    ("Transfer is not", "bytes"),
    ("Transfer of", "bytes"),
    ("arrive_expect_tx", "architecture"),
    ("Unsupported register bitwidth", "width"),
    ("Unsupported element type for atomic", "atomic"),
    ("Cannot cast to layout", "layout-shape"),
    ("Tiling ", "layout-shape"),
)


def kind_of(v: CallView, error: JaxError) -> str:
    """What an outcome is about."""
    if "remap_to_cluster" in error.message or (
        error.type == "AssertionError" and not error.message and _wrong_barrier(v)
    ):
        return "barrier"
    if "AtomicOpType" in error.message or "async atomics" in error.message:
        return "atomic"
    for start, kind in _KINDS:
        if error.message.startswith(start):
            return kind
    total = sent_bytes(v)
    return "bytes" if isinstance(total, int) and total % 128 else "layout"


def _wrong_barrier(v: CallView) -> bool:
    barrier = v.value("barrier")
    return isinstance(barrier, Ref) and barrier.type.kind != "barrier"


def _problem(v: CallView, error: JaxError) -> Problem:
    ref, barrier = v.value("ref"), v.value("barrier")
    kind = kind_of(v, error)
    notes = _buffer_note(ref)
    if kind == "barrier":
        made = barrier.type.made
        what = "a ClusterBarrier" if barrier.type.kind == "cluster_barrier" else "a data buffer"
        text = f"The store signals a plgpu.Barrier() in the receiving block, which counts bytes; {barrier.name or 'this'} is {what}."
        return Problem(text, error, v.site("barrier"), (Note(made.site, "allocated here"),) if made else ())
    if kind == "atomic":
        return Problem(_atomic_text(v), error, v.site("atomic") or v.site("src"), notes)
    if kind == "scalar":
        return Problem(
            "A scalar cannot be stored asynchronously: all lanes of the warpgroup store a part of the value. Broadcast it to whole register tiles, 64x8 say.",
            error,
            v.site("src"),
            notes,
        )
    if kind == "architecture":
        return Problem(
            f"Asynchronous stores to other blocks need clusters, that is sm_90 or newer; this is lowered for sm_{v.capability[0]}{v.capability[1]}.",
            error,
            None,
            notes,
        )
    if kind == "transforms":
        return Problem(
            f"{_sends(v)}{_multiple_text(v)}. {_transforms_text(v, ref)}{_lowers(v)}", error, v.site("ref"), notes
        )
    if kind in ("bytes", "bits"):
        return Problem(f"{_sends(v)}{_multiple_text(v)}. {_TILES}{_lowers(v)}", error, v.site("src"), notes)
    return Problem(f"{_sends(v)}. {_layout_text(v, error)}{_lowers(v)}", error, v.site("src"), notes)


def _lowers(v: CallView) -> str:
    """The nearest store that lowers, as far as a quick search finds one."""
    case = store_case(v)
    if isinstance(case, Unsure):
        return ""
    variant = lowering_variant(case)
    return f" {show_variant(case, variant)}" if variant is not None else ""


_TILES = (
    "Reaching the next multiple does not lower either: a store must fill whole register tiles (WGMMA: 64x8 elements "
    "of 16 or 32 bits, "
    "WGMMA_8BIT: 64x16 of 8 bits), at least 512 B."
)


def _atomic_text(v: CallView) -> str:
    op, src = v.value("atomic"), v.value("src")
    allowed = "add, max, min, and, or, xor"
    if isinstance(op, str) and op not in allowed.split(", "):
        return f"There is no atomic {op!r}; there are {allowed}."
    return f"Asynchronous atomics work on 32-bit integers; the value is {src.dtype}."


def _transforms_text(v: CallView, ref: Ref) -> str:
    has = [type(x).__name__ for x in ref.type.transforms] if isinstance(ref.type.transforms, tuple) else []
    lacks = [n for n, k in (("TilingTransform", "Tiling"), ("SwizzleTransform", "Swizzle")) if k not in has]
    name = ref.name or "the buffer"
    if len(lacks) == 2:
        return f"{name} has no transforms; the store needs a tiled and swizzled buffer."
    return (
        f"{name} has no {lacks[0]}; the store needs a tiled and swizzled buffer."
        if lacks
        else f"{name}'s transforms do not serve a store."
    )


def _layout_text(v: CallView, error: JaxError) -> str:
    src = v.value("src")
    layout = src.layout
    name = layout.name if hasattr(layout, "name") else None
    if error.message.startswith("WGSplat") or (isinstance(layout, Splat) and v.semantics is Semantics.LANE):
        return (
            "The value is a splat (one number repeated): it has no register tiles to store. Give it a layout with "
            "plgpu.layout_cast."
        )
    if error.message.startswith("WGStrided"):
        return (
            "The value is laid out in strides; the store needs a tiled layout: plgpu.layout_cast(x, "
            "plgpu.Layout.WGMMA), say."
        )
    if error.message.startswith("Replicated"):
        return f"In {name or 'this layout'} several lanes hold the same element: such a value cannot be stored asynchronously."
    if error.message.startswith("Unsupported register"):
        return f"Each lane would store {error.message.rsplit(' ', 1)[-1]} bits at once; st.async takes 32 or 64."
    ref = v.value("ref")
    if isinstance(ref, Ref) and not ref.type.transforms:
        return f"{ref.name or 'The buffer'} has no transforms, and JAX finds no tiling and swizzle to which the value could be stored as it is."
    if isinstance(ref, Ref) and not _has_swizzle(ref):
        return f"{ref.name or 'The buffer'} is not swizzled: no transfer from {name or 'its layout'} to it avoids bank conflicts."
    if "bank conflicts" in error.message or "Failed to" in error.message or "plan" in error.message:
        return f"No conflict-free transfer exists from {name or 'its layout'} to this tiling and swizzle."
    return "The value's layout and the buffer's tiling do not fit each other."


def lane_bytes(v: CallView) -> Answer:
    """Lane's byte check on sizes that are not known exactly."""
    if not isinstance(store_case(v), Unsure) or v.semantics is not Semantics.LANE:
        return None
    found = _operands(v)
    if isinstance(found, Unsure):
        return found
    _, ref, _ = found
    total = sent_bytes(v)
    if total is None or not isinstance(ref.type.transforms, tuple) or isinstance(total, int):
        return Unsure("the number of bytes is not known")
    both = [type(x) for x in ref.type.transforms] == [Tiling, Swizzle]
    fits = v.decide(conds.divides(128, total))
    if fits is False and both and not any(isinstance(x, Elsewhere) for x in ref.views):
        jax = JaxError("NotImplementedError", "Transfer is not a multiple of 128 bytes")
        return Problem(f"{_sends(v)}, never a multiple of 128. {_TILES}", jax, v.site("src"), _buffer_note(ref))
    return None if fits else Unsure("whether the number of bytes is a multiple of 128 is not known")


def bytes_rule(v: CallView) -> Answer:
    """The transfer's size."""
    symbolic = lane_bytes(v)
    return symbolic if symbolic is not None else _refused("bytes", "bits")(v)


_STORE = f"{PRIMITIVES}, _async_store_smem_lowering"
_FRAGMENTED = "jax/experimental/mosaic/gpu/fragmented_array.py, FragmentedArray.store_tiled_async"
_VIEW = f"{CORE}, UntilingTransform.commute_ndindexer"
_TILE_TEXT = (
    "Every lane of the warpgroup stores its registers with `st.async`, 4 or 8 bytes at a time, and the receiving "
    "barrier counts the bytes. The value "
    "therefore fills whole tiles of a register layout (WGMMA: 64x8 elements of 16 or 32 bits; WGMMA_8BIT: 64x16; "
    "WGMMA_UPCAST_4X: 64x32 of 4 bits), and "
    "every store that lowers is a multiple of 512 bytes. Padding to the next multiple of 128 bytes alone is refused "
    "at the next check."
)


def _rule(
    id: str,
    summary: str,
    order: int,
    check: Callable[[CallView], Answer],
    source: str,
    text: str,
    *,
    since: JaxVersion | None = None,
    semantics: Semantics | None = None,
) -> Rule:
    return Rule(id, summary, API, order, check, source, text, since, semantics=semantics)


RULES = (
    _rule("async-store-shape", "The stored value has the shape of the buffer.", 90, shape, f"{PRIMITIVES}, _async_store_smem_abstract_eval",
          "An asynchronous store does not broadcast and does not write a part: store to a view (`ref.at[...]`) of "
          "the value's shape."),
    _rule("async-store-dtype", "The stored value has the element type of the buffer.", 100, dtype, f"{PRIMITIVES}, _async_store_smem_abstract_eval",
          "An asynchronous store does not convert: cast with `.astype` before it."),
    _rule("async-store-barrier-count", "An asynchronous store signals one barrier.", 110, single_barrier,
          f"{PRIMITIVES}, _async_store_smem_abstract_eval",
          "`Barrier(num_barriers=n)` is n barriers; the store takes one of them, `barrier.at[slot]`."),
    _rule("async-store-layout-shape", "The stored value fills whole tiles of its register layout.", 115, layout_shape,
          "jax/experimental/mosaic/gpu/layout_inference.py, _layout_cast_constraint_system; fragmented_array.py, TiledLayout.registers_shape",
          "A register layout spreads tiles of one size over the lanes of the warpgroup; an array of that layout is made of whole tiles. Round the shape "
          "up, or take a layout with smaller tiles.\n\n" + _TILE_TEXT),
    _rule("async-store-warp", "An asynchronous store is not for code of a single warp.", 120, warp_level, f"{LOWERING}, lower_jaxpr_to_mosaic_gpu",
          "The value is spread over the 128 lanes of a warpgroup; a single warp does not hold it."),
    _rule("tiled-slice-step", "A tiled buffer is not sliced with a step.", 130, strided_view, _VIEW,
          "A step would take rows out of the middle of tiles."),
    _rule("tiled-slice", "A slice of a tiled buffer starts and ends at whole tiles.", 131, slice_of_tiles, _VIEW,
          "The tiles are contiguous in memory: a view is made of whole ones. Take another tile size, or slice at its "
          "multiples."),
    _rule("tiled-index", "A tiled dimension is not indexed by one position.", 132, tile_index, _VIEW,
          "One row of a tile is not contiguous with the next. Index dimensions in front of the tiled ones, or take "
          "whole tiles with `pl.ds`."),
    _rule("swizzled-transpose", "A swizzled buffer is not stored to through a transposed view.", 133, transposed,
          f"{CORE}, UnswizzleRef.commute_transpose",
          "Swizzling permutes the 16-byte units of each row; the transposed view has no rows of that width.", semantics=Semantics.LANE),
    _rule("async-store-elsewhere", "The buffer of an asynchronous store is not already a remote reference.", 190, elsewhere,
          "jax/experimental/mosaic/gpu/utils.py, get_cluster_ref", "`cluster_idx` and `cluster_dim` name the "
                                                                   "receiving block."),
    _rule("barrier-view", "A barrier is picked by integers.", 140, barrier_view, f"{PRIMITIVES}, _get_barrier_base_index",
          "A barrier is found by its number: `barrier.at[slot]` with an integer, or a slice without a step."),
    _rule("async-store-cluster-index", "cluster_idx is one integer.", 150, cluster_index, f"{LOWERING}, _as_index",
          "It is the receiving block's position along `cluster_dim`: a Python integer or a traced scalar."),
    _rule("cluster-axis", "cluster_dim is a cluster axis of the kernel.", 160, cluster_axis, f"{LOWERING}, _resolve_cluster_axis",
          "Blocks reach each other's shared memory only within a cluster. `plgpu.kernel(cluster=..., "
          "cluster_names=...)` names its axes; grid axes do "
          "not count."),
    _rule("async-store-scalar", "A scalar is not stored asynchronously.", 170, _refused("scalar"), _STORE, _TILE_TEXT),
    _rule("async-store-transforms", "The buffer of an asynchronous store is tiled and swizzled.", 180, _refused("transforms"), _STORE,
          "The store writes whole swizzled tiles. Give the buffer `transforms=(plgpu.TilingTransform((8, 8 * s // "
          "bits)), plgpu.SwizzleTransform(s))` with "
          "the widest swizzle s that divides its row.\n\n" + _TILE_TEXT),
    _rule("async-store-bytes", "An asynchronous store sends a multiple of 128 bytes.", 200, bytes_rule, _STORE, _TILE_TEXT),
    _rule("async-store-barrier", "The barrier of an asynchronous store is a plgpu.Barrier.", 210, _refused("barrier"), _STORE,
          "The store arrives at a barrier of the receiving block with the number of bytes. A `ClusterBarrier` counts "
          "arrivals of blocks, not bytes."),
    _rule("async-store-architecture", "An asynchronous store needs sm_90 or newer.", 220, _refused("architecture"),
          "jax/experimental/mosaic/gpu/utils.py, BarrierRef.arrive_expect_tx",
          "Blocks form clusters, and write to each other's shared memory, since Hopper (sm_90). Which GPU a kernel is for says its first line "
          "(`# pallas: target sm_80`), a setting, or what it calls.", since=JaxVersion(0, 11)),
    _rule("async-store-layout", "The stored value's register layout can be stored.", 230, _refused("layout"), _FRAGMENTED, _TILE_TEXT),
    _rule("async-store-atomic", "Asynchronous atomics work on 32-bit integers.", 240, _refused("atomic"),
          "jax/experimental/mosaic/gpu/fragmented_array.py, _store_register_atomic",
          "`red.async` exists for 32-bit integers with add, max, min, and, or, xor."),
    _rule("async-store-register-width", "Each lane stores 4 or 8 bytes at a time.", 250, _refused("width"), _FRAGMENTED,
          "`st.async` stores 32 or 64 bits. In a layout made for wider elements a lane holds fewer bytes of a narrow "
          "type side by side: take the layout made "
          "for the type (WGMMA_8BIT for 8 bits, WGMMA_UPCAST_4X for 4)."),
)  # fmt: skip
