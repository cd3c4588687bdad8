"""`jax.experimental.pallas`: what is not of one backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.python import Call, External, Int, Opaque, Origin, Value
from ..domain.ref import Ds, Ref
from . import grid_call
from .convert import INT32, as_constant, as_dtype, as_extent, as_shape
from .plgpu_types import MODELS
from .recording import Model, recorded
from .registry import Arguments, Registry
from .scratch import as_ref, result_of

MODULE = "jax.experimental.pallas"


def register(r: Registry) -> None:
    """Registers the module."""
    for name, signature, model in _TABLE:
        r.names[f"{MODULE}.{name}"] = recorded(f"{MODULE}.{name}", f"pl.{name}", signature, model)
    r.names["jax.lax.axis_index"] = recorded("jax.lax.axis_index", "lax.axis_index", "axis_name", _axis_index)
    r.value(f"{MODULE}.squeezed", External(f"{MODULE}.squeezed"))
    grid_call.register(r)


def _axis_index(m: Any, call: Call, a: Arguments) -> Value:
    """The position along an axis of the mesh, at least zero and below the axis's size where that is known."""
    size = _axis_size(m, a.values["axis_name"])
    return Array((), INT32, index=Int(m.fresh_symbol("axis", 0, None if size is None else dims.sub(size, 1))))


def _axis_size(m: Any, name: Value) -> dims.Dim | None:
    launch = m.launch
    if launch is None or not isinstance(name, str):
        return None
    for names, sizes in ((launch.grid_names, launch.grid), (launch.cluster_names, launch.cluster)):
        if isinstance(names, tuple) and isinstance(sizes, tuple) and name in names and names.index(name) < len(sizes):
            n = m.as_int(sizes[names.index(name)])
            return m.simplify(n.dim) if n is not None else None
    n = m.as_int(launch.num_threads) if name == launch.thread_name else None
    return m.simplify(n.dim) if n is not None else None


def _cdiv(m: Any, call: Call, arguments: Arguments) -> Value:
    return cdiv(m, call, arguments.values["a"], arguments.values["b"])


def cdiv(m: Any, call: Call, a: Value, b: Value) -> Value:
    """(a + b - 1) // b."""
    x, y = m.as_int(a), m.as_int(b)
    if x is None or y is None:
        return Array((), INT32) if isinstance(a, Array) or isinstance(b, Array) else m.unknown("a quotient", a, b)
    if y.dim == 0:
        return m.unknown("a division by zero", a, b)
    origin = Origin(call.site, "cdiv", tuple(o for o in (x.origin, y.origin) if o is not None))
    quotient = dims.floordiv(dims.add(dims.add(x.dim, y.dim), -1), y.dim)
    if m.decide(conds.divides(y.dim, x.dim)) is True and m.decide(conds.less(0, y.dim)) is not False:
        quotient = dims.floordiv(x.dim, y.dim)
    return Int(quotient, origin)


def _ds(m: Any, call: Call, a: Arguments) -> Value:
    start, size, stride = (a.values[k] for k in ("start", "size", "stride"))
    if size is None:
        start, size = Int(0), start
    return Ds(start, as_extent(m, size), Int(1) if stride is None else as_extent(m, stride))


def _multiple_of(m: Any, call: Call, a: Arguments) -> Value:
    x, values = a.values["x"], a.values["values"]
    n, by = m.as_int(x), m.as_int(values)
    if n is not None and by is not None and by.dim != 0:
        m.learn(conds.divides(by.dim, n.dim))
    return replace(x) if isinstance(x, Array) else x  # a value of its own, which remembers what is said of it


def _program_id(m: Any, call: Call, a: Arguments) -> Value:
    return Array((), INT32, index=Int(m.fresh_symbol("program", 0)))


def _next_power_of_2(m: Any, call: Call, a: Arguments) -> Value:
    x = a.values["x"]
    n = as_constant(m, x)
    return Int(1 << max(0, n - 1).bit_length()) if n is not None and n > 0 else m.unknown("a power of two", x)


def _align_to(m: Any, call: Call, a: Arguments) -> Value:
    x, alignment = a.values["a"], a.values["alignment"]
    rounded, by = cdiv(m, call, x, alignment), m.as_int(alignment)
    if not isinstance(rounded, Int) or by is None:
        return rounded
    return Int(dims.mul(rounded.dim, by.dim), rounded.origin)


def _strides(m: Any, call: Call, a: Arguments) -> Value:
    """Row-major strides in elements (pallas/utils.py, strides_from_shape)."""
    items = m.program.items.iterate(m, a.values["shape"])
    extents = [m.as_int(x) for x in items] if items is not None else [None]
    if None in extents:
        return m.unknown("the strides of a shape that is not known", a.values["shape"])
    out: list[Int] = []
    stride: dims.Dim = 1
    for e in reversed(extents):
        out.append(Int(stride))
        stride = dims.mul(stride, e.dim if e is not None else 0)
    return tuple(reversed(out))


def _broadcast_to(m: Any, call: Call, a: Arguments) -> Value:
    f = m.program.library.registry.names["jax.numpy.broadcast_to"]
    return f.run(m, Call(call.site, (a.values["a"], a.values["shape"]), {}))


def _select_ref(m: Any, call: Call, a: Arguments) -> Value:
    """One of several references of one type."""
    refs = a.values["refs"]
    first = refs[0] if type(refs) is tuple and refs else None
    if not isinstance(first, Ref):
        return m.unknown("a selected reference", *(refs if type(refs) is tuple else (refs,)))
    return first


def _get_global(m: Any, call: Call, a: Arguments) -> Value:
    return as_ref(m, a.values["what"], "global")


def _empty(m: Any, call: Call, a: Arguments) -> Value:
    return Array(as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"]))


def _empty_like(m: Any, call: Call, a: Arguments) -> Value:
    return result_of(m, a.values["x"])


def _scalar(m: Any, call: Call, a: Arguments) -> Value:
    return Array((), INT32)


def _opaque(name: str) -> Model:
    return lambda m, call, a: Opaque(f"pl.{name}")


_DS = "start, size=None, stride=None"
#: name, signature (JAX 0.12.0, jax/experimental/pallas/__init__.py), what it returns (None: nothing).
_TABLE: tuple[tuple[str, str, Model | None], ...] = (
    ("BlockSpec", "block_shape=None, index_map=None, pipeline_mode=None, *, memory_space=None", MODELS["BlockSpec"]),
    ("Blocked", "block_size", lambda m, call, a: a.values["block_size"]),
    ("Buffered", "buffer_count, use_lookahead=False, revisit=None, prefetched_count=0", _opaque("Buffered")),
    ("CostEstimate", "flops, transcendentals, bytes_accessed, remote_bytes_transferred=0", _opaque("CostEstimate")),
    ("MemoryRef", "inner_aval, memory_space", lambda m, call, a: m.unknown("a memory reference type")),
    ("align_to", "a, alignment", _align_to),
    ("broadcast_to", "a, shape", _broadcast_to),
    ("cdiv", "a, b", _cdiv),
    ("debug_check", "condition, message", None),
    ("debug_print", "fmt, *args", None),
    ("delay", "nanos", None),
    ("ds", _DS, _ds),
    ("dslice", _DS, _ds),
    ("empty", "shape, dtype, *, out_sharding=None", _empty),
    ("empty_like", "x", _empty_like),
    ("empty_ref_like", "x", lambda m, call, a: as_ref(m, a.values["x"], "ref")),
    ("get_global", "what", _get_global),
    ("multiple_of", "x, values", _multiple_of),
    ("next_power_of_2", "x", _next_power_of_2),
    ("num_programs", "axis", _program_id),
    ("program_id", "axis", _program_id),
    ("reciprocal", "x, *, approx=False, full_range=True", lambda m, call, a: a.values["x"]),
    ("select_ref", "idx, *refs", _select_ref),
    ("semaphore_read", "sem_or_view", _scalar),
    ("semaphore_signal", "sem_or_view, inc=1, *, device_id=None, device_id_type=None, core_index=None", None),
    ("semaphore_wait", "sem_or_view, value=1, *, decrement=True", None),
    ("strides_from_shape", "shape", _strides),
)
