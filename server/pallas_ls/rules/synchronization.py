"""What JAX lowers and a GPU gets wrong: results read too early, barriers that count wrong, copies that start inside a
tile. Warnings, and only where nothing of the kernel is unknown that could make them right."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.fact import CallFact
from ..domain.finding import Severity
from ..domain.python import Value
from ..domain.ref import Ref
from ..domain.target import Semantics
from .copies import BOTH, LOAD, PRIMITIVES
from .copy_window import unproved_start
from .copying.case import CopyCase, Part
from .copying.read import copy_case, is_of, sides
from .rule import Answer, Note, Problem, Rule, Unsure
from .silent import LAST, all_is_seen
from .view import CallView

_WAITS = ("barrier_wait", "barrier_arrive_and_wait", "barrier_test", "semaphore_wait", "pl.semaphore_wait")


def product_read_early(v: CallView) -> Answer:
    """A load of an accumulator in tensor memory that a multiplication before it still writes."""
    src = v.value("src")
    if not isinstance(src, Ref) or not all_is_seen(v):
        return None
    facts = v.kernel()
    before = facts[: _index(facts, v.fact)]
    last = next((i for i in reversed(range(len(before))) if _multiplies_into(before[i], src)), None)
    if last is None or any(f.api in _WAITS for f in before[last:]):
        return None
    name = src.name or "the accumulator"
    text = (
        f"tcgen05_mma returns before {name} is written, and nothing is waited for between it and this load: signal a "
        "plgpu.Barrier(orders_tensor_core=True) (tcgen05_mma(..., barrier) or plgpu.tcgen05_commit_arrive(barrier)), "
        "and plgpu.barrier_wait(barrier) here."
    )
    return Problem(text, None, v.site("src"), (Note(before[last].site, "written by this"),))


def _index(facts: Sequence[CallFact], fact: CallFact) -> int:
    return next((i for i, f in enumerate(facts) if f is fact), 0)


def _multiplies_into(f: CallFact, ref: Ref) -> bool:
    return f.api == "tcgen05_mma" and _is_same(f.operands.get("acc"), ref)


def _is_same(x: Value, ref: Ref) -> bool:
    """Whether an operand is certainly a part of the same buffer: entries of one list may share their type."""
    return isinstance(x, Ref) and is_of(x, ref) and x.name == ref.name and x.type.kind == ref.type.kind


# -- arrivals --------------------------------------------------------------------------------------

#: Calls that run once where they stand, and arrive at no barrier but one that they are given.
_PLAIN = frozenset(
    (
        *("SMEM", "TMEM", "ACC", "Barrier", "TilingTransform", "SwizzleTransform", "CompilerParams", "plgpu.name"),
        *("kernel", "kernel()", "kernel.body", "kernel.memory", "launch", "pl.run_scoped", "lax.axis_index"),
        *("ref.get", "ref.set", "ref.at", "ref.transpose", "ref.reshape", "load", "store", "layout_cast"),
        *("copy_gmem_to_smem", "copy_smem_to_gmem", "wait_smem_to_gmem", "commit_smem", "pl.ds", "pl.multiple_of"),
        *("wgmma", "wgmma_wait", "barrier_arrive", "barrier_wait", "tcgen05_mma", "tcgen05_commit_arrive"),
        *("async_load_tmem", "wait_load_tmem", "commit_tmem"),
    )
)
#: Calls that arrive once at their barrier, and what makes it another number.
_ARRIVES = {
    LOAD: ("collective_axes", "leader_tracked", "predicate"),
    "barrier_arrive": ("predicate",),
    "tcgen05_mma": ("collective_axis",),
    "tcgen05_commit_arrive": ("collective_axis", "predicate"),
}


def arrivals(v: CallView) -> Answer:
    """The first wait at a barrier at which another number arrives than it counts, in a kernel without branches."""
    barrier, launch = v.value("barrier"), v.fact.launch
    if not isinstance(barrier, Ref) or barrier.type.kind != "barrier" or barrier.views or launch is None:
        return None
    wanted = v.exact(barrier.type.params.get("num_arrivals"))
    if wanted is None or v.exact_shape(barrier.type.shape) not in ((), (1,)) or launch.num_threads is not None:
        return None
    facts = v.kernel()
    if not all_is_seen(v) or not all(_is_plain(f) for f in facts):
        return None
    count = _arrivals(facts[: _index(facts, v.fact)], barrier)
    if count is None or count == wanted:
        return None
    name, made = barrier.name or "the barrier", barrier.type.made
    met = f"{count} arrival{'s' if count != 1 else ''} come{'s' if count == 1 else ''}"
    outcome = "the wait never ends" if count < wanted else "the wait ends before the last"
    text = f"{name} counts {wanted} (num_arrivals={wanted}), and {met} before this wait: {outcome}."
    if count:
        text += f" plgpu.Barrier(num_arrivals={count}) counts them all."
    return Problem(text, None, v.site("barrier"), (Note(made.site, "allocated here"),) if made is not None else ())


def _is_plain(f: CallFact) -> bool:
    return (f.api in _PLAIN or f.api.startswith("jax.numpy.")) and not f.guards


def _arrivals(before: Sequence[CallFact], barrier: Ref) -> int | None:
    """How many calls arrive; None where one does in a way that is not known, or something waits already."""
    count = 0
    for f in before:
        given = f.operands.get("barrier")
        if not isinstance(given, Ref) or not is_of(given, barrier):
            continue
        more = _ARRIVES.get(f.api)
        if more is None or given.views or not _is_same(given, barrier):
            return None
        if any(f.operands.get(name) is not None for name in more):
            return None
        count += 1
    return count


# -- starts ----------------------------------------------------------------------------------------


def start_inside_tile(v: CallView) -> Answer:
    """A tiled copy whose start is computed and not known to be a multiple of the tile, under Lane semantics."""
    case, pair = copy_case(v), sides(v)
    if not isinstance(case, CopyCase) or isinstance(pair, Unsure) or case.buffer is None:
        return None
    tiling, permutation = case.buffer.tiling or (), case.buffer.permutation
    kept = [(p, n) for p, n in zip(case.parts, case.gmem, strict=True) if not p.squeezed]
    if not tiling or permutation is not None or len(kept) < len(tiling):
        return None
    for (part, extent), tile in zip(kept[-len(tiling) :], tiling, strict=True):
        if extent is not None and extent > tile and _may_start_inside(part, tile):
            buffer = pair[1].name if pair[1] is not None and pair[1].name else "the buffer"
            text = (
                f"{buffer} is tiled by {tile} here, and the start of this slice is not known to be a multiple of it: "
                "the copy starts at the tile that holds it, not at the element. Where it always is a multiple, say so: "
                f"pl.multiple_of(start, {tile}). Else copy into a buffer without tiling."
            )
            return Problem(text, None, unproved_start(v, pair[0]) or v.site("src"))
    return None


def _may_start_inside(p: Part, tile: int) -> bool:
    return p.start is None and p.exact and p.divisor % tile != 0


RULES = (
    Rule(
        "product-read-early",
        "The product of a tcgen05_mma is waited for before it is loaded.",
        ("async_load_tmem",),
        LAST,
        product_read_early,
        f"{PRIMITIVES}, tcgen05_mma",
        "`tcgen05_mma` only starts the multiplication; a barrier is signalled when it is done. What is loaded before "
        "is whatever tensor memory holds. The warning is given where nothing at all is waited for between the two, and "
        "every call of the kernel is known.",
        severity=Severity.WARNING,
    ),
    Rule(
        "arrivals-add-up",
        "As many arrive at a barrier as it counts.",
        ("barrier_wait",),
        LAST,
        arrivals,
        f"{PRIMITIVES}, barrier_wait",
        "A barrier lets go when `num_arrivals` have arrived: each `copy_gmem_to_smem` that signals it is one, and each "
        "`barrier_arrive`. With fewer the kernel hangs; with more, what waits goes on before the last of them. The "
        "warning is given in kernels of one warpgroup without loops or branches, whose calls are all known.",
        severity=Severity.WARNING,
    ),
    Rule(
        "start-inside-tile",
        "Under Lane semantics a tiled copy starts at whole tiles, too.",
        BOTH,
        LAST + 2,
        start_inside_tile,
        "jax/experimental/mosaic/gpu/launch_context.py, TileTransform.transform_index",
        "The operand is cut into tiles like the buffer, and the start of the slice is divided by the tile: what is "
        "left over is dropped, and other rows are copied. Warpgroup semantics refuse a start that is not proved to be "
        "a multiple (offset-divisible).",
        semantics=Semantics.LANE,
        severity=Severity.WARNING,
    ),
)
