"""Checks of what a copy is given: memory spaces, element types, shapes, cluster axes, barriers."""

from __future__ import annotations

from math import prod

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Extent
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Int, Unknown
from ..domain.ref import Ds, Indexed, Recast, Ref, Reshaped
from ..domain.target import Semantics
from .arguments import reference
from .async_store_operands import buffer_note
from .copying.case import V11, V12, Kind
from .copying.read import SIDES, cluster, collective, collective_names, is_gather, kind_of, parts, sides
from .copying.tables import WARPGROUP, element_bits, element_name
from .rule import Answer, Check, Note, Problem, Unsure
from .store_case import exact_transforms
from .transfer.behaviour import behaviour
from .view import CallView, show_array, show_shape

#: Operands in the order in which JAX looks at them, with the memory that each must be in.
SPACES = {
    Kind.LOAD: (("src", "gmem"), ("dst", "smem"), ("barrier", "smem")),
    Kind.STORE: (("src", "smem"), ("dst", "gmem")),
    Kind.PREFETCH: (("ref", "gmem"),),
}
_VERIFIED = JaxError("MLIRError", "Verification failed:")


def first_of(*checks: Check) -> Check:
    """The first problem that one of the checks finds."""

    def check(v: CallView) -> Answer:
        unsure: Answer = None
        for one in checks:
            found = one(v)
            if isinstance(found, Problem):
                return found
            unsure = unsure or found
        return unsure

    return check


def references(v: CallView) -> Answer:
    """Operands are references."""
    names = [n for n, _ in SPACES[kind_of(v)] if not (n == "barrier" and v.value("barrier") is None)]
    return first_of(*(reference(n) for n in names))(v)


def memory_space(v: CallView) -> Answer:
    """An operand in another memory than the copy reads or writes."""
    for name, space in SPACES[kind_of(v)]:
        x = v.value(name)
        if name == "barrier" and x is None:
            continue
        if not isinstance(x, Ref):
            return Unsure(f"{name} is not known")
        given = "smem" if x.type.kind == "union" else x.type.space
        if given == space or (given == "gmem" and x.type.kind == "semaphore"):
            continue
        jax = JaxError(
            "ValueError", f"{name} must be a {space.upper()} reference, got Ref<{given}>{{{_allocated(v, x)}}}"
        )
        return Problem(_wrong_space(v, name, space, x), jax, v.site(name))
    return None


def _allocated(v: CallView, x: Ref) -> str:
    """A buffer's type as JAX shows it: of a tiled one the tiles and what is in them."""
    transforms, shape = x.type.transforms, v.exact_shape(x.type.shape)
    if x.type.kind != "data" or (transforms and shape is None):
        return "…"
    if not transforms or shape is None:
        return show_array(x.type.shape, x.type.dtype).replace(" ", "")
    exact = exact_transforms(v, x.type)
    if isinstance(exact, Unsure):
        return "…"
    tiling = exact[0] or ()
    k = len(shape) - len(tiling)
    counts = (n // t for n, t in zip(shape[k:], tiling, strict=True))
    return f"{x.type.dtype}[{','.join(map(str, (*shape[:k], *counts, *tiling)))}]"


def _wrong_space(v: CallView, name: str, space: str, x: Ref) -> str:
    kind = kind_of(v)
    text = f"{name} must be in {space.upper()}; {x.name or 'this'} is in {x.type.space.upper()}."
    if kind is Kind.PREFETCH:
        return f"{text} A prefetch brings an operand of the kernel into the L2 cache."
    way = "GMEM to SMEM" if kind is Kind.LOAD else "SMEM to GMEM"
    if _is_exchanged(v):
        other = "copy_smem_to_gmem" if kind is Kind.LOAD else "copy_gmem_to_smem"
        return f"{text} {v.fact.api} copies from {way}: exchange the two, or use plgpu.{other}."
    return f"{text} {v.fact.api} copies from {way}."


def _is_exchanged(v: CallView) -> bool:
    a, b = v.value("src"), v.value("dst")
    known = isinstance(a, Ref) and isinstance(b, Ref)
    return known and {a.type.space, b.type.space} == {"smem", "gmem"}


def leader_axes(v: CallView) -> Answer:
    """`leader_tracked` without the blocks that it speaks of."""
    leader, axes = v.value("leader_tracked"), v.value("collective_axes")
    if leader is None or axes is not None:
        return None if not isinstance(leader, Unknown) else Unsure("leader_tracked is not known")
    if isinstance(leader, Unknown):
        return Unsure("leader_tracked is not known")
    text = (
        "leader_tracked says which block counts a copy that several blocks make: name their cluster axis in "
        "collective_axes."
    )
    if kind_of(v) is Kind.LOAD:
        jax = JaxError("ValueError", "`collective_axes` must be specified when `leader_tracked` is set")
        return Problem(text, jax, v.site("leader_tracked"))
    if v.semantics is not Semantics.LANE:
        return None if v.semantics else Unsure("the lowering semantics are not known")
    if v.version < V12 and getattr(leader, "kind", "") != "CopyPartition.PARTITIONED":
        return None
    how = "partitioned" if v.version < V12 else "leader-tracked"
    return Problem(text, JaxError("ValueError", f"Only collective loads can be {how}"), v.site("leader_tracked"))


# -- types -----------------------------------------------------------------------------------------


def element_type(v: CallView) -> Answer:
    """The two sides hold elements of different types."""
    found = sides(v)
    if isinstance(found, Unsure) or found[1] is None:
        return found if isinstance(found, Unsure) else None
    src, dst = v.value("src"), v.value("dst")
    if not isinstance(src.dtype, DType) or not isinstance(dst.dtype, DType):
        return Unsure("an element type is not known")
    if src.dtype == dst.dtype:
        return None
    jax = _types_differ(v, src.dtype, dst.dtype)
    if jax is None or _refused_before(v):
        return None if v.semantics is not None else Unsure("the lowering semantics are not known")
    text = f"A copy does not convert: {src.name or 'src'} holds {src.dtype}, {dst.name or 'dst'} holds {dst.dtype}."
    smem = found[1]
    if smem.type.made is not None:
        text += f" Allocate {smem.name or 'the buffer'} as {found[0].dtype}."
    return Problem(text, jax, v.site("dst" if kind_of(v) is Kind.LOAD else "src"), buffer_note(smem))


def _refused_before(v: CallView) -> bool:
    """Whether a release that compares types and shapes when it lowers the copy refuses something else before."""
    if v.version >= V11:
        return False
    before = (collective_axis, leader_cluster, operand_view, slice_of_steps, steps)
    lane = (counted_bytes, barrier_kind, one_barrier) if v.semantics is Semantics.LANE else (barrier_kind,)
    return any(isinstance(check(v), Problem) for check in (*before, *(lane if kind_of(v) is Kind.LOAD else ())))


def steps(v: CallView) -> Answer:
    """A slice with a step that has no lowering, whatever the shapes are."""
    found = sides(v)
    if isinstance(found, Unsure):
        return found
    taken = parts(v, found[0])
    if isinstance(taken, Unsure) or all(p.step == 1 for p in taken):
        return taken if isinstance(taken, Unsure) else None
    lowers = v.semantics is Semantics.WARPGROUP and all(p.step == 1 or p.start is not None for p in taken)
    return None if lowers else Problem("A slice with a step has no lowering here.")


def _types_differ(v: CallView, a: DType, b: DType) -> JaxError | None:
    if v.version >= V11:
        return JaxError("ValueError", f"Expected dtypes to match but src had type {a} and dst had type {b}")
    if element_name(a) == element_name(b) or v.semantics is None:
        return None
    text = f"Expected same element type, got {element_name(a)} and {element_name(b)}"
    return JaxError("ValueError", text) if v.semantics is Semantics.LANE else _VERIFIED


def shape(v: CallView) -> Answer:
    """The two sides have different shapes."""
    found = sides(v)
    if isinstance(found, Unsure):
        return found
    gmem, smem = found
    if smem is None:
        return None
    if is_gather(gmem) and v.version < V11:
        return Unsure("a gather")
    expected = _expected(v, smem)
    if isinstance(expected, Unsure):
        return expected
    differ = v.shapes_differ(gmem.shape, expected)
    if differ is not True:
        return None if differ is False else Unsure("whether the shapes agree is not known")
    jax = _shapes_differ(v, gmem, smem, expected)
    if jax is None or _refused_before(v):
        return None if v.semantics is not None else Unsure("the lowering semantics are not known")
    return Problem(_shape_text(v, gmem, smem, expected), jax, _wrong_side(v, gmem, smem), buffer_note(smem))


def _expected(v: CallView, smem: Ref) -> tuple[Extent, ...] | Unsure:
    """The shape that the part in GMEM must have: the buffer's, but for the axis that blocks share."""
    if not isinstance(smem.shape, tuple):
        return Unsure("the buffer's shape is not known")
    if kind_of(v) is not Kind.LOAD or v.value("leader_tracked") is None:
        return smem.shape
    c = collective(v)
    if isinstance(c, Unsure):
        return c
    if c.leader != "partitioned":
        return smem.shape
    if c.size is None:
        return Unsure("how many blocks copy together is not known")
    return tuple(
        Int(dims.mul(e.dim, c.size)) if i == c.axis and isinstance(e, Int) else e for i, e in enumerate(smem.shape)
    )


def _shapes_differ(v: CallView, gmem: Ref, smem: Ref, expected: tuple[Extent, ...]) -> JaxError | None:
    if v.version < V11:
        return _shapes_differ_at_lowering(v, gmem, smem)
    g, s = show_shape(gmem.shape), show_shape(smem.shape)
    if kind_of(v) is Kind.LOAD:
        return JaxError("ValueError", f"Expected source shape to be {show_shape(expected)}, but got {g}.")
    if _begin_alike(v, gmem, smem):
        longer = isinstance(gmem.shape, tuple) and len(gmem.shape) > len(expected)
        return JaxError("ValueError", f"zip() argument 2 is {'longer' if longer else 'shorter'} than argument 1")
    return JaxError("ValueError", f"Expected shapes to match, but src has shape {s} and dst has shape {g}")


def _begin_alike(v: CallView, gmem: Ref, smem: Ref) -> bool:
    """Whether the shapes agree as far as both go."""
    if not isinstance(gmem.shape, tuple) or not isinstance(smem.shape, tuple):
        return False
    n = min(len(gmem.shape), len(smem.shape))
    return v.shapes_differ(gmem.shape[:n], smem.shape[:n]) is False


def _shapes_differ_at_lowering(v: CallView, gmem: Ref, smem: Ref) -> JaxError | None:
    """Up to 0.10 the shapes were compared when the copy was lowered."""
    same_rank = isinstance(gmem.shape, tuple) and isinstance(smem.shape, tuple) and len(gmem.shape) == len(smem.shape)
    if v.semantics is None:
        return None
    if v.semantics is Semantics.WARPGROUP:
        if not same_rank:
            return _VERIFIED
        if kind_of(v) is Kind.STORE and not any(isinstance(x, Indexed) for x in gmem.views):
            return None  # only as much is copied as the buffer holds
    return JaxError("ValueError", "…")


def _wrong_side(v: CallView, gmem: Ref, smem: Ref):
    """The side that a person would change: the one that takes a part, else the buffer's."""
    first, second = SIDES[kind_of(v)]
    indexed = any(isinstance(x, Indexed) for x in gmem.views)
    return v.site(first if indexed and not smem.views else second)


def _shape_text(v: CallView, gmem: Ref, smem: Ref, expected: tuple[Extent, ...]) -> str:
    g, s = show_array(gmem.shape, gmem.dtype), show_array(smem.shape, smem.dtype)
    names = gmem.name or "the operand", smem.name or "the buffer"
    text = f"The part of {names[0]} is {g}, that of {names[1]} is {s}; a copy takes two of one shape."
    if not isinstance(gmem.shape, tuple) or not isinstance(smem.shape, tuple):
        return text
    if len(smem.shape) == len(gmem.shape) + 1 and v.shapes_differ(gmem.shape, smem.shape[1:]) is False:
        return f"{text} Name one of its {show_shape(smem.shape[:1])[1:-2]} slots: {names[1]}.at[i]."
    if len(gmem.shape) == len(smem.shape) + 1 and v.shapes_differ(gmem.shape[1:], smem.shape) is False:
        return f"{text} Index the first axis of {names[0]}: {names[0]}.at[i]."
    if v.shapes_differ(expected, smem.shape):
        return f"{text} Each block gets its part of a partitioned copy: {show_shape(expected)} in all."
    if len(gmem.shape) == len(smem.shape) and not any(isinstance(x, Indexed) for x in gmem.views):
        parts = ", ".join(f"pl.ds(start, {dims.text(e.dim)})" if isinstance(e, Int) else ":" for e in smem.shape)
        return f"{text} Take a part: {names[0]}.at[{parts}]."
    return text


# -- clusters --------------------------------------------------------------------------------------


def collective_axis(v: CallView) -> Answer:
    """A cluster axis that the kernel does not have."""
    names = collective_names(v)
    if isinstance(names, Unsure):
        return names
    if not names:
        return None
    axes = cluster(v)
    if isinstance(axes, Unsure):
        return axes
    launch = v.fact.launch
    for name in names:
        if name in axes:
            continue
        jax = JaxError("LookupError", f"Unknown cluster axis {name}, available axes: {[*axes][::-1]}")
        has = (
            f"its cluster axes are {', '.join(map(repr, axes))}"
            if axes
            else "it has no cluster (cluster=, cluster_names=)"
        )
        text = f"The kernel has no cluster axis {name!r}; {has}."
        grid = launch.grid_names if launch is not None and isinstance(launch.grid_names, tuple) else ()
        if name in grid:
            text += " Blocks along a grid axis cannot copy together: only those of one cluster can."
        made = launch.made if launch is not None else None
        notes = (Note(made.args.get("cluster_names", made.site), "the kernel's mesh"),) if made else ()
        return Problem(text, jax, v.site("collective_axes"), notes)
    return None


def leader_cluster(v: CallView) -> Answer:
    """A copy that one block counts for another, and a cluster that has no such pair."""
    if v.value("leader_tracked") is None or v.value("collective_axes") is None:
        return None
    names, axes = collective_names(v), cluster(v)
    if isinstance(names, Unsure) or isinstance(axes, Unsure) or any(n not in axes for n in names):
        return Unsure("the kernel's cluster is not known")
    if None in axes.values():
        return Unsure("the size of the cluster is not known")
    sizes = {name: n for name, n in axes.items() if n is not None}
    refusal = _leader_refusal(v, names, sizes)
    if refusal is None:
        return None
    last = [*axes][-1]
    text = (
        f"A copy that one block counts for both is shared by a pair of blocks: the last cluster axis ({last}) with "
        "size 2; "
        f"here the cluster is {', '.join(f'{name}={n}' for name, n in sizes.items())}, the copy is shared along "
        f"{', '.join(names)}."
    )
    return Problem(text, refusal, v.site("collective_axes"))


def _leader_refusal(v: CallView, names: tuple[str, ...], sizes: dict[str, int]) -> JaxError | None:
    shown = f"collective_axes={names!r}"
    old = JaxError("NotImplementedError", "Partitioned loads only supported for clusters of size 2")
    pair = names == tuple(sizes)[-1:] and sizes[names[0]] == 2
    if kind_of(v) is Kind.LOAD:
        if len(names) != 1:
            return JaxError("ValueError", f"Expected exactly one collective axis, got {shown}")
        if v.version < V12:
            return None if prod(sizes.values()) == 2 else old
        first = next(iter(sizes))  # JAX counts its axes from the other end here
        words = (
            f"Partitioned loads only supported along the last cluster dimension {first} if it has size 2. Got {shown}"
        )
        return None if pair else JaxError("NotImplementedError", words)
    if v.semantics is not Semantics.LANE or prod(sizes[n] for n in names) == 1:
        return None
    if v.version < V12:
        partitioned = getattr(v.value("leader_tracked"), "kind", "") == "CopyPartition.PARTITIONED"
        return old if partitioned and prod(sizes.values()) != 2 else None
    words = "Leader-tracked loads only supported along the x dimension, which must have size 2"
    return None if pair else JaxError("NotImplementedError", words)


# -- the operand's view ----------------------------------------------------------------------------


def operand_view(v: CallView) -> Answer:
    """A view of GMEM that is no slice."""
    found = sides(v)
    if isinstance(found, Unsure):
        return found
    gmem = found[0]
    for x in gmem.views:
        if isinstance(x, Indexed):
            continue
        if isinstance(x, (Reshaped, Recast)) or type(x).__name__ == "Permuted":
            text = "TMA copies slices of an operand as it lies in GMEM: reshape or transpose it outside of the kernel."
            jax = JaxError("NotImplementedError", "Non-indexing transforms on GMEM refs are not implemented.")
            return Problem(text, jax, x.made.site if x.made else v.site(SIDES[kind_of(v)][0]))
        if getattr(x, "how", "") == "multicast_ref" and kind_of(v) is not Kind.STORE:
            text = "A multicast reference names all devices: it can be stored to, not read."
            jax = JaxError("ValueError", "Multicast refs are not supported by this primitive.")
            return Problem(text, jax, v.site(SIDES[kind_of(v)][0]))
    return None


def slice_of_steps(v: CallView) -> Answer:
    """A slice of a slice, one of which has a step."""
    found = sides(v)
    if isinstance(found, Unsure):
        return found
    indexed = [x for x in found[0].views if isinstance(x, Indexed) and isinstance(x.items, tuple)]
    if len(indexed) < 2:
        return None
    for x in indexed:
        for item in x.items if isinstance(x.items, tuple) else ():
            step = v.exact(item.stride) if isinstance(item, Ds) else 1
            if step not in (1, None):
                jax = JaxError("NotImplementedError", "Non-unit strides not implemented.")
                return Problem(
                    "A slice with a step cannot be sliced again in a copy.", jax, x.made.site if x.made else None
                )
    return None


# -- bytes and barriers ----------------------------------------------------------------------------


def whole_bytes(v: CallView) -> Answer:
    """Elements of less than a byte that do not fill bytes."""
    found = sides(v)
    if isinstance(found, Unsure) or found[1] is None or kind_of(v) is not Kind.LOAD:
        return found if isinstance(found, Unsure) else None
    smem = found[1]
    n = _copied_bits(v, smem)
    if n is None:
        return Unsure("how much is copied is not known")
    if n % 8 == 0:
        return None
    jax = JaxError("ValueError", "Can only transfer integer bytes (shape=")
    return Problem(f"{show_array(smem.shape, smem.dtype)} is {n} bits, no whole number of bytes.", jax, v.site("dst"))


def _copied_bits(v: CallView, smem: Ref) -> int | None:
    exact = v.exact_shape(smem.shape)
    if exact is None or not isinstance(smem.dtype, DType):
        return None
    n = element_bits(smem.dtype)
    for e in exact:
        n *= e
    return n


def counted_bytes(v: CallView) -> Answer:
    """Bytes that the 128 threads of a warpgroup cannot count together (Lane)."""
    found, barrier = sides(v), v.value("barrier")
    if isinstance(found, Unsure) or found[1] is None or not isinstance(barrier, Ref):
        return found if isinstance(found, Unsure) else Unsure("the barrier is not known")
    orders = barrier.type.params.get("orders_tensor_core", False)
    if v.capability < (9, 0) or (orders is not False and v.version >= V12):
        return None if isinstance(orders, bool) else Unsure("the barrier is not known")
    smem, bits = found[1], _copied_bits(v, found[1])
    if bits is None:
        return Unsure("how many bytes are copied is not known")
    n = bits // 8 * (2 if v.value("leader_tracked") is not None else 1)
    if n % WARPGROUP == 0:
        return None
    jax = JaxError(
        "NotImplementedError",
        "Only copies transferring a number of bytes divisible by the warpgroup size are supported. Got "
        f"bytes={n} but warpgroup size is {WARPGROUP}",
    )
    text = (
        f"{show_array(smem.shape, smem.dtype)} is {n} B, not a multiple of {WARPGROUP}: under Lane semantics each of "
        "the "
        f"{WARPGROUP} threads of a warpgroup counts its part. {-(-n // WARPGROUP) * WARPGROUP} B are; Warpgroup "
        "semantics "
        "take any number of bytes."
    )
    return Problem(text, jax, v.site("dst"), buffer_note(smem))


_KINDS = {"cluster_barrier": "a ClusterBarrier, which counts arrivals of blocks, not bytes", "data": "a data buffer"}


def barrier_kind(v: CallView) -> Answer:
    """A copy that signals something else than a plgpu.Barrier."""
    barrier = v.value("barrier")
    if barrier is None:
        return None
    if not isinstance(barrier, Ref):
        return Unsure("the barrier is not known")
    if barrier.type.kind == "barrier":
        return None
    if barrier.type.kind not in _KINDS or v.semantics is None:
        return Unsure("the barrier is not known")
    attribute = "arrive_expect_tx" if v.semantics is Semantics.LANE else "as_barrier_memref"
    if barrier.type.kind == "data":
        if barrier.views:
            return Unsure("a view of a buffer as the barrier")
        name = behaviour(v.version).op_result
    else:
        name = "CollectiveBarrierRef"
    jax = JaxError("AttributeError", f"'{name}' object has no attribute '{attribute}'")
    text = f"A copy counts its bytes at a plgpu.Barrier; {barrier.name or 'this'} is {_KINDS[barrier.type.kind]}."
    made = barrier.type.made
    notes = (Note(made.site, "allocated here"),) if made else ()
    return Problem(text, jax, v.site("barrier"), notes)


def one_barrier(v: CallView) -> Answer:
    """Several barriers where one is waited for, arrived at or signalled."""
    barrier = v.value("barrier")
    if not isinstance(barrier, Ref) or barrier.type.kind not in ("barrier", "cluster_barrier"):
        return None if barrier is None or isinstance(barrier, Ref) else Unsure("the barrier is not known")
    if not isinstance(barrier.shape, tuple) or any(isinstance(e, Unknown) for e in barrier.shape):
        return Unsure("how many barriers these are is not known")
    if barrier.views:
        return None  # a part of them counts as its first one
    total = dims.product(tuple(e.dim for e in barrier.shape if isinstance(e, Int)))
    one = v.decide(conds.equal(total, 1))
    if one is not False:
        return None if one else Unsure("how many barriers these are is not known")
    shown = dims.text(v.simplify(total))
    name = barrier.name or "barrier"
    jax = JaxError(
        "ValueError",
        f"Operation is only valid for a single barrier, but barrier ref contains {shown}. Individual barriers can be "
        "accessed by indexing into the ref.",
    )
    made = barrier.type.made
    notes = (Note(made.args.get("num_barriers", made.site), "declared here"),) if made else ()
    return Problem(f"{name} holds {shown} barriers; name one of them: {name}.at[i].", jax, v.site("barrier"), notes)
