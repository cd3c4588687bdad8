"""Which fixes a rule has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import (
    arguments,
    axes,
    buffers,
    capacity,
    copies,
    gathers,
    kernels,
    moves,
    multiplication,
    operands,
    operations,
    store,
    stores,
    synchronous,
    tensor_memory,
    through,
    values,
    variants,
    views,
)
from .candidate import Candidate, Repair

Make = Callable[[Repair], Iterator[Candidate]]

_OWN: dict[str, tuple[Make, ...]] = {
    "swizzle-value": (buffers.swizzle_value,),
    "barrier-arrivals": (buffers.arrivals,),
    "tiling-divides": (buffers.transforms,),
    "swizzle-row": (buffers.transforms,),
    "missing-argument": (arguments.missing,),
    "unknown-argument": (arguments.unknown,),
    "absent-name": (arguments.similar,),
    "not-a-reference": (arguments.reference,),
    "async-store-memory-space": (arguments.memory_space("ref"),),
    "barrier-memory-space": (arguments.memory_space("barrier"),),
    "async-store-shape": (store.shape,),
    "async-store-dtype": (store.dtype,),
    "async-store-barrier-count": (store.one_barrier,),
    "tiled-slice-step": (views.strided,),
    "tiled-slice": (views.whole_tiles, views.finer_tiles),
    "tiled-index": (views.tile_index,),
    "swizzled-transpose": (views.transposed,),
    "async-store-elsewhere": (views.elsewhere,),
    "barrier-view": (views.barrier_index,),
    "async-store-cluster-index": (axes.cluster_index,),
    "unknown-axis": (axes.unknown_axis,),
    "cluster-axis": (axes.cluster_axis, axes.no_cluster),
    "async-store-barrier": (buffers.plain_barrier,),
    "async-store-transforms": (variants.lowering, synchronous.store),
    "async-store-bytes": (variants.lowering, synchronous.store),
    "async-store-layout": (variants.lowering,),
    "layout-fits-shape": (variants.lowering,),
    "async-store-register-width": (variants.lowering,),
    "async-store-atomic": (store.atomic,),
    # Kernels, memory, pipelines.
    "renamed-keyword": (kernels.rename,),
    "kernel-keyword": (kernels.kernel_name,),
    "compiler-params-keyword": (arguments.unknown,),
    "dimension-semantics": (kernels.params_without,),
    "grid-names": (kernels.axis_names("grid"),),
    "cluster-names": (kernels.axis_names("cluster"),),
    "thread-name": (kernels.thread_name,),
    "thread-count": (kernels.thread_count,),
    "body-parameters": (kernels.listed,),
    "scratch-type": (kernels.smem,),
    "scoped-axes": (kernels.collective_axes,),
    "accumulator-scope": (kernels.accumulator_alone,),
    "barrier-axis": (kernels.barrier_axis,),
    "tmem-packing": (kernels.packing,),
    "tmem-argument": (kernels.without(safe=True),),
    "tmem-transforms": (kernels.without(safe=True),),
    "tmem-mixed": (kernels.all_collective,),
    "smem-capacity": (kernels.fewer_stages, capacity.smaller),
    "pipeline-depth": (kernels.deeper,),
    "pipeline-mode": (kernels.spec_without("pipeline_mode", safe=True),),
    "pipeline-axes": (kernels.spec_without("collective_axes", safe=False),),
    "pipeline-memory-thread": (kernels.without(safe=True),),
    # Copies, barriers and waits.
    "copy-reference": (copies.references,),
    "copy-memory-space": (copies.exchanged,),
    "copy-dtype": (copies.dtype,),
    "copy-shape": (copies.shape,),
    "copy-barrier": (buffers.plain_barrier,),
    "copy-architecture": (copies.in_bounds, copies.missing_barrier),
    "copy-reduction": (copies.reduction,),
    "collective-axis": (axes.collective_axis,),
    "leader-axes": (copies.leader_axes,),
    "one-barrier": (copies.one_barrier,),
    "barrier-reference": (copies.references,),
    "tma-box": (copies.transforms, copies.in_bounds),
    "tma-row": (copies.whole_rows, through.registers),
    "tma-strides": (through.registers,),
    "tma-rank": (through.registers,),
    "operand-tiling": (copies.without_transforms, copies.finer_tiles),
    "smem-contiguous": (copies.transforms, copies.own_buffer),
    "wait-count": (copies.wait_for_all,),
    "wait-architecture": (copies.wait_at_barrier,),
    "semaphore-core": (kernels.without(safe=True),),
}
#: Tables of the modules that have one.
_TABLES = (
    multiplication.FIXES,
    operands.FIXES,
    operands.SOME,
    tensor_memory.FIXES,
    operations.FIXES,
    values.FIXES,
    values.SOME,
    stores.FIXES,
    gathers.SOME,
    capacity.FIXES,
    moves.FIXES,
    moves.SOME,
)


def _merged(*tables: dict[str, tuple[Make, ...]]) -> dict[str, tuple[Make, ...]]:
    """The fixes of each rule, in the order of the tables."""
    out: dict[str, tuple[Make, ...]] = {}
    for table in tables:
        for id, makes in table.items():
            out[id] = (*out.get(id, ()), *makes)
    return out


FIXES = _merged(_OWN, *_TABLES)


def candidates(repair: Repair) -> Iterator[Candidate]:
    """Changes that may repair a violation, best first; none twice."""
    seen: set[frozenset[object]] = set()
    for make in FIXES.get(repair.violation.rule.id, ()):
        for candidate in make(repair):
            edits = frozenset(candidate.edits)
            if edits and edits not in seen:
                seen.add(edits)
                yield candidate
