"""References inside kernels: views (`ref.at[...]`, `ref.T`, ...), loads (`ref[...]`) and stores (`ref[...] = x`)."""

from __future__ import annotations

from typing import Any

from ..domain import dim as dims
from ..domain.array import Array, Extent, Shape
from ..domain.python import Call, Int, ListCell, Made, Opaque, Slice, Unknown, Value
from ..domain.ref import (
    At,
    Ds,
    Elsewhere,
    Gather,
    Indexed,
    Indexer,
    Loaded,
    Permuted,
    Position,
    Recast,
    Ref,
    RefType,
    Reshaped,
    View,
)
from ..source.span import Site
from . import jnp_items, recording
from .convert import as_constant, as_dtype, as_shape
from .dataflow import computed
from .registry import NO_ATTRIBUTE, Registry, by_case, method


def register(r: Registry) -> None:
    """Registers attributes and subscripts of references."""
    r.attribute(Ref)(_attribute)
    r.items[Ref] = RefItems()
    r.items[At] = AtItems()


def _attribute(m: Any, v: Ref, name: str, site: Site) -> Value:
    if name == "shape":
        return v.shape
    if name == "dtype":
        return v.dtype
    if name == "at":
        return At(v)
    if name == "ndim":
        return Int(len(v.shape)) if isinstance(v.shape, tuple) else m.unknown("a rank that is not known", v.shape)
    if name == "size":
        known = [e.dim for e in v.shape if isinstance(e, Int)] if isinstance(v.shape, tuple) else []
        whole = isinstance(v.shape, tuple) and len(known) == len(v.shape)
        return Int(dims.product(tuple(known))) if whole else m.unknown("a size that is not known", v.shape)
    if name == "T":
        rank = len(v.shape) if isinstance(v.shape, tuple) else None
        return _permuted(m, v, tuple(reversed(range(rank))) if rank is not None else None, site)
    methods = {
        "transpose": ("*permutation", _transpose),
        "reshape": ("*shape", _reshape),
        "bitcast": ("dtype", _bitcast),
    }
    if name in methods:
        return method(v, name, *methods[name])
    if name in ("set", "get"):
        return method(v, name, "idx=(), value=None", _get_or_set(name))
    return NO_ATTRIBUTE


# -- views -----------------------------------------------------------------------------------------


def viewed(m: Any, v: Ref, view: View, shape: Shape, dtype: Any = None) -> Ref:
    """The reference with one more view."""
    return Ref(v.type, shape, v.dtype if dtype is None else dtype, (*v.views, view), v.name)


def _permuted(m: Any, v: Ref, permutation: tuple[int, ...] | None, site: Site) -> Value:
    if permutation is None or not isinstance(v.shape, tuple) or sorted(permutation) != list(range(len(v.shape))):
        unknown = m.unknown("a permutation that is not known", v.shape)
        return viewed(m, v, Permuted(unknown, Made(site)), unknown)
    out = viewed(m, v, Permuted(permutation, Made(site)), tuple(v.shape[i] for i in permutation))
    recording.record(m, "ref.transpose", site, {"self": v}, out)
    return out


def _transpose(m: Any, call: Call, v: Ref, permutation: Value) -> Value:
    if type(permutation) is tuple and len(permutation) == 1 and not isinstance(permutation[0], Int):
        permutation = permutation[0]
    return transposed(m, v, permutation, call.site)


def transposed(m: Any, v: Ref, permutation: Value, site: Site) -> Value:
    """The view with its axes in another order; an empty permutation reverses them."""
    items = m.program.items.iterate(m, permutation)
    rank = len(v.shape) if isinstance(v.shape, tuple) else 0
    axes = [as_constant(m, x) for x in items] if items is not None else [None]
    if items == []:
        axes = list(reversed(range(rank)))
    known = None if None in axes else tuple(a % rank for a in axes if a is not None) if rank else None
    return _permuted(m, v, known, site)


def _reshape(m: Any, call: Call, v: Ref, shape: Value) -> Value:
    if type(shape) is tuple and len(shape) == 1 and not isinstance(shape[0], Int):
        shape = shape[0]
    new = as_shape(m, shape)
    if isinstance(new, tuple):
        new = _with_inferred(m, v.shape, new)
    out = viewed(m, v, Reshaped(new, Made(call.site)), new)
    recording.record(m, "ref.reshape", call.site, {"self": v}, out)
    return out


def _with_inferred(m: Any, old: Shape, new: tuple[Extent, ...]) -> Shape:
    """A -1 stands for what is left of the element count."""
    at = [i for i, e in enumerate(new) if isinstance(e, Int) and e.dim == -1]
    if not at:
        return new
    old_dims = [e.dim if isinstance(e, Int) else None for e in old] if isinstance(old, tuple) else [None]
    rest = [e.dim if isinstance(e, Int) else None for i, e in enumerate(new) if i not in at]
    if None in old_dims or None in rest or len(at) > 1:
        unknown: Extent = m.unknown("an inferred extent")
    else:
        unknown = Int(m.simplify(dims.floordiv(dims.product(tuple(old_dims)), dims.product(tuple(rest)))))  # pyright: ignore
    return tuple(unknown if i in at else e for i, e in enumerate(new))


def _bitcast(m: Any, call: Call, v: Ref, dtype: Value) -> Value:
    new = as_dtype(m, dtype)
    shape = _bitcast_shape(m, v, getattr(v.dtype, "bits", None), getattr(new, "bits", None))
    out = viewed(m, v, Recast(new, Made(call.site)), shape, new)
    recording.record(m, "ref.bitcast", call.site, {"self": v}, out)
    return out


def _bitcast_shape(m: Any, v: Ref, old: int | None, new: int | None) -> Shape:
    """The axis before the last takes up the new size of elements; references of one axis JAX refuses (`bitcast` in
    jax/_src/state/utils.py)."""
    if not isinstance(v.shape, tuple) or len(v.shape) < 2:
        return m.unknown("the shape after a bitcast of fewer than two axes", v.shape)
    *outer, rows, last = v.shape
    if old is None or new is None:
        return (*outer, m.unknown("rows after a bitcast of a type that is not known"), last)
    if old == new or not isinstance(rows, Int):
        return v.shape if old == new else (*outer, rows, last)
    return (*outer, Int(m.simplify(dims.floordiv(dims.mul(rows.dim, old), new)), rows.origin), last)


def elsewhere(m: Any, how: str, v: Ref, where: Value, site: Site) -> Ref:
    """The same buffer of another block or device."""
    return viewed(m, v, Elsewhere(how, where, Made(site)), v.shape)


# -- subscripts ------------------------------------------------------------------------------------


def index_ref(m: Any, v: Ref, index: Value, site: Site) -> Ref:
    """`v.at[index]`: nothing is changed by `...` alone."""
    items = index_items(m, v.shape, index)
    if items == ():
        return v
    shape = _indexed_shape(m, v.shape, items)
    return viewed(m, v, Indexed(items, Made(site)), shape)


def index_items(m: Any, shape: Shape, index: Value) -> tuple[Indexer, ...] | Unknown:
    """One indexer for each axis; () for the whole."""
    parts = list(index) if type(index) is tuple else [index]
    if all(p is Ellipsis for p in parts) or (len(parts) == 1 and _is_full_slice(parts[0])):
        return ()
    if not isinstance(shape, tuple):
        return m.unknown("an index of a shape that is not known", shape)
    if any(p is Ellipsis for p in parts):
        at = next(i for i, p in enumerate(parts) if p is Ellipsis)
        fill = len(shape) - (len(parts) - 1)
        parts[at : at + 1] = [Slice(None, None, None)] * max(0, fill)
    parts += [Slice(None, None, None)] * (len(shape) - len(parts))
    if len(parts) != len(shape):
        return m.unknown("more indices than axes")
    return tuple(_indexer(m, e, p) for e, p in zip(shape, parts, strict=True))


def _is_full_slice(v: Value) -> bool:
    return isinstance(v, Slice) and v.start is None and v.stop is None and v.step is None


def _indexer(m: Any, extent: Extent, part: Value) -> Indexer:
    if isinstance(part, Ds):
        return part
    if isinstance(part, Slice):
        return _from_slice(m, extent, part)
    if isinstance(part, Array) and isinstance(part.shape, tuple):
        return Gather(part) if part.shape != () else Position(part)
    return Position(part)


def _from_slice(m: Any, extent: Extent, s: Slice) -> Ds:
    """`a:b:c` of an axis, with Python's rules where all is known."""
    if _is_full_slice(s):
        return Ds(Int(0), extent, Int(1))
    whole = extent.dim if isinstance(extent, Int) else None
    bounds = [None if x is None else as_constant(m, x) for x in (s.start, s.stop, s.step)]
    given = [x is not None for x in (s.start, s.stop, s.step)]
    if (
        isinstance(whole, int)
        and all(b is not None or not g for b, g in zip(bounds, given, strict=True))
        and bounds[2] != 0
    ):
        start, stop, step = slice(*bounds).indices(whole)
        size = len(range(start, stop, step))
        return Ds(Int(start), _sized(m, s, size), Int(step))
    return _symbolic_slice(m, extent, s)


def _sized(m: Any, s: Slice, size: int) -> Int:
    stop = m.as_int(s.stop) if s.stop is not None else None
    start = m.as_int(s.start) if s.start is not None else None
    if (start is None or start.dim == 0) and stop is not None and stop.dim == size:
        return Int(size, stop.origin)
    return Int(size)


def _symbolic_slice(m: Any, extent: Extent, s: Slice) -> Ds:
    """Bounds beyond the axis are cut at its ends (`Slice.from_slice` in jax/_src/indexing.py)."""
    step = Int(1) if s.step is None else m.as_int(s.step)
    start = jnp_items.bound(m, s.start, 0, extent) if isinstance(extent, Int) else None
    if start is None or step is None:
        return Ds(s.start, m.unknown("a slice whose bounds are not known", s.start, s.stop), step or Int(1))
    size, stop = jnp_items.slice_extent(m, extent, s), m.as_int(s.stop)
    if isinstance(size, Int) and isinstance(stop, Int) and size.dim == stop.dim:
        size = Int(size.dim, stop.origin)  # where the number was written
    return Ds(Int(start), size, step)


def _indexed_shape(m: Any, shape: Shape, items: tuple[Indexer, ...] | Unknown) -> Shape:
    if isinstance(items, Unknown):
        return items
    out: list[Extent] = []
    for item in items:
        if isinstance(item, Ds):
            out.append(item.size)
        elif isinstance(item, Gather):
            inner = item.indices.shape
            out.extend(inner if isinstance(inner, tuple) else [m.unknown("a gather by unknown indices")])
        elif not _is_scalar(item.index):
            return m.unknown("an index that may be a slice or a number", item.index)
    return tuple(out)


def _is_scalar(v: Value) -> bool:
    """Whether an index is certainly one number. Arrays of positions are no indices of references in Mosaic GPU: an
    array of unknown shape counts as one number."""
    return (
        isinstance(v, (Int, bool, float))
        or (isinstance(v, Array) and (v.shape == () or not isinstance(v.shape, tuple)))
        or (isinstance(v, Opaque) and v.hint == "int")
        or (isinstance(v, Unknown) and v.number)
    )


class AtItems:
    """`ref.at[...]`."""

    def get(self, m: Any, v: At, index: Value, site: Site, where: Site) -> Value:
        def one(values: dict[str, Value]) -> Value:
            out = index_ref(m, v.ref, values["index"], site)
            recording.record(m, "ref.at", site, {"self": v.ref, "idx": values["index"]}, out, {"idx": where})
            return out

        return by_case(m, {"index": index}, one)

    def set(self, m: Any, v: At, index: Value, value: Value, site: Site, where: Site) -> None:
        """Not an operation of references."""

    def iterate(self, m: Any, v: At) -> list[Value] | None:
        """Not a sequence."""
        return None


class RefItems:
    """`ref[...]`: a load; `ref[...] = x`: a store; a union's members."""

    def get(self, m: Any, v: Ref, index: Value, site: Site, where: Site) -> Value:
        """A load, or a member of a union."""
        if v.type.kind == "union":
            members = self.iterate(m, v)
            return m.program.items.get(m, tuple(members or ()), index, site, where)

        def one(values: dict[str, Value]) -> Value:
            part = index_ref(m, v, values["index"], site)
            operands = {"self": v, "source": part, "idx": values["index"]}
            out = computed(m, "ref.get", operands, site, load(m, part))
            recording.record(m, "ref.get", site, operands, out, {"idx": where})
            return out

        return by_case(m, {"index": index}, one)

    def set(self, m: Any, v: Ref, index: Value, value: Value, site: Site, where: Site) -> None:
        """A store."""

        def one(values: dict[str, Value]) -> Value:
            part = index_ref(m, v, values["index"], site)
            operands = {"self": v, "target": part, "value": values["value"], "idx": values["index"]}
            recording.record(m, "ref.set", site, operands, None, {"idx": where})
            return computed(m, "ref.set", operands, site, None)

        by_case(m, {"index": index, "value": value}, one)

    def iterate(self, m: Any, v: Ref) -> list[Value] | None:
        """The members of a union as references."""
        if v.type.kind != "union":
            return None
        return [member_refs(m, t, f"{v.name}[{i}]") for i, t in enumerate(v.type.members)]


def member_refs(m: Any, t: Value, name: str) -> Value:
    """References to a (nested) member of a union."""
    if isinstance(t, RefType):
        return Ref(t, t.shape, t.dtype, (), name)
    items = m.program.items.iterate(m, t)
    if items is None:
        return m.unknown("a member of a union that is not known", t)
    members = [member_refs(m, x, f"{name}[{i}]") for i, x in enumerate(items)]
    return ListCell({"items": tuple(members)}) if isinstance(t, ListCell) else tuple(members)


def load(m: Any, part: Ref) -> Value:
    """The array that a load without `layout=` gives."""
    return Array(part.shape, part.dtype, layout=Loaded(part))


def _get_or_set(name: str) -> Any:
    def run(m: Any, call: Call, v: Ref, idx: Value, value: Value) -> Value:
        where = call.site
        if name == "get":
            return RefItems().get(m, v, idx if idx != () else Ellipsis, call.site, where)
        RefItems().set(m, v, idx if idx != () else Ellipsis, value, call.site, where)
        return None

    return run
