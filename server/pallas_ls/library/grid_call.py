"""`pl.pallas_call`: a body that sees a block of each operand at each step of a grid.

Parameters are those of JAX 0.12.0 (jax/_src/pallas/pallas_call.py, pallas_call). Block and array have the same rank;
axes given as None are dropped from what the body sees. Without a spec the block is the whole array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..domain.python import Call, DictCell, ListCell, Made, Opaque, Unknown, Value
from ..domain.ref import BlockSpec, Launch, Ref, RefType
from . import launch, pipeline_memory
from .recording import record, recorded
from .registry import Arguments, Registry
from .scratch import as_ref, operand_refs, parameter_names, result_of

_PALLAS_CALL = (
    "kernel, out_shape, *, grid_spec=None, grid=(), in_specs=None, out_specs=None, scratch_shapes=(), "
    "input_output_aliases=None, debug=False, interpret=False, name=None, compiler_params=None, cost_estimate=None, "
    "metadata=None"
)
_GRID_SPEC = "grid=(), in_specs=None, out_specs=None, scratch_shapes=()"


@dataclass(frozen=True, slots=True, eq=False)
class GridSpec:
    """`pl.GridSpec`: grid, specs and scratch of a `pallas_call`."""

    params: Mapping[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class GridCall:
    """What `pl.pallas_call` returns."""

    params: Mapping[str, Value]
    made: Made


def register(r: Registry) -> None:
    """Registers `pl.pallas_call` and `pl.GridSpec`."""
    pl = "jax.experimental.pallas"
    r.names[f"{pl}.pallas_call"] = recorded(f"{pl}.pallas_call", "pl.pallas_call", _PALLAS_CALL, _make)
    r.names[f"{pl}.GridSpec"] = recorded(
        f"{pl}.GridSpec", "pl.GridSpec", _GRID_SPEC, lambda m, call, a: GridSpec(a.values)
    )
    r.calls[GridCall] = _call


def _make(m: Any, call: Call, a: Arguments) -> Value:
    params = dict(a.values)
    if isinstance(params["grid_spec"], GridSpec):
        params |= params["grid_spec"].params
    elif params["grid_spec"] is not None:
        unknown = m.unknown("a grid spec that is not known", params["grid_spec"])
        params |= dict.fromkeys(("grid", "in_specs", "out_specs", "scratch_shapes"), unknown)
    return GridCall(params, Made(call.site, a.sites))


def _call(m: Any, f: GridCall, call: Call) -> Value:
    p = f.params
    result = result_of(m, p["out_shape"])
    names = parameter_names(p["kernel"], len(call.args))
    record(m, "pl.pallas_call()", call.site, dict(zip(names, call.args, strict=True)), result)
    if call.open:
        return result
    inputs = [operand_refs(m, v, n) for v, n in zip(call.args, names, strict=True)]
    outputs = _outputs(m, p["out_shape"])
    scratch = m.program.items.iterate(m, p["scratch_shapes"])
    if outputs is None or scratch is None:
        return result
    blocks = [*_blocks(m, p["in_specs"], inputs), *_blocks(m, p["out_specs"], outputs)]
    names = parameter_names(p["kernel"], len(blocks) + len(scratch))[len(blocks) :]
    buffers = [as_ref(m, t, n) for t, n in zip(scratch, names, strict=True)]
    m.launches.append(
        Launch(grid=_grid(m, p["grid"]), semantics=launch.semantics(m, p["compiler_params"]), made=f.made)
    )
    try:
        m.program.calls.call(m, p["kernel"], (*blocks, *buffers), f.made.site)
    finally:
        m.launches.pop()
    return result


def _grid(m: Any, v: Value) -> tuple[Value, ...] | Unknown:
    items = m.program.items.iterate(m, v)
    if items is not None:
        return tuple(items)
    return (v,) if m.as_int(v) is not None else m.unknown("a grid that is not known", v)


def _outputs(m: Any, out: Value) -> list[Value] | None:
    """A reference for each output; None where their number is not known."""
    if isinstance(out, (tuple, ListCell)):
        items = m.program.items.iterate(m, out)
        return None if items is None else [as_ref(m, t, f"out{i}") for i, t in enumerate(items)]
    return None if isinstance(out, (Unknown, Opaque, DictCell)) else [as_ref(m, out, "out")]


def _blocks(m: Any, specs: Value, refs: list[Value]) -> list[Value]:
    """What the body sees of each reference."""
    if specs is None:
        return refs
    items = [specs] if isinstance(specs, BlockSpec) else m.program.items.iterate(m, specs)
    if items is None or len(items) != len(refs):
        return [m.unknown("a block of a spec that is not known", specs)] * len(refs)
    return [_block(m, s, r) for s, r in zip(items, refs, strict=True)]


def _block(m: Any, spec: Value, ref: Value) -> Value:
    if not isinstance(spec, BlockSpec):
        return ref if spec is None else m.unknown("a block of a spec that is not known", spec)
    if not isinstance(ref, Ref):
        return m.unknown("a block of an operand that is not known", ref)
    shape = pipeline_memory.block_shape(spec, ref)
    space = getattr(spec.params.get("memory_space"), "space", "smem")
    t = RefType("data", space, shape, ref.dtype, spec.transforms, {"spec": spec}, (), spec.made)
    return Ref(t, shape, ref.dtype, (), ref.name)
