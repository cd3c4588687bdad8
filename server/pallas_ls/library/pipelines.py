"""`plgpu.emit_pipeline`, `plgpu.emit_pipeline_warp_specialized`, `plgpu.inline_mgpu`, and the module's launching and
loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..domain.array import Array, Extent, Shape
from ..domain.python import Builtin, Call, Int, Made, Opaque, Unknown, Value
from ..domain.ref import BlockSpec, Ref, RefType
from . import launch, loops
from .convert import as_extent
from .plgpu_signatures import SIGNATURES
from .recording import Model, recorded
from .registry import Arguments, Registry
from .scratch import parameter_names, result_of


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """What `emit_pipeline*` returns: called with references to its operands, it runs the body."""

    kind: str
    params: Mapping[str, Value]
    made: Made


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


def _maker(api: str) -> Model:
    return lambda m, call, a: Pipeline(api, a.values, Made(call.site, a.sites))


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
    blocks = tuple(_block(m, s, call.args[i] if i < len(call.args) else None, names[i]) for i, s in enumerate(every))
    index = _index(m, p["grid"])
    if p.get("compute_context") is not None:
        return _in_context(m, f, call, (index, *blocks))
    carry = p.get("init_carry")
    extra = _consumed(m, p, len(specs[0]))
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
    barrier = RefType("barrier", "smem", (), m.unknown("a barrier"), (), {"num_arrivals": p["num_compute_wgs"]})
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
    dtype = ref.dtype if isinstance(ref, Ref) else m.unknown("the element type of an operand that is not known", ref)
    shape = block_shape(spec, ref)
    t = RefType("data", "smem", shape, dtype, spec.transforms, {"spec": spec}, (), spec.made)
    return Ref(t, shape, dtype, (), name)


def block_shape(spec: BlockSpec, ref: Value) -> Shape:
    """The block's shape; of a spec without one, the operand's."""
    whole = spec.params.get("block_shape") is None
    return ref.shape if whole and isinstance(ref, Ref) else spec.shape


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
