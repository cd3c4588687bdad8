"""Control flow of kernels that decorates a function: `pl.when`, `pl.loop`, `plgpu.nd_loop`, `pl.run_state`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.dtype import DTYPES, DType
from ..domain.memory import Allocation
from ..domain.python import Alike, Bool, Builtin, Call, DictCell, Int, ListCell, Opaque, Unknown, Value
from ..domain.ref import RefType
from . import allocations
from .carries import note_carry
from .convert import INT32, as_array
from .plgpu_signatures import SIGNATURES
from .recording import recorded
from .registry import NO_ATTRIBUTE, Arguments, Registry
from .scratch import as_ref, gmem_ref


@dataclass(frozen=True, slots=True, eq=False)
class LoopInfo:
    """What `plgpu.nd_loop` gives its body: `index`, `local_index`, `num_local_steps`."""

    fields: Mapping[str, Value]


def register(r: Registry, module: str) -> None:
    """Registers control flow."""
    pl = "jax.experimental.pallas"
    for name, signature, model in (
        ("when", "condition, /", _when),
        ("loop", "lower, upper, *, init_carry=None, step=1, unroll=None", _loop),
        ("run_state", "f", _run_state),
    ):
        r.names[f"{pl}.{name}"] = recorded(f"{pl}.{name}", f"pl.{name}", signature, model)
    for name, model in (("nd_loop", _nd_loop), ("dynamic_scheduling_loop", _scheduling)):
        r.names[f"{module}.{name}"] = recorded(f"{module}.{name}", name, SIGNATURES[name], model)
    r.attribute(LoopInfo)(lambda m, v, name, site: v.fields.get(name, NO_ATTRIBUTE))


def _when(m: Any, call: Call, a: Arguments) -> Value:
    """A static condition decides; under a traced one JAX traces the body once, whatever it will be
    (pallas/helpers.py, when)."""
    condition = a.values["condition"]

    def decorate(inner: Any, at: Call) -> Value:
        c = _static(inner, condition)
        return inner.branch(c, lambda: _called(inner, at), lambda: None)

    return Builtin("pl.when", decorate)


def _called(m: Any, at: Call) -> Value:
    m.program.calls.call(m, at.args[0], (), at.site)
    return None


def _static(m: Any, v: Value) -> conds.Cond:
    if isinstance(v, bool):
        return v
    if isinstance(v, Bool):
        return v.cond
    if isinstance(v, Opaque):
        return conds.Truth(v.name)
    return True if isinstance(v, Array) else m.fresh_condition()


def traced_index(m: Any, name: str, low: dims.Dim | None, high: dims.Dim | None) -> Array:
    """A traced loop index with `low <= index < high`."""
    d = m.fresh_symbol(name, low, None if high is None else dims.sub(high, 1))
    return Array((), INT32, index=Int(d))


def _bound(m: Any, v: Value) -> dims.Dim | None:
    n = m.as_int(v)
    return None if n is None else m.simplify(n.dim)


def _loop(m: Any, call: Call, a: Arguments) -> Value:
    low, high, by = (_bound(m, a.values[k]) for k in ("lower", "upper", "step"))

    def decorate(inner: Any, at: Call) -> Value:
        if isinstance(by, int) and by == 1:
            index = traced_index(inner, "i", low, high)
        else:
            index = _strided_index(inner, low, high, by)
        return loop_body(inner, at, (index,), a.values["init_carry"], a.values["unroll"])

    return Builtin("pl.loop", decorate)


def _strided_index(m: Any, low: dims.Dim | None, high: dims.Dim | None, by: dims.Dim | None) -> Array:
    """lower + k * step."""
    if low is None or not isinstance(by, int):
        return Array((), INT32)
    rounds = (high - low + by - 1) // by if isinstance(low, int) and isinstance(high, int) and by > 0 else None
    k = traced_index(m, "k", 0, rounds)
    assert k.index is not None
    return Array((), INT32, index=Int(dims.add(low, dims.mul(by, k.index.dim))))


def loop_body(
    m: Any, at: Call, args: tuple[Value, ...], carry: Value, unroll: Value = None, keyword: str | None = None
) -> Value:
    """Runs a loop's body once, as JAX traces it; a carry keeps its type."""
    body = at.args[0]
    if carry is None:
        m.program.calls.call(m, body, args, at.site)
        return None
    start = carried(m, carry)
    if keyword:
        out = m.program.calls.call(m, body, args, at.site, {keyword: start})
    else:
        out = m.program.calls.call(m, body, (*args, start), at.site)
    note_carry(m, at.site, start, out, unroll)
    return start


def carried(m: Any, v: Value) -> Value:
    """A loop's carry as its body sees it: arrays of the same type, of unknown value and layout."""
    if isinstance(v, Array):
        layout = Unknown("carried through a loop") if v.layout is not None else None
        return Array(v.shape, v.dtype, layout=layout, by=v.by)
    if isinstance(v, (Int, bool, float, Bool)):
        x = as_array(m, v)
        return Array(x.shape, x.dtype)
    if type(v) is tuple:
        return tuple(carried(m, x) for x in v)
    if isinstance(v, Alike):
        return replace(v, element=carried(m, v.element))
    if isinstance(v, ListCell):
        items = m.select(v.slots["items"])
        return ListCell({"items": carried(m, items) if isinstance(items, (tuple, Alike)) else items})
    if isinstance(v, DictCell):
        rows = m.select(v.slots["items"])
        known = isinstance(rows, dict)
        return DictCell({"items": {k: (key, carried(m, x)) for k, (key, x) in rows.items()} if known else rows})
    return v


def _nd_loop(m: Any, call: Call, a: Arguments) -> Value:
    grid = a.values["grid"]
    items = m.program.items.iterate(m, grid)

    def decorate(inner: Any, at: Call) -> Value:
        bounds = [_bound(inner, x) for x in items] if items is not None else None
        index: Value = inner.unknown("an index over a grid that is not known", grid)
        if bounds is not None:
            index = tuple(traced_index(inner, "i", 0, b) for b in bounds)
        info = LoopInfo(
            {"index": index, "local_index": traced_index(inner, "step", 0, None), "num_local_steps": Array((), INT32)}
        )
        return loop_body(inner, at, (info,), a.values["init_carry"], keyword="carry")

    return Builtin("plgpu.nd_loop", decorate)


def _scheduling(m: Any, call: Call, a: Arguments) -> Value:
    grid_names = a.values["grid_names"]

    def decorate(inner: Any, at: Call) -> Value:
        items = inner.program.items.iterate(inner, grid_names)
        index = tuple(Array((), INT32) for _ in items) if items is not None else inner.unknown("an index", grid_names)
        info = LoopInfo({"index": index, "local_index": Array((), INT32), "num_local_steps": None})
        clustered = bool(inner.program.items.iterate(inner, a.values["cluster_axes"]))
        with allocations.scope(inner, "dynamic_scheduling_loop", call.site, _scheduler(clustered)):
            return loop_body(inner, at, (info,), a.values["init_carry"], keyword="carry")

    return Builtin("plgpu.dynamic_scheduling_loop", decorate)


def _scheduler(clustered: bool) -> tuple[Allocation, ...]:
    """What a dynamic scheduling loop allocates for two turns: 16 bytes each, and two barriers (helpers.py)."""
    two, kinds = (Int(2),), ("barrier", "cluster_barrier" if clustered else "barrier")
    # Their number of arrivals is that of the threads: of the same kind, they are told apart by nothing.
    answers = RefType("data", "smem", (Int(2), Int(16)), DTYPES["int8"])
    barriers = [RefType(k, "smem", two, DType(k, 64, "barrier"), (), {"scheduler": "threads"}) for k in kinds]
    return (
        Allocation("try_cancel_buffer", answers),
        Allocation("try_cancel_barrier", barriers[0]),
        Allocation("cancel_used_barrier", barriers[1]),
    )


def _run_state(m: Any, call: Call, a: Arguments) -> Value:
    f = a.values["f"]

    def run(inner: Any, at: Call) -> Value:
        init = at.args[0] if at.args else None
        inner.program.calls.call(inner, f, (_state_refs(inner, init),), at.site)
        return _final(inner, init)

    return Builtin("pl.run_state", run)


def _state_refs(m: Any, v: Value) -> Value:
    """References to the state: accumulators stay accumulators, arrays become buffers."""
    if isinstance(v, RefType):
        return as_ref(m, v, "state")
    if isinstance(v, Array):
        return gmem_ref(v.shape, v.dtype, "state")
    if (same := m.program.items.alike(m, v)) is not None:
        return replace(same, element=_state_refs(m, same.element))
    items = m.program.items.iterate(m, v) if v is not None and not isinstance(v, (Unknown, Opaque, Int)) else None
    if items is None:
        return m.unknown("the state of run_state", v)
    return tuple(_state_refs(m, x) for x in items)


def _final(m: Any, v: Value) -> Value:
    if isinstance(v, RefType):
        return Array(v.shape, v.dtype)
    if isinstance(v, Array):
        return Array(v.shape, v.dtype)
    if (same := m.program.items.alike(m, v)) is not None:
        return replace(same, element=_final(m, same.element))
    items = m.program.items.iterate(m, v) if v is not None and not isinstance(v, (Unknown, Opaque, Int)) else None
    return m.unknown("the state of run_state", v) if items is None else tuple(_final(m, x) for x in items)
