"""Checks of what an `async_store_smem` is given: value, buffer, barrier, layout, and the block that receives."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, Splat
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Int, Opaque, Unknown, Value
from ..domain.ref import Ds, Indexed, Position, Ref
from ..domain.target import Semantics
from ..source.span import Site
from .rule import Answer, Note, Problem, Unsure
from .transfer.behaviour import behaviour
from .view import CallView, origins, show_array, show_shape


def operands(v: CallView) -> tuple[Array, Ref, Ref] | Unsure:
    src, ref, barrier = v.value("src"), v.value("ref"), v.value("barrier")
    if not isinstance(src, Array):
        return Unsure("the stored value is not known")
    if not isinstance(ref, Ref) or not isinstance(barrier, Ref):
        return Unsure("the buffer or the barrier is not known")
    return src, ref, barrier


def buffer_note(ref: Ref) -> tuple[Note, ...]:
    made = ref.type.made
    if made is None:
        return ()
    where = made.args.get("shape", made.site)
    notes = [Note(where, f"{ref.name or 'the buffer'} is {show_array(ref.type.shape, ref.type.dtype)}")]
    for extent in ref.type.shape if isinstance(ref.type.shape, tuple) else ():
        if not isinstance(extent, Int):
            continue
        for origin in origins(extent):
            if not _within(origin.site, where) and all(n.site != origin.site for n in notes):
                notes.append(Note(origin.site, f"its extent of {dims.text(extent.dim)} comes from here"))
    return tuple(notes)


def _within(inner: Site, outer: Site) -> bool:
    same = (inner.path, inner.chunk) == (outer.path, outer.chunk)
    return same and outer.start <= inner.start and inner.end <= outer.end


def shape(v: CallView) -> Answer:
    """The value's shape is not the buffer's."""
    found = operands(v)
    if isinstance(found, Unsure):
        return found
    src, ref, _ = found
    differ = v.shapes_differ(src.shape, ref.shape)
    if differ is not True:
        return None if differ is False else Unsure("whether the shapes agree is not known")
    a, b = show_shape(src.shape), show_shape(ref.shape)
    jax = JaxError("TypeError", f"The stored value has shape {a}, but the target reference has shape {b}")
    text = (
        f"The value is {show_array(src.shape, src.dtype)}, {ref.name or 'the buffer'} takes "
        f"{show_array(ref.shape, ref.dtype)}.{_slot_hint(v, src, ref)}"
    )
    return Problem(text, jax, v.site("src"), buffer_note(ref))


def _slot_hint(v: CallView, src: Array, ref: Ref) -> str:
    """Where the buffer has slots of the value's shape: how to name one."""
    if not isinstance(src.shape, tuple) or not isinstance(ref.shape, tuple) or len(ref.shape) != len(src.shape) + 1:
        return ""
    if v.shapes_differ(src.shape, ref.shape[1:]) is not False:
        return ""
    return f" Name one of its {show_shape(ref.shape[:1])[1:-2]} slots: {ref.name or 'ref'}.at[i]."


def dtype(v: CallView) -> Answer:
    """The value's element type is not the buffer's."""
    found = operands(v)
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
    text = (
        f"The value is {src.dtype}, {ref.name or 'the buffer'} holds {ref.dtype}: an asynchronous store does not "
        f"convert. Cast first: .astype({_jnp(ref.dtype)})."
    )
    return Problem(text, jax, v.site("src"), buffer_note(ref))


def _jnp(dtype: DType) -> str:
    return "jnp.bool_" if dtype.name == "bool" else f"jnp.{dtype.name}"


def single_barrier(v: CallView) -> Answer:
    """Several barriers where one is taken."""
    found = operands(v)
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
    text = (
        f"{barrier.name or 'barrier'} holds {dims.text(v.simplify(total))} barriers; pass one of them: "
        f"{barrier.name or 'barrier'}.at[i]."
    )
    made = barrier.type.made
    notes = (Note(made.args.get("num_barriers", made.site), "declared here"),) if made else ()
    return Problem(text, jax, v.site("barrier"), notes)


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
        "Unimplemented primitive in Pallas Mosaic GPU lowering: async_store_smem for lowering semantics "
        f"LoweringSemantics.{name} and user thread "
        "semantics PrimitiveSemantics.Warp. Please file an issue at https://github.com/jax-ml/jax/issues/new/choose.",
    )
    text = (
        "async_store_smem is a store by a whole warpgroup: it has no form for a single warp "
        "(pl.core_map(plgpu.WarpMesh))."
    )
    return Problem(text, jax)


def barrier_view(v: CallView) -> Answer:
    """A barrier picked by something else than integers and whole slices."""
    barrier = v.value("barrier")
    if not isinstance(barrier, Ref):
        return None
    if barrier.views and barrier.type.kind == "data":
        jax = JaxError("TypeError", f"'{behaviour(v.version).op_result}' object is not subscriptable")
        name = barrier.name or "this"
        text = f"The store signals a plgpu.Barrier in the receiving block; {name} is a view of a data buffer."
        return Problem(text, jax, v.site("barrier"))
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
