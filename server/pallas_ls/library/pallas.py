"""`jax.experimental.pallas`: what is not of one backend."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.python import Call, Int, Opaque, Origin, Unknown, Value
from ..domain.ref import Ds
from .convert import INT32, as_constant
from .recording import record
from .registry import Registry

MODULE = "jax.experimental.pallas"


def register(r: Registry) -> None:
    """Registers the module."""
    r.function("jax.lax.axis_index", "axis_name")(_axis_index)
    r.function(f"{MODULE}.cdiv", "a, b")(_cdiv)
    r.function(f"{MODULE}.ds {MODULE}.dslice", "start, size=None, stride=None")(_ds)
    r.function(f"{MODULE}.multiple_of", "x, values")(_multiple_of)
    r.function(f"{MODULE}.program_id {MODULE}.num_programs", "axis")(_program_id)
    r.function(f"{MODULE}.next_power_of_2", "x")(_next_power_of_2)
    r.function(f"{MODULE}.align_to", "x, a")(_align_to)
    r.function(f"{MODULE}.debug_print", "fmt, *args")(lambda m, call, fmt, args: None)
    r.function(f"{MODULE}.Buffered", "buffer_count=2, use_lookahead=False")(_buffered)
    r.names[f"{MODULE}.BlockSpec"] = r.names.get(f"{MODULE}.mosaic_gpu.BlockSpec", Unknown("BlockSpec"))
    r.function(f"{MODULE}.MemoryRef", "*args, **kwargs")(
        lambda m, call, args, kwargs: m.unknown("a memory reference type")
    )


def _axis_index(m: Any, call: Call, axis_name: Value) -> Value:
    """The position along an axis of the mesh, at least zero and below the axis's size where that is known."""
    size = _axis_size(m, axis_name)
    out = Array((), INT32, index=Int(m.fresh_symbol("axis", 0, size - 1 if isinstance(size, int) else None)))
    record(
        m,
        "lax.axis_index",
        call.site,
        {"axis_name": axis_name},
        out,
        dict(zip(("axis_name",), call.arg_sites, strict=False)),
    )
    return out


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


def _cdiv(m: Any, call: Call, a: Value, b: Value) -> Value:
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


def _ds(m: Any, call: Call, start: Value, size: Value, stride: Value) -> Value:
    if size is None:
        start, size = Int(0), start
    extent = m.as_int(size)
    step = Int(1) if stride is None else m.as_int(stride)
    unknown = m.unknown("a slice of a size that is not known", size)
    return Ds(start, extent if extent is not None else unknown, step if step is not None else unknown)


def _multiple_of(m: Any, call: Call, x: Value, values: Value) -> Value:
    n, by = m.as_int(x), m.as_int(values)
    if n is not None and by is not None and by.dim != 0:
        m.learn(conds.divides(by.dim, n.dim))
    return x


def _program_id(m: Any, call: Call, axis: Value) -> Value:
    return Array((), INT32, index=Int(m.fresh_symbol("program", 0)))


def _next_power_of_2(m: Any, call: Call, x: Value) -> Value:
    n = as_constant(m, x)
    return Int(1 << max(0, n - 1).bit_length()) if n is not None and n > 0 else m.unknown("a power of two", x)


def _align_to(m: Any, call: Call, x: Value, a: Value) -> Value:
    rounded = _cdiv(m, call, x, a)
    by = m.as_int(a)
    return (
        Int(dims.mul(rounded.dim, by.dim), rounded.origin) if isinstance(rounded, Int) and by is not None else rounded
    )


def _buffered(m: Any, call: Call, buffer_count: Value, use_lookahead: Value) -> Value:
    return Opaque("pl.Buffered")
