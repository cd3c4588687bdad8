"""`jax.experimental.pallas.mosaic_gpu`: layouts, copies, matrix multiplication, and the registration of its names.

Every call leaves a fact with its operands under the names of plgpu_signatures.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, LayoutName, ShapeDtype
from ..domain.dtype import SEMAPHORE, DType, dtype_named
from ..domain.python import Builtin, Call, Int, Made, Unknown, Value
from ..domain.ref import BlockSpec, CompilerParams, Elsewhere, Loaded, Ref, RefType
from ..source.span import Site
from . import pipelines, plgpu_replace, plgpu_types, refs
from .convert import BOOL, INT32, as_constant, as_dtype, as_extent, as_shape
from .loops import LoopInfo
from .plgpu_signatures import BUFFER, OLDER, SIGNATURES
from .plgpu_types import made, semaphore_type
from .recording import Model, bind, record, recorded, run_recorded
from .registry import NO_ATTRIBUTE, Arguments, Registry, Signature, method
from .releases import is_in_all

MODULE = "jax.experimental.pallas.mosaic_gpu"


@dataclass(frozen=True, slots=True)
class SpaceName:
    """`plgpu.SMEM`, `plgpu.GMEM`, `plgpu.TMEM`, `plgpu.REGS`: called, it makes a buffer type."""

    space: str


@dataclass(frozen=True, slots=True)
class LayoutEnum:
    """`plgpu.Layout` or `plgpu.TMEMLayout`."""

    name: str


def register(r: Registry) -> None:
    """Registers the module."""
    for path in ("jax._src.pallas.mosaic_gpu", "jax.experimental.pallas.mosaic_gpu.core"):
        r.alias(path, MODULE)
    for name, signature in {**OLDER, **SIGNATURES}.items():
        model = _MODELS.get(name) or plgpu_types.MODELS.get(name)
        r.names[f"{MODULE}.{name}"] = recorded(f"{MODULE}.{name}", name, signature, model, OLDER.get(name))
    r.names[f"{MODULE}.ACC.init"] = recorded(f"{MODULE}.ACC.init", "ACC.init", "array", plgpu_types.accumulator_init)
    refs.register(r)
    plgpu_types.register(r, MODULE)
    pipelines.register(r, MODULE)
    _register_spaces(r)
    for name in ("Layout", "TMEMLayout"):
        r.value(f"{MODULE}.{name}", LayoutEnum(name))
    r.attribute(LayoutEnum)(_layout_member)
    r.attribute(LayoutName)(_layout_attribute)
    r.calls[LayoutName] = _layout_called
    r.raw("builtins.__array_type__")(_array_type)
    for name in ("REGULAR", "BARRIER"):
        r.value(f"{MODULE}.SemaphoreType.{name}", RefType("semaphore", "gmem", (), SEMAPHORE, (), {"type": name}))
    r.calls[RefType] = semaphore_type
    r.attribute(CompilerParams)(lambda m, v, name, site: v.params.get(name, NO_ATTRIBUTE))
    r.attribute(Described)(lambda m, v, name, site: v.params.get(name, NO_ATTRIBUTE))
    r.attribute(Builtin)(_class_attribute)
    plgpu_replace.register(
        r,
        {
            RefType: plgpu_replace.of_type,
            BlockSpec: plgpu_replace.of_spec,
            CompilerParams: plgpu_replace.of_params,
            Described: lambda m, v, changes: replace(v, params={**v.params, **changes}),
            LoopInfo: lambda m, v, changes: replace(v, fields={**v.fields, **changes}),
        },
    )


def _register_spaces(r: Registry) -> None:
    signature = Signature.parse(BUFFER)
    for space in ("SMEM", "GMEM", "TMEM", "REGS"):
        r.value(f"{MODULE}.{space}", SpaceName(space.lower()))
        r.value(f"{MODULE}.MemorySpace.{space}", SpaceName(space.lower()))

    def call(m: Any, f: SpaceName, call: Call) -> Value:
        return run_recorded(m, f.space.upper(), bind(signature, None, call), call, plgpu_types.buffer(f.space))

    r.calls[SpaceName] = call


def _class_attribute(m: Any, v: Builtin, name: str, site: Site) -> Value:
    """`plgpu.ACC.init`, `dict.fromkeys`: a function that belongs to another one."""
    return m.program.library.registry.names.get(f"{v.name}.{name}", NO_ATTRIBUTE)


# -- layouts ---------------------------------------------------------------------------------------


def _layout_member(m: Any, v: LayoutEnum, name: str, site: Site) -> Value:
    out = LayoutName(name if v.name == "Layout" else f"{v.name}.{name}")
    if not name.startswith("_") and not is_in_all(f"{v.name}.{name}"):
        record(m, "plgpu.name", site, {"name": f"{v.name}.{name}"}, out)
    return out


def _layout_attribute(m: Any, v: LayoutName, name: str, site: Site) -> Value:
    if name == "reduce":
        return method(v, "reduce", "axes", _layout_reduce)
    if name == "to_mgpu":
        return method(v, "to_mgpu", "", _layout_made)
    if name == "name":
        return v.name
    return NO_ATTRIBUTE


def _layout_made(m: Any, call: Call, v: LayoutName) -> Value:
    """`layout.to_mgpu()`: where JAX makes the layout."""
    record(m, "Layout.to_mgpu", call.site, {"layout": v}, None)
    return m.unknown("a layout of the dialect")


def _layout_reduce(m: Any, call: Call, v: LayoutName, axes: Value) -> Value:
    items = m.program.items.iterate(m, axes)
    known = [as_constant(m, x) for x in ([axes] if items is None else items)]
    if None in known:
        return m.unknown("a layout reduced along an axis that is not known", axes)
    axes = sorted((k for k in known if k is not None), reverse=True)
    return LayoutName(v.name, v.args, (*v.reduced, *axes), v.options)


def _layout_called(m: Any, f: LayoutName, call: Call) -> Value:
    layout = LayoutName(f.name, call.args, f.reduced, tuple(sorted(call.kwargs.items())))
    api = f.name if "." in f.name else f"Layout.{f.name}"
    sites = {**{f"args[{i}]": s for i, s in enumerate(call.arg_sites)}, **call.kwarg_sites}
    record(m, api, call.site, {**{f"args[{i}]": x for i, x in enumerate(call.args)}, **call.kwargs}, layout, sites)
    return layout


# -- values ----------------------------------------------------------------------------------------


def _load(m: Any, call: Call, a: Arguments) -> Value:
    src, layout = a.values["src"], a.values["layout"]
    if not isinstance(src, Ref):
        return m.unknown("loaded from something that is not known", src)
    if "idx" in a.values and a.values["idx"] != ():
        src = refs.index_ref(m, src, a.values["idx"], call.site)
    return Array(src.shape, src.dtype, layout=Loaded(src) if layout is None else layout, made=made(call, a))


def _layout_cast(m: Any, call: Call, a: Arguments) -> Value:
    x = a.values["x"]
    if not isinstance(x, Array):
        return m.unknown("a layout cast of something that is not known", x)
    return Array(x.shape, x.dtype, x.weak, a.values["new_layout"], made=made(call, a), cast_from=x.layout)


def _iota(m: Any, call: Call, a: Arguments) -> Value:
    shape, dtype = as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"])
    layout = a.values["layout"]
    return Array(shape, dtype, layout=Unknown("an iota") if layout is None else layout, made=made(call, a))


def _load_tmem(m: Any, call: Call, a: Arguments) -> Value:
    src, layout = a.values["src"], a.values["layout"]
    if not isinstance(src, Ref) or a.values["reduce"] is not None:
        return m.unknown("loaded from TMEM", src)
    return Array(src.shape, src.dtype, layout=layout, made=made(call, a))


def _load_accumulator(m: Any, call: Call, a: Arguments) -> Value:
    acc = a.values["acc"]
    return (
        Array(acc.shape, acc.dtype, layout=LayoutName("WGMMA"))
        if isinstance(acc, Ref)
        else m.unknown("an accumulator", acc)
    )


def _reduction(name: str) -> Model:
    def model(m: Any, call: Call, a: Arguments) -> Value:
        f = m.program.library.registry.names.get(f"jax.numpy.{name}")
        inner = Call(call.site, (a.values["x"],), {"axis": a.values["axis"], "keepdims": a.values["keepdims"]})
        return f.run(m, inner) if f is not None else m.unknown(f"plgpu.{name}", a.values["x"])

    return model


def _mma(m: Any, call: Call, a: Arguments) -> Value:
    return a.values["acc"]


def _elsewhere(how: str, where: str) -> Model:
    def model(m: Any, call: Call, a: Arguments) -> Value:
        ref = a.values["ref"]
        if not isinstance(ref, Ref):
            return m.unknown(f"{how} of something that is not known", ref)
        return refs.elsewhere(m, how, ref, a.values[where], call.site)

    return model


def _load_reduced(m: Any, call: Call, a: Arguments) -> Value:
    ref = a.values["ref"]
    if not isinstance(ref, Ref):
        return m.unknown("loaded from something that is not known", ref)
    return Array(ref.shape, ref.dtype, layout=Unknown("a multimem load"), made=made(call, a))


def _scalar(dtype: str) -> Model:
    return lambda m, call, a: Array((), dtype_named(dtype) or Unknown(dtype))


def _snake(m: Any, call: Call, a: Arguments) -> Value:
    return (Array((), DType("int32", 32, "int")), Array((), DType("int32", 32, "int")))


_SWIZZLES = (128, 64, 32, 16)


def find_swizzle(bits: int) -> int | None:
    """Bytes of the widest swizzle whose row divides a minor dimension of so many bits (mosaic_gpu/core.py,
    find_swizzle)."""
    return next((s for s in _SWIZZLES if bits % (s * 8) == 0), None)


def _find_swizzle(m: Any, call: Call, a: Arguments) -> Value:
    bits = m.as_int(a.values["minor_dim_bits"])
    if bits is None:
        return m.unknown("the swizzle of a row that is not known", a.values["minor_dim_bits"])
    exact = m.simplify(bits.dim)
    if isinstance(exact, int):
        found = find_swizzle(exact) if exact > 0 else None
        return Int(found) if found is not None else m.unknown("no swizzle divides this row")
    if m.decide(conds.divides(_SWIZZLES[0] * 8, exact)) is True:
        return Int(_SWIZZLES[0])
    return Int(dims.symbol(f"find_swizzle({dims.text(exact)})", low=16, high=128))


def _compiler_params(m: Any, call: Call, a: Arguments) -> Value:
    return CompilerParams({k: a.values[k] for k in a.given}, made(call, a))


def _struct(m: Any, call: Call, a: Arguments) -> Value:
    shape, dtype = as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"])
    return ShapeDtype(shape, dtype, made(call, a), a.values["layout"])


def _array_type(m: Any, call: Call) -> Value:
    """An array argument of an example comment: `bf16[4096, 4096]`."""
    return Array(as_shape(m, tuple(call.args[1:])), as_dtype(m, call.args[0]))


def _keep(name: str) -> Model:
    """The call's own record, for objects that only rules look into."""

    def model(m: Any, call: Call, a: Arguments) -> Value:
        return Described(name, dict(a.values), made(call, a))

    return model


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """An object that is known by what it was made of (`WarpMesh`, `Mesh`, `Replicated`, ...)."""

    kind: str
    params: Mapping[str, Value]
    made: Made


def _cluster_cancelled(m: Any, call: Call, a: Arguments) -> Value:
    """The grid indices that were claimed, and whether any were (primitives.py, query_cluster_cancel)."""
    names = m.program.items.iterate(m, a.values["grid_names"])
    index: Value = m.unknown("an index of grid axes that are not known", a.values["grid_names"])
    if names is not None:
        index = tuple(Array((), INT32) for _ in names)
    return (index, Array((), BOOL))


def _sparse_metadata(m: Any, call: Call, a: Arguments) -> Value:
    """(M, K // 4, 2) becomes (M // 128, K // 64, 128, 64) with K of half the metadata (helpers.py,
    format_tcgen05_sparse_metadata)."""
    meta = a.values["meta"]
    shape = meta.shape if isinstance(meta, Array) else None
    if not isinstance(shape, tuple) or len(shape) != 3 or not isinstance(meta, Array):
        return m.unknown("sparse metadata that is not known", meta)
    rows, columns = shape[0], shape[1]
    unknown = m.unknown("an extent that is not known")
    tiles = Int(dims.floordiv(rows.dim, 128)) if isinstance(rows, Int) else unknown
    depth = Int(dims.floordiv(dims.mul(columns.dim, 2), 64)) if isinstance(columns, Int) else unknown
    return Array((tiles, depth, Int(128), Int(64)), meta.dtype, made=made(call, a))


def _im2col(m: Any, call: Call, a: Arguments) -> Value:
    """(N, *spatial, C) becomes (N * windows, *window, C) (mosaic_gpu/core.py, im2col_ref)."""
    ref, window = a.values["ref"], m.program.items.iterate(m, a.values["window_shape"])
    if not isinstance(ref, Ref) or not isinstance(ref.shape, tuple) or window is None:
        return m.unknown("an im2col view of something that is not known", ref, a.values["window_shape"])
    if len(ref.shape) != len(window) + 2:
        return m.unknown("an im2col view of another rank than its window")
    extents = [as_extent(m, x) for x in window]
    padding = _padding(m, a.values["padding"], len(window))
    rows: Value = ref.shape[0]
    for size, k, pad in zip(ref.shape[1:-1], extents, padding, strict=True):
        if not (isinstance(rows, Int) and isinstance(size, Int) and isinstance(k, Int) and isinstance(pad, Int)):
            rows = m.unknown("a number of windows that is not known")
            break
        places = dims.add(dims.sub(dims.add(size.dim, pad.dim), k.dim), 1)
        rows = Int(dims.mul(rows.dim, places))
    view = Elsewhere("im2col_ref", tuple(window), Made(call.site, a.sites))
    return refs.viewed(m, ref, view, (rows, *extents, ref.shape[-1]))


def _padding(m: Any, v: Value, rank: int) -> list[Int | Unknown]:
    """Low and high padding of each spatial axis, added up."""
    if v is None:
        return [Int(0)] * rank
    unknown = m.unknown("a padding that is not known", v)
    pairs = m.program.items.iterate(m, v)
    if pairs is None or len(pairs) != rank:
        return [unknown] * rank
    out: list[Int | Unknown] = []
    for pair in pairs:
        sides = m.program.items.iterate(m, pair)
        known = [m.as_int(x) for x in sides] if sides is not None else [None]
        out.append(unknown if None in known else Int(dims.add(*(k.dim for k in known if k is not None))))
    return out


def _transposed(m: Any, call: Call, a: Arguments) -> Value:
    """`plgpu.transpose_ref(ref, permutation)`, of releases before 0.11."""
    ref = a.values["ref"]
    if not isinstance(ref, Ref):
        return m.unknown("a transposed view of something that is not known", ref)
    return refs.transposed(m, ref, a.values["permutation"], call.site)


#: What each function returns; nothing where it stands in neither this table nor plgpu_types.MODELS.
_MODELS: Mapping[str, Model] = {
    **{
        name: _keep(name)
        for name in (
            "InterpretGPUParams",
            "Mesh",
            "PeerMemRef",
            "RefType",
            "Replicated",
            "SemaphoreSignal",
            "Tiling",
            "WarpMesh",
        )
    },
    "CompilerParams": _compiler_params,
    "NDLoopInfo": lambda m, call, a: LoopInfo(dict(a.values)),
    "ShapeDtypeStruct": _struct,
    "as_torch_kernel": lambda m, call, a: m.unknown("a kernel for PyTorch"),
    "async_load_tmem": _load_tmem,
    "barrier_test": _scalar("bool"),
    "broadcasted_iota": _iota,
    "cluster_ref": _elsewhere("cluster_ref", "block_id"),
    "find_swizzle": _find_swizzle,
    "format_tcgen05_sparse_metadata": _sparse_metadata,
    "im2col_ref": _im2col,
    "layout_cast": _layout_cast,
    "load": _load,
    **{op: _reduction(op) for op in ("max", "min", "prod", "sum")},
    "mma": _mma,
    "multicast_ref": _elsewhere("multicast_ref", "collective_axes"),
    "multimem_load_reduce": _load_reduced,
    "planar_snake": _snake,
    "query_cluster_cancel": _cluster_cancelled,
    "remote_ref": _elsewhere("remote_ref", "device_id"),
    "transform_ref": lambda m, call, a: m.unknown("a transformed view", a.values["ref"]),
    "transpose_ref": _transposed,
    "wgmma_accumulator_load": _load_accumulator,
}
