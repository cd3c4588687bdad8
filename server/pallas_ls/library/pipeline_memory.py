"""The buffers and barriers that a pipeline allocates (jax/_src/pallas/mosaic_gpu/pipeline.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain import dim as dims
from ..domain.array import Array, Shape
from ..domain.dtype import DType
from ..domain.memory import Allocation
from ..domain.python import Call, External, Int, Unknown, Value
from ..domain.ref import BlockSpec, Ref, RefType
from .convert import INT32
from .loops import traced_index

SPECIALIZED = "emit_pipeline_warp_specialized"


def in_smem(spec: BlockSpec) -> bool | None:
    """Whether a step's block is copied to shared memory, or stays where it is; None where that is not known."""
    space = spec.params.get("memory_space")
    if space is None:
        return True
    name = getattr(space, "space", "") or (space.name.rsplit(".", 1)[-1].lower() if isinstance(space, External) else "")
    return name in ("smem", "default") if name else None


def block_shape(spec: BlockSpec, ref: Value) -> Shape:
    """The shape of one step's block; of a spec without one, the operand's."""
    whole = spec.params.get("block_shape") is None
    return ref.shape if whole and isinstance(ref, Ref) else spec.shape


def step_count(m: Any, grid: Value) -> dims.Dim | None:
    """The number of steps, where the grid is static."""
    items = m.program.items.iterate(m, grid)
    if items is None or any(isinstance(x, Array) for x in items):
        return None
    sizes = [m.as_int(x) for x in items]
    if not all(isinstance(s, Int) for s in sizes):
        return None
    return m.simplify(dims.product(tuple(s.dim for s in sizes if s is not None)))


def stages(m: Any, params: Mapping[str, Value]) -> Int | Unknown:
    """Buffers of one operand: `max_concurrent_steps`, or fewer where the pipeline has fewer steps."""
    most = m.as_int(params["max_concurrent_steps"])
    if most is None:
        return m.unknown("max_concurrent_steps is not known", params["max_concurrent_steps"])
    steps = step_count(m, params["grid"])
    return most if steps is None else Int(m.simplify(dims.minimum(most.dim, steps)), most.origin)


@dataclass(frozen=True, slots=True)
class Mapped:
    """What an index map gives for a step.

    Attributes:
      index: a value for each axis of the block, over fresh symbols for the step's place in the grid; None: not known.
      moves: whether it uses its arguments, as JAX sees it; None: not known.
    """

    index: tuple[Value, ...] | None
    moves: bool | None


def mapped(m: Any, spec: BlockSpec, grid: Value, call: Call) -> Mapped:
    """Runs a spec's index map once."""
    if spec.index_map is None:
        return Mapped(None, False)
    items = m.program.items.iterate(m, grid)
    if items is None:
        return Mapped(None, None)
    sizes = [m.as_int(x) for x in items]
    steps = tuple(traced_index(m, "i", 0, m.simplify(n.dim) if n is not None else None) for n in sizes)
    found = m.program.calls.call(m, spec.index_map, steps, call.site)
    if type(found) is not tuple:
        return Mapped(None, None)
    marks = {s for i in steps if i.index is not None for s in dims.symbols(i.index.dim)}
    used = {s for x in found for s in dims.symbols(_dim(x) or 0)}
    if not used.isdisjoint(marks):
        return Mapped(found, True)
    return Mapped(found, None if _may_use(m, spec, len(items), call) else False)


def _may_use(m: Any, spec: BlockSpec, rank: int, call: Call) -> bool:
    """Whether an index map may use its arguments though the result does not tell: `i * 0` does, for JAX."""
    found = m.program.calls.call(m, spec.index_map, (Array((), INT32),) * rank, call.site)
    return type(found) is not tuple or not all(isinstance(x, Int) and isinstance(x.dim, int) for x in found)


def _dim(v: Value) -> dims.Dim | None:
    n = v.index if isinstance(v, Array) else v
    return n.dim if isinstance(n, Int) else None


def allocations_of(
    m: Any, kind: str, params: Mapping[str, Value], specs: tuple[list[Value], list[Value]], refs: Sequence[Value],
    names: Sequence[str], call: Call
) -> tuple[Allocation, ...]:  # fmt: skip
    """What a pipeline over these references allocates for as long as it runs."""
    depth = stages(m, params)
    every = [*specs[0], *specs[1]]
    out: list[Allocation] = []
    for i, spec in enumerate(every):
        ref = refs[i] if i < len(refs) else None
        name = names[i] if i < len(names) else f"ref{i}"
        if not isinstance(spec, BlockSpec):
            out.append(Allocation(name, m.unknown("a block of a spec that is not known", spec)))
            continue
        held = in_smem(spec)
        if held is None:
            out.append(Allocation(name, m.unknown("a block in a memory that is not known")))
        if held or kind == SPECIALIZED:
            slots = depth if kind != SPECIALIZED else _slots(m, spec, params, depth, call)
            out.append(Allocation(name, _stacked(m, spec, ref, slots), "stages"))
    return (*out, *_barriers(m, kind, params, specs[0], depth))


def _slots(m: Any, spec: BlockSpec, params: Mapping[str, Value], depth: Int | Unknown, call: Call) -> Int | Unknown:
    """A block that is the same in every step has one buffer."""
    moves = mapped(m, spec, params["grid"], call).moves
    if moves is None:
        return m.unknown("whether a block depends on the grid is not known")
    return depth if moves else Int(1)


def _stacked(m: Any, spec: BlockSpec, ref: Value, slots: Int | Unknown) -> RefType:
    shape = block_shape(spec, ref)
    whole: Shape = (slots, *shape) if isinstance(shape, tuple) else m.unknown("blocks of an unknown shape")
    dtype = ref.dtype if isinstance(ref, Ref) else m.unknown("the element type of an operand that is not known", ref)
    return RefType("data", "smem", whole, dtype, spec.transforms, {"spec": spec}, (), spec.made)


def _barriers(
    m: Any, kind: str, params: Mapping[str, Value], inputs: list[Value], depth: Int | Unknown
) -> tuple[Allocation, ...]:
    if kind != SPECIALIZED:
        copied = [in_smem(s) if isinstance(s, BlockSpec) else None for s in inputs]
        if not any(c is not False for c in copied):
            return ()
        return (_barrier("barrier", depth, Int(len(copied))),)
    produced = len(inputs) if params["manual_produced_barriers"] is True else 1
    consumed = len(inputs) if params["manual_consumed_barriers"] is True else 1
    clustered = any(isinstance(s, BlockSpec) and s.params.get("collective_axes") for s in inputs)
    arrivals = Int(1) if params["manual_produced_barriers"] is True else Int(len(inputs))
    rows = [_barrier(f"produced {i}", depth, arrivals) for i in range(produced)]
    kind_of = "cluster_barrier" if clustered else "barrier"
    rows += [_barrier(f"consumed {i}", depth, params["num_compute_wgs"], kind_of) for i in range(consumed)]
    return tuple(rows)


def _barrier(name: str, count: Int | Unknown, arrivals: Value, kind: str = "barrier") -> Allocation:
    t = RefType(kind, "smem", (count,), DType(kind, 64, "barrier"), (), {"num_arrivals": arrivals, "pipeline": True})
    return Allocation(name, t, "stages")
