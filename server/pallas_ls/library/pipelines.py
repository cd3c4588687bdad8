"""`plgpu.emit_pipeline`, `plgpu.emit_pipeline_warp_specialized`, `plgpu.inline_mgpu`, and the module's launching and
loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..domain.array import Array, Extent, Shape
from ..domain.dtype import BARRIER
from ..domain.python import Builtin, Call, DictCell, Int, ListCell, Made, Opaque, Unknown, Value
from ..domain.ref import BlockSpec, Ref, RefType
from ..source.span import Site
from . import allocations, launch, loops, pipeline_memory
from .convert import as_extent
from .plgpu_signatures import SIGNATURES
from .recording import Model, record, recorded, snapshot
from .registry import NO_ATTRIBUTE, Arguments, Registry
from .scratch import parameter_names, result_of


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """What `emit_pipeline*` returns: called with references to its operands, it runs the body. `maps`: what the index
    map of each spec gives, inputs first; () where the specs are not known."""

    kind: str
    params: Mapping[str, Value]
    made: Made
    maps: tuple[pipeline_memory.Mapped | None, ...] = ()


def register(r: Registry, module: str) -> None:
    """Registers pipelines, launching and loops."""
    launch.register(r, module)
    loops.register(r, module)
    for api in ("emit_pipeline", "emit_pipeline_warp_specialized"):
        r.names[f"{module}.{api}"] = recorded(f"{module}.{api}", api, SIGNATURES[api], _maker(api))
    r.names[f"{module}.inline_mgpu"] = recorded(
        f"{module}.inline_mgpu", "inline_mgpu", SIGNATURES["inline_mgpu"], _inline
    )
    r.calls[Pipeline] = _run
    r.attribute(Pipeline)(_attribute)


def _maker(api: str) -> Model:
    def model(m: Any, call: Call, a: Arguments) -> Value:
        specs = [x for name in ("in_specs", "out_specs") for x in _specs(m, a.values[name]) or (None,)]
        known = [
            pipeline_memory.mapped(m, s, a.values["grid"], call) if isinstance(s, BlockSpec) else None for s in specs
        ]
        return Pipeline(api, {k: snapshot(x) for k, x in a.values.items()}, Made(call.site, a.sites), tuple(known))

    return model


def block_extents(m: Any, v: Value) -> Shape:
    """A block shape as it is seen by the body: axes given as None are dropped."""
    items = m.program.items.iterate(m, v)
    if items is None:
        return m.unknown("a block shape that is not known", v)
    return tuple(_extent(m, x) for x in items if x is not None and not _squeezed(x))


def _squeezed(v: Value) -> bool:
    return getattr(v, "name", "").endswith((".squeezed", ".Squeezed"))


def _extent(m: Any, v: Value) -> Extent:
    return as_extent(m, v)


def _run(m: Any, f: Pipeline, call: Call) -> Value:
    """`pipeline(*refs)`."""
    p = f.params
    if call.open:
        return m.unknown("a pipeline over references that are not known")
    specs = _specs(m, p["in_specs"]), _specs(m, p["out_specs"])
    if specs[0] is None or specs[1] is None:
        return m.unknown("a pipeline with specs that are not known", p["in_specs"], p["out_specs"])
    every = [*specs[0], *specs[1]]
    names = parameter_names(p["body"], len(every) + 1)[1:]
    record(m, "pipeline()", call.site, {"pipeline": f, "refs": call.args, "specs": specs}, None)
    if "allocations" in call.kwargs:
        return _run_body(m, f, call, specs, names)
    with _memory(m, f, call, (specs[0], specs[1]), names):
        return _run_body(m, f, call, specs, names)


@contextmanager
def _memory(
    m: Any, f: Pipeline, call: Call, specs: tuple[list[Value], list[Value]], names: list[str]
) -> Iterator[None]:
    """The pipeline's own buffers and barriers, for as long as it runs."""
    entries = pipeline_memory.allocations_of(m, f.kind, f.params, specs, call.args, names, call)
    record(m, "pipeline.memory", call.site, {"pipeline": f, "types": tuple(e.type for e in entries)}, None)
    with allocations.scope(m, f.kind, call.site, entries, f.made):
        yield


def _get_allocations(m: Any, f: Pipeline, call: Call) -> Value:
    """`pipeline.get_allocations(*refs)`: types for `pl.run_scoped`, by keyword."""
    specs = _specs(m, f.params["in_specs"]), _specs(m, f.params["out_specs"])
    if specs[0] is None or specs[1] is None or call.open:
        return m.unknown("the allocations of a pipeline with specs that are not known")
    names = parameter_names(f.params["body"], len(specs[0]) + len(specs[1]) + 1)[1:]
    entries = pipeline_memory.allocations_of(m, f.kind, f.params, (specs[0], specs[1]), call.args, names, call)
    buffers = [e.type for e in entries if not _is_barrier(e.type)]
    barriers = [e.type for e in entries if _is_barrier(e.type)]
    produced = len(barriers) - (len(specs[0]) if f.params["manual_consumed_barriers"] is True else 1)
    groups = {
        "flat_in_smem_refs": buffers[: len(specs[0])],
        "flat_out_smem_refs": buffers[len(specs[0]) :],
        "flat_produced_barrier_refs": barriers[:produced],
        "flat_consumed_barrier_refs": barriers[produced:],
    }
    return DictCell({"items": {k: (k, ListCell({"items": tuple(v)})) for k, v in groups.items()}})


def _is_barrier(t: Value) -> bool:
    return isinstance(t, RefType) and t.kind != "data"


def _attribute(m: Any, v: Pipeline, name: str, site: Site) -> Value:
    if name != "get_allocations" or v.kind != pipeline_memory.SPECIALIZED:
        return NO_ATTRIBUTE
    return Builtin("get_allocations", lambda inner, call: _get_allocations(inner, v, call))


def _run_body(m: Any, f: Pipeline, call: Call, specs: tuple[Any, Any], names: list[str]) -> Value:
    p = f.params
    every = [*specs[0], *specs[1]]
    blocks = tuple(_block(m, s, call.args[i] if i < len(call.args) else None, names[i]) for i, s in enumerate(every))
    index = _index(m, p["grid"])
    carry = p.get("init_carry")
    extra = _consumed(m, p, len(specs[0]))
    if p.get("compute_context") is not None:
        return _in_context(m, f, call, (index, *blocks, *extra))
    if carry is None:
        m.program.calls.call(m, p["body"], (index, *blocks, *extra), call.site)
        return None
    start = loops.carried(m, carry)
    m.program.calls.call(m, p["body"], (index, *blocks, start), call.site)
    return start


def _specs(m: Any, v: Value) -> list[Value] | None:
    return m.program.items.iterate(m, v)


def _consumed(m: Any, p: Mapping[str, Value], inputs: int) -> tuple[Value, ...]:
    """With `manual_consumed_barriers`, the body gets a barrier for each input."""
    if p.get("manual_consumed_barriers") is not True:
        return ()
    barrier = RefType("barrier", "smem", (), BARRIER, (), {"num_arrivals": p["num_compute_wgs"]})
    return tuple(Ref(barrier, (), barrier.dtype) for _ in range(inputs))


def _in_context(m: Any, f: Pipeline, call: Call, blocks: tuple[Value, ...]) -> Value:
    """`compute_context(pipeline)` calls the pipeline with the carry that it starts from."""

    def pipeline(inner: Any, at: Call) -> Value:
        start = loops.carried(inner, at.args[0] if at.args else None)
        inner.program.calls.call(inner, f.params["body"], (*blocks, start), at.site)
        return start

    m.program.calls.call(m, f.params["compute_context"], (Builtin("pipeline", pipeline),), call.site)
    return None


def _index(m: Any, grid: Value) -> Value:
    items = m.program.items.iterate(m, grid)
    if items is None:
        return m.unknown("an index over a grid that is not known", grid)
    bounds = [m.as_int(x) for x in items]
    return tuple(loops.traced_index(m, "i", 0, m.simplify(b.dim) if b is not None else None) for b in bounds)


def _block(m: Any, spec: Value, ref: Value, name: str) -> Value:
    """The reference to one step's block of an operand."""
    if not isinstance(spec, BlockSpec):
        return m.unknown("a block of a spec that is not known", spec)
    if pipeline_memory.in_smem(spec) is False and isinstance(ref, Ref):
        return ref  # it stays in global memory, whole
    dtype = ref.dtype if isinstance(ref, Ref) else m.unknown("the element type of an operand that is not known", ref)
    shape = pipeline_memory.block_shape(spec, ref)
    t = RefType("data", "smem", shape, dtype, spec.transforms, {"spec": spec}, (), spec.made)
    return Ref(t, shape, dtype, (), name)


# -- inline_mgpu -----------------------------------------------------------------------------------


def _inline(m: Any, call: Call, a: Arguments) -> Value:
    """`@plgpu.inline_mgpu(arg_types=..., return_type=...)`: the body is MLIR; only its result's type is known."""
    returned = a.values["return_type"]

    def decorate(inner: Any, at: Call) -> Value:
        for f in at.args:
            inner.called.add(id(getattr(f, "code", None)))
        return Builtin("inline_mgpu", lambda mm, c: _returned(mm, returned))

    return Builtin("plgpu.inline_mgpu", decorate)


def _returned(m: Any, t: Value) -> Value:
    out = result_of(m, t) if not isinstance(t, (Opaque, Unknown, Int)) else m.unknown("the result of inline_mgpu", t)
    return Array(out.shape, out.dtype, layout=Unknown("the result of inline_mgpu")) if isinstance(out, Array) else out
