"""Rules of operations on barriers, of counts that a wait is given, and of slices that leave what they are taken of."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.finding import JaxError
from ..domain.python import Int
from ..domain.ref import Ds, Indexed, Loaded, Ref
from ..domain.target import JaxVersion
from .arguments import reference
from .copies import PRIMITIVES
from .copy_architecture import wait
from .rule import Answer, Problem, Rule, Unsure
from .transfer.behaviour import behaviour
from .view import CallView, show_array

BARRIER_CALLS = ("barrier_arrive", "barrier_wait", "barrier_test", "barrier_arrive_and_wait")
V11 = JaxVersion(0, 11)
#: The method of a barrier that each call asks for first.
_METHODS = {"barrier_wait": "wait", "barrier_test": "test"}


def memory_space(v: CallView) -> Answer:
    """A barrier that is no reference to shared memory."""
    x = v.value("barrier")
    if not isinstance(x, Ref):
        return Unsure("the barrier is not known")
    if x.type.kind == "union" or x.type.space == "smem":
        return None
    shown = show_array(x.type.shape, x.type.dtype).replace(" ", "") if x.type.kind == "data" else "…"
    jax = JaxError("ValueError", f"barrier must be a SMEM reference, got Ref<{x.type.space}>{{{shown}}}")
    text = f"{x.name or 'This'} is in {x.type.space.upper()}; a barrier is allocated in shared memory: plgpu.Barrier()."
    return Problem(text, jax, v.site("barrier"))


def kind(v: CallView) -> Answer:
    """A data buffer where a barrier is wanted."""
    x = v.value("barrier")
    if not isinstance(x, Ref) or x.type.kind != "data" or x.type.space != "smem":
        return None if isinstance(x, Ref) else Unsure("the barrier is not known")
    name = behaviour(v.version).op_result
    text = f"{x.name or 'This'} is a data buffer; {v.fact.api} takes a plgpu.Barrier or a plgpu.ClusterBarrier."
    if x.views:
        return Problem(text, JaxError("TypeError", f"'{name}' object is not subscriptable"), v.site("barrier"))
    method = _METHODS.get(v.fact.api, "arrive")
    return Problem(text, JaxError("AttributeError", f"'{name}' object has no attribute '{method}'"), v.site("barrier"))


def warp_arrival(v: CallView) -> Answer:
    """A single warp that arrives at a barrier of the cluster."""
    x, launch = v.value("barrier"), v.fact.launch
    if not isinstance(x, Ref) or launch is None or not launch.warp or x.type.kind != "cluster_barrier":
        return None
    jax = JaxError("NotImplementedError", "Arriving on a collective barrier is not supported in a warp context")
    text = (
        "At a ClusterBarrier whole warpgroups arrive, not a single warp (pl.core_map(plgpu.WarpMesh)): arrive "
        "outside of it."
    )
    return Problem(text, jax)


# -- waits -----------------------------------------------------------------------------------------


def wait_count(v: CallView) -> Answer:
    """A number of groups that is negative or no Python integer."""
    n = v.value("n")
    old = v.version < V11
    if isinstance(n, float):
        jax = JaxError("RuntimeError", "std::bad_cast") if old else _refused(n)
        return Problem(f"n is how many groups may still be on their way, an integer; this is {n}.", jax, v.site("n"))
    if isinstance(n, Array):
        words = (
            "As of JAX v0.7, parameters to jaxpr equations must have __hash__ and __eq__ methods. In a call to "
            f"primitive {v.fact.api}"
        )
        jax = JaxError("RuntimeError", "std::bad_cast") if old else JaxError("TypeError", words)
        return Problem(
            "n is part of the instruction: a number that Python knows, not one computed in the kernel.",
            jax,
            v.site("n"),
        )
    if not isinstance(n, Int):
        return None if isinstance(n, bool) else Unsure("n is not known")
    negative = v.decide(conds.less(n.dim, 0))
    if negative is not True:
        return None if negative is False else Unsure("n is not known")
    if old and v.fact.api != "wait_smem_to_gmem":
        return None
    shown = dims.text(v.simplify(n.dim))
    jax = JaxError("MLIRError", "Verification failed:") if old else _refused(shown)
    return Problem(f"n={shown}: wait for all groups with 0, or leave the n newest on their way.", jax, v.site("n"))


def _refused(n: object) -> JaxError:
    return JaxError("ValueError", f"n must be a non-negative integer, got {n}")


# -- slices ----------------------------------------------------------------------------------------


def slice_bounds(v: CallView) -> Answer:
    """A slice of constant start and size that reaches beyond the end of its axis."""
    ref, part = v.value("self"), _part(v)
    last = part.views[-1] if part is not None and part.views else None
    if not isinstance(ref, Ref) or not isinstance(ref.shape, tuple) or not isinstance(last, Indexed):
        return None
    items = last.items
    if (
        not isinstance(items, tuple)
        or len(items) != len(ref.shape)
        or (part is not None and len(part.views) == len(ref.views))
    ):
        return None
    unsure: Answer = None
    for axis, (item, extent) in enumerate(zip(items, ref.shape, strict=True)):
        answer = _beyond(v, ref, axis, item, extent) if isinstance(item, Ds) and isinstance(extent, Int) else None
        if isinstance(answer, Problem):
            return answer
        unsure = unsure or answer
    return unsure


def _part(v: CallView) -> Ref | None:
    """The reference that the index makes."""
    found = v.value("source") or v.value("target") or v.fact.result
    if isinstance(found, Array) and isinstance(found.layout, Loaded):
        found = found.layout.ref
    return found if isinstance(found, Ref) else None


def _beyond(v: CallView, ref: Ref, axis: int, item: Ds, extent: Int) -> Answer:
    if not isinstance(item.start, Int):
        return None  # computed in the kernel: JAX does not look
    start, step = v.simplify(item.start.dim), v.exact(item.stride)
    d = v.simplify(extent.dim)
    shown = dims.text(start), dims.text(d)
    if v.decide(conds.at_most(d, start)):
        jax = JaxError("ValueError", f"Out of bound slice: start={shown[0]}, dim={shown[1]}.")
        return _outside(v, ref, axis, f"starts at {shown[0]}", shown[1], jax)
    if not isinstance(item.size, Int) or step is None:
        return Unsure("the slice's size is not known")
    size = v.simplify(item.size.dim)
    end = dims.add(start, dims.add(dims.mul(dims.add(size, -1), step), 1))
    beyond = v.decide(conds.less(d, end))
    if beyond is not True or v.decide(conds.equal(size, 0)) is not False:
        return None if beyond is False else Unsure("whether the slice stays within its axis is not known")
    jax = JaxError(
        "ValueError",
        f"Out of bound slice: start={shown[0]}, size={dims.text(size)}, stride={step}, dim={shown[1]}.",
    )
    return _outside(v, ref, axis, f"ends at {dims.text(v.simplify(end))}", shown[1], jax)


def _outside(v: CallView, ref: Ref, axis: int, what: str, extent: str, jax: JaxError) -> Problem:
    text = (
        f"The slice {what}; axis {axis} of {ref.name or 'the reference'}, {show_array(ref.shape, ref.dtype)}, has "
        f"{extent}."
    )
    return Problem(text, jax, v.site("idx"))


_BARRIER_TEXT = (
    "`barrier_arrive`, `barrier_wait`, `barrier_test` and `barrier_arrive_and_wait` take a `plgpu.Barrier` or a "
    "`plgpu.ClusterBarrier` of `scratch_types` (or `pl.run_scoped`), or one of several: `barrier.at[slot]`."
)

RULES = (
    Rule(
        "barrier-reference",
        "An operation on a barrier takes a reference.",
        BARRIER_CALLS,
        60,
        reference("barrier"),
        "jax/_src/state/primitives.py, get_ref_and_transforms",
        _BARRIER_TEXT,
    ),
    Rule(
        "barrier-space",
        "A barrier is in shared memory.",
        BARRIER_CALLS,
        70,
        memory_space,
        f"{PRIMITIVES}, _check_ref",
        _BARRIER_TEXT,
    ),
    Rule(
        "not-a-barrier",
        "An operation on a barrier takes a barrier.",
        BARRIER_CALLS,
        210,
        kind,
        f"{PRIMITIVES}, _barrier_arrive_lowering, _barrier_wait_lowering",
        f"{_BARRIER_TEXT} A data buffer has no arrivals.",
    ),
    Rule(
        "warp-arrival",
        "A single warp does not arrive at a ClusterBarrier.",
        ("barrier_arrive", "barrier_arrive_and_wait"),
        212,
        warp_arrival,
        f"{PRIMITIVES}, _barrier_arrive_lowering",
        "A `ClusterBarrier` counts an arrival of each warpgroup of the blocks that take part.",
    ),
    Rule(
        "wait-count",
        "A wait names a number of groups that is zero or more.",
        ("wait_smem_to_gmem", "wait_gmem_to_smem", "wgmma_wait"),
        90,
        wait_count,
        f"{PRIMITIVES}, _wait_smem_to_gmem_abstract_eval, _wgmma_wait_abstract_eval",
        "`wait_smem_to_gmem(n)` and `wgmma_wait(n)` wait until at most the `n` newest groups are on their way; 0 "
        "waits for "
        "all. The number is part of the instruction.",
    ),
    Rule(
        "wait-architecture",
        "wait_gmem_to_smem waits for copies before Hopper.",
        ("wait_gmem_to_smem",),
        100,
        wait,
        f"{PRIMITIVES}, _wait_gmem_to_smem_lowering",
        "Since Hopper `copy_gmem_to_smem` signals a barrier, and `barrier_wait` waits for it. `wait_gmem_to_smem` "
        "waits for "
        "`cp.async`, which older GPUs copy with.",
    ),
    Rule(
        "slice-bounds",
        "A slice stays within its axis.",
        ("ref.at", "ref.get", "ref.set"),
        10,
        slice_bounds,
        "jax/_src/state/indexing.py, NDIndexer.__post_init__",
        "`pl.ds(start, size)` with numbers that Python knows is checked where it is taken; one with a computed start "
        "is not. "
        "Python's `a:b` is cut off at the end of the axis, as in NumPy.",
    ),
)
