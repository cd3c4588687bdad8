"""What JAX lowers without a word and no author means: indices beyond their axis, steps that are dropped, copies that
nobody waits for. Warnings, and only where nothing of the kernel is unknown that could make them right."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.fact import CallFact
from ..domain.finding import Severity
from ..domain.python import Int
from ..domain.ref import Ds, Indexed, Loaded, Position, Ref
from ..domain.target import Semantics
from .async_store_operands import buffer_note
from .barriers import BARRIER_CALLS
from .copies import BOTH, LOAD, PRIMITIVES, STORE
from .copying.read import cluster, is_of, sides
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView, show_array

#: After every check of JAX.
LAST = 900
#: Calls that may do what the analysis does not see.
_OPAQUE = ("inline_mgpu",)
_WRITES = {"ref.set": "target", "store": "dst"}


def all_is_seen(v: CallView) -> bool:
    """Whether every call of the kernel is known."""
    if v.fact.launch is None or v.fact.launch.made is None:
        return False
    facts = v.kernel()
    return bool(v.once(("all is seen", id(facts)), lambda: _nothing_unknown(facts)))


def _nothing_unknown(facts: Sequence[CallFact]) -> bool:
    operations = {id(f.operations): f.operations for f in facts}  # the calls of a kernel share theirs
    unknown = any(o.name == "?" for os in operations.values() for o in os)
    return bool(facts) and not unknown and not any(f.api in _OPAQUE for f in facts)


def index_beyond(v: CallView) -> Answer:
    """A constant index that its axis does not have."""
    ref, found = v.value("self"), v.value("source") or v.value("target") or v.fact.result
    part = found.layout.ref if isinstance(found, Array) and isinstance(found.layout, Loaded) else found
    if not isinstance(ref, Ref) or not isinstance(part, Ref) or len(part.views) <= len(ref.views):
        return None
    last = part.views[-1]
    items = last.items if isinstance(last, Indexed) else ()
    if not isinstance(items, tuple) or not isinstance(ref.shape, tuple) or len(items) != len(ref.shape):
        return None
    for axis, (item, extent) in enumerate(zip(items, ref.shape, strict=True)):
        index = item.index if isinstance(item, Position) else None
        if not isinstance(index, Int) or not isinstance(extent, Int) or v.exact(index) is None:
            continue
        if v.decide(conds.at_most(extent.dim, index.dim)):
            return _beyond(v, ref, axis, index, extent)
    return None


def _beyond(v: CallView, ref: Ref, axis: int, index: Int, extent: Int) -> Problem:
    n = dims.text(v.simplify(extent.dim))
    name = ref.name or "the reference"
    what = (
        f"{name} has {n} barriers" if ref.type.kind.endswith("barrier") else f"axis {axis} of {name} has {n} positions"
    )
    text = f"Index {v.exact(index)}: {what}, counted from 0. JAX does not check it; the kernel reaches other memory."
    return Problem(text, None, v.site("idx"))


def block_beyond(v: CallView) -> Answer:
    """A block of the cluster that there is not."""
    index, axis = v.value("cluster_idx"), v.value("cluster_dim")
    sizes = cluster(v)
    if isinstance(sizes, Unsure) or not isinstance(index, Int) or not isinstance(axis, str):
        return None
    n, size = v.exact(index), sizes.get(axis)
    if n is None or size is None or 0 <= n < size:
        return None
    text = f"cluster_idx={n}: the cluster has {size} blocks along {axis!r}, counted from 0. JAX does not check it."
    return Problem(text, None, v.site("cluster_idx"))


def dropped_step(v: CallView) -> Answer:
    """A slice with a step of the operand, which Warpgroup semantics take without the step."""
    found = sides(v)
    if isinstance(found, Unsure) or v.semantics is not Semantics.WARPGROUP:
        return None
    for x in found[0].views:
        for item in x.items if isinstance(x, Indexed) and isinstance(x.items, tuple) else ():
            step = v.exact(item.stride) if isinstance(item, Ds) else 1
            if step not in (1, None):
                text = (
                    f"Warpgroup semantics drop the step {step} of this slice: neighbouring elements are copied. Copy "
                    "them "
                    "one by one, or the whole and pick from the buffer."
                )
                return Problem(text, None, x.made.site if x.made else None)
    return None


def never_awaited(v: CallView) -> Answer:
    """A copy whose barrier is used by nothing else in the kernel."""
    barrier = v.value("barrier")
    if (
        not isinstance(barrier, Ref)
        or barrier.type.kind != "barrier"
        or barrier.type.made is None
        or not all_is_seen(v)
    ):
        return None
    if any(_waits_elsewhere(f) for f in v.kernel()):
        return None
    for f in v.kernel():
        if f.api in ("ref.at", "launch", "pl.run_scoped", "kernel", "kernel()", "Barrier") or f.api.startswith(
            "kernel."
        ):
            continue
        if any(is_of(x, barrier) for name, x in f.operands.items() if (f.api, name) != (LOAD, "barrier")):
            return None
    text = (
        f"Nothing waits for {barrier.name or 'the barrier'}: what is read from the buffer may not have arrived. "
        f"plgpu.barrier_wait({barrier.name or 'barrier'}) before it is read."
    )
    return Problem(text, None, v.site("barrier"), (Note(barrier.type.made.site, "allocated here"),))


def _waits_elsewhere(f: CallFact) -> bool:
    """A wait that is refused itself: for something else than a barrier, or for copies of older GPUs."""
    barrier = f.operands.get("barrier")
    known = isinstance(barrier, Ref) and barrier.type.kind in ("barrier", "cluster_barrier")
    return f.api == "wait_gmem_to_smem" or (f.api in BARRIER_CALLS and not known)


def uncommitted(v: CallView) -> Answer:
    """A copy out of a buffer that threads have written, in a kernel that never commits its writes."""
    found = sides(v)
    if isinstance(found, Unsure) or found[1] is None or found[1].type.made is None or not all_is_seen(v):
        return None
    smem, facts = found[1], v.kernel()
    if any(f.api == "commit_smem" for f in facts):
        return None
    before = facts[: next((i for i, f in enumerate(facts) if f is v.fact), 0)]
    written = [f for f in before if f.api in _WRITES and is_of(f.operands.get(_WRITES[f.api]), smem)]
    if not written:
        return None
    text = (
        f"{smem.name or 'The buffer'}, {show_array(smem.type.shape, smem.type.dtype)}, is written by threads and "
        "copied by "
        "TMA, which may not see what they wrote: plgpu.commit_smem() before the copy."
    )
    return Problem(text, None, v.site("src"), (Note(written[-1].site, "written here"), *buffer_note(smem)[:1]))


RULES = (
    Rule(
        "index-beyond",
        "A constant index is one of its axis.",
        ("ref.at", "ref.get", "ref.set"),
        LAST,
        index_beyond,
        "jax/_src/state/indexing.py, NDIndexer.from_indices_shape",
        "JAX checks slices of constant start and size, but not single positions: buffers and barriers beyond the "
        "last one are "
        "other memory of the block.",
        severity=Severity.WARNING,
    ),
    Rule(
        "block-beyond",
        "A constant cluster_idx is a block of the cluster.",
        ("async_store_smem",),
        LAST,
        block_beyond,
        f"{PRIMITIVES}, _async_store_smem_lowering",
        "Blocks of a cluster are counted from 0 along each axis. JAX does not check the number.",
        severity=Severity.WARNING,
    ),
    Rule(
        "dropped-step",
        "Under Warpgroup semantics a copy takes no slice with a step.",
        BOTH,
        LAST,
        dropped_step,
        f"{PRIMITIVES}, _split_gmem_slice",
        "Lane semantics refuse such a slice. Warpgroup semantics pass on its start and size, not its step.",
        semantics=Semantics.WARPGROUP,
        severity=Severity.WARNING,
    ),
    Rule(
        "never-awaited",
        "A copy into shared memory is waited for.",
        (LOAD,),
        LAST + 1,
        never_awaited,
        f"{PRIMITIVES}, barrier_wait",
        "`copy_gmem_to_smem` returns before the data are there; `barrier_wait` waits until the barrier has counted "
        "all bytes. "
        "The warning is given only where nothing else in the kernel uses the barrier and every call of the kernel is "
        "known.",
        severity=Severity.WARNING,
    ),
    Rule(
        "uncommitted",
        "What threads wrote to shared memory is committed before TMA reads it.",
        (STORE,),
        LAST + 1,
        uncommitted,
        f"{PRIMITIVES}, commit_smem",
        "Threads and TMA reach shared memory by different ways. `commit_smem` makes what threads wrote visible to "
        "TMA. The "
        "warning is given only where the kernel never commits and every call of it is known.",
        severity=Severity.WARNING,
    ),
)
