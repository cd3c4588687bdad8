"""Named axes: `lax.axis_size` inside a kernel, and collectives across devices (`lax.axis_index` is in pallas.py)."""

from __future__ import annotations

from typing import Any

from ..domain import dim as dims
from ..domain.array import Array, Extent
from ..domain.python import Call, Int, Opaque, Origin, Unknown, Value
from ..domain.ref import Launch
from .jax_tree import NotATree, map_tree
from .registry import Registry


def register(r: Registry) -> None:
    """Registers them."""

    @r.function("jax.lax.axis_size", "axis_name")
    def axis_size(m: Any, call: Call, axis_name: Value) -> Value:
        extent = extent_of(m, axis_name)
        if isinstance(extent, Int):
            return extent
        if isinstance(extent, Unknown) or not isinstance(axis_name, (str, Opaque)):
            return m.unknown("the size of an axis that is not known", axis_name, site=call.site)
        name = axis_name if isinstance(axis_name, str) else axis_name.name
        return Int(dims.symbol(f"axis_size({name})", low=1), Origin(call.site, "axis_size"))

    @r.function("jax.lax.psum jax.lax.pmax jax.lax.pmin jax.lax.pmean", "x, axis_name, *, axis_index_groups=None")
    def psum(m: Any, call: Call, x: Value, **_: Value) -> Value:
        return _same(m, x)

    @r.function("jax.lax.ppermute jax.lax.pshuffle", "x, axis_name, perm")
    def ppermute(m: Any, call: Call, x: Value, **_: Value) -> Value:
        return _same(m, x)


def _same(m: Any, x: Value) -> Value:
    """Arrays of the same shapes and types; Python scalars are summed in another way."""

    def leaf(v: Value) -> Value:
        if not isinstance(v, Array):
            return m.unknown("a collective of a Python scalar", v)
        return Array(v.shape, v.dtype, v.weak)

    try:
        return map_tree(m, leaf, x)
    except NotATree:
        return m.unknown("a collective of a tree of unknown structure", x)


def extent_of(m: Any, name: Value) -> Extent | None:
    """The number of positions along a named axis of the kernel that runs; None outside kernels and for other names."""
    if m.launch is None or not isinstance(name, str):
        return None
    return axes_of(m, m.launch).get(name)


def axes_of(m: Any, launch: Launch) -> dict[str, Extent]:
    """The named axes of a launch: grid, cluster, threads."""
    rows: list[tuple[Value, Value]] = []
    for names, extents in ((launch.grid_names, launch.grid), (launch.cluster_names, launch.cluster)):
        if not isinstance(names, Unknown) and not isinstance(extents, Unknown):
            rows += zip(names, extents, strict=False)
    if launch.thread_name is not None:
        rows.append((launch.thread_name, launch.num_threads))
    out: dict[str, Extent] = {}
    for name, extent in rows:
        n = m.as_int(extent)
        if isinstance(name, str):
            out[name] = n if n is not None else m.unknown("an extent of the mesh that is not known", extent)
    return out
