"""`jax.experimental.pallas.mosaic_gpu`: buffers, barriers, layouts, copies, matrix multiplication.

Signatures are those of JAX 0.12.0 (jax/_src/pallas/mosaic_gpu/primitives.py, core.py); rules say where another
version differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, LayoutName, Shape, ShapeDtype
from ..domain.dtype import DType, dtype_named
from ..domain.python import Builtin, Call, Int, Made, Unknown, Value
from ..domain.ref import BlockSpec, CompilerParams, Loaded, OtherTransform, Ref, RefType, Swizzle, Tiling
from ..source.span import Site
from . import pipelines, refs
from .convert import as_constant, as_dtype, as_extent, as_shape
from .recording import record_call
from .registry import NO_ATTRIBUTE, Arguments, Registry, Signature, by_case, method

MODULE = "jax.experimental.pallas.mosaic_gpu"
SEMAPHORE = DType("semaphore", 32, "semaphore")

Model = Callable[[Any, Call, Arguments], Value]


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
    refs.register(r)
    pipelines.register(r, MODULE)
    for name, signature, model in _TABLE:
        r.names[f"{MODULE}.{name}"] = recorded(name, signature, model)
    for space in ("SMEM", "GMEM", "TMEM", "REGS"):
        r.value(f"{MODULE}.{space}", SpaceName(space.lower()))
        r.value(f"{MODULE}.MemorySpace.{space}", SpaceName(space.lower()))
    r.calls[SpaceName] = lambda m, f, call: _run(m, f.space.upper(), _BUFFER, call, _buffer(f.space))
    for name in ("Layout", "TMEMLayout"):
        r.value(f"{MODULE}.{name}", LayoutEnum(name))
    r.attribute(LayoutEnum)(_layout_member)
    r.attribute(LayoutName)(_layout_attribute)
    r.calls[LayoutName] = _layout_called
    r.raw("builtins.__array_type__")(_array_type)
    r.names[f"{MODULE}.ACC.init"] = recorded("ACC.init", "array", _accumulator_init)
    r.attribute(CompilerParams)(lambda m, v, name, site: v.params.get(name, NO_ATTRIBUTE))
    r.attribute(RefType)(_type_attribute)
    r.attribute(BlockSpec)(_spec_attribute)
    r.attribute(Tiling)(lambda m, v, name, site: v.tiling if name == "tiling" else NO_ATTRIBUTE)
    r.attribute(Swizzle)(lambda m, v, name, site: v.swizzle if name == "swizzle" else NO_ATTRIBUTE)
    r.attribute(Builtin)(_class_attribute)


def recorded(api: str, signature: str, model: Model | None) -> Builtin:
    """A function whose calls are kept as facts, those that do not fit the signature included."""
    parsed = Signature.parse(signature)
    return Builtin(f"{MODULE}.{api}", lambda m, call: _run(m, api, parsed, call, model))


def _run(m: Any, api: str, signature: Signature, call: Call, model: Model | None) -> Value:
    arguments = signature.bind(call)

    def one(values: dict[str, Value]) -> Value:
        mine = Arguments(values, arguments.sites, arguments.given, arguments.missing, arguments.excess, arguments.open)
        if arguments.missing or arguments.open:
            result: Value = m.unknown(f"{api} called with arguments that do not fit", site=call.site)
        else:
            result = model(m, call, mine) if model else None
        record_call(m, api, call, mine, result)
        return result

    return by_case(m, arguments.values, one)


# -- types of buffers and barriers -----------------------------------------------------------------

_BUFFER = Signature.parse("shape, dtype, *, transforms=(), packed=None, collective=None, layout=None")


def _made(call: Call, a: Arguments) -> Made:
    return Made(call.site, a.sites)


def _buffer(space: str) -> Model:
    def model(m: Any, call: Call, a: Arguments) -> Value:
        shape, dtype = as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"])
        transforms = as_transforms(m, a.values["transforms"])
        params = {k: a.values[k] for k in ("packed", "collective", "layout") if k in a.given}
        return RefType("data", space, shape, dtype, transforms, params, (), _made(call, a))

    return model


def as_transforms(m: Any, v: Value) -> Any:
    """A sequence of memory transforms; Unknown where one of them is."""
    items = m.program.items.iterate(m, v)
    if items is None:
        return m.unknown("transforms that are not known", v)
    if not all(isinstance(t, (Tiling, Swizzle, OtherTransform)) for t in items):
        return m.unknown("a transform that is not known", *items)
    return tuple(items)


def _barrier(kind: str) -> Model:
    def model(m: Any, call: Call, a: Arguments) -> Value:
        shape = as_shape(m, a.values["num_barriers"])
        return RefType(kind, "smem", shape, DType(kind, 64, "barrier"), (), dict(a.values), (), _made(call, a))

    return model


def _accumulator(m: Any, call: Call, a: Arguments) -> Value:
    shape, dtype = as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"])
    return RefType("acc", "regs", shape, dtype, (), {}, (), _made(call, a))


def _accumulator_init(m: Any, call: Call, a: Arguments) -> Value:
    x = a.values["array"]
    if not isinstance(x, Array):
        return m.unknown("an accumulator that starts from a value that is not known", x)
    return RefType("acc", "regs", x.shape, x.dtype, (), {"init": x}, (), _made(call, a))


def _union(m: Any, call: Call, a: Arguments) -> Value:
    members = a.values["refs"]
    return RefType("union", "smem", m.unknown("a union"), m.unknown("a union"), (), {}, members, _made(call, a))


def _semaphore(m: Any, call: Call, a: Arguments) -> Value:
    t = RefType("semaphore", "gmem", as_shape(m, a.values["shape"]), SEMAPHORE, (), {}, (), _made(call, a))
    return Ref(t, t.shape, t.dtype)


def _tiling(m: Any, call: Call, a: Arguments) -> Value:
    items = m.program.items.iterate(m, a.values["tiling"])
    tiling = tuple(as_extent(m, x) for x in items) if items is not None else m.unknown("a tiling that is not known")
    return Tiling(tiling, _made(call, a))


def _swizzle(m: Any, call: Call, a: Arguments) -> Value:
    return Swizzle(as_extent(m, a.values["swizzle"]), _made(call, a))


def _other_transform(name: str) -> Model:
    return lambda m, call, a: OtherTransform(name, tuple(a.values.values()), _made(call, a))


def _block_spec(m: Any, call: Call, a: Arguments) -> Value:
    v = a.values
    shape: Shape = m.unknown("a block without a shape")
    if v["block_shape"] is not None:
        shape = pipelines.block_extents(m, v["block_shape"])
    params = {k: v[k] for k in v if k in a.given and k not in ("block_shape", "index_map", "transforms")}
    if "block_shape" in a.given:
        params["block_shape"] = v["block_shape"]
    return BlockSpec(shape, v["index_map"], as_transforms(m, v["transforms"]), params, _made(call, a))


def _type_attribute(m: Any, v: RefType, name: str, site: Site) -> Value:
    if name in ("shape", "dtype", "transforms"):
        return getattr(v, name)
    return v.params.get(name, NO_ATTRIBUTE)


def _spec_attribute(m: Any, v: BlockSpec, name: str, site: Site) -> Value:
    if name == "block_shape":
        return v.params.get("block_shape", v.shape)
    if name in ("index_map", "transforms"):
        return getattr(v, name)
    return v.params.get(name, NO_ATTRIBUTE)


def _class_attribute(m: Any, v: Builtin, name: str, site: Site) -> Value:
    """`plgpu.ACC.init`, `dict.fromkeys`: a function that belongs to another one."""
    return m.program.library.registry.names.get(f"{v.name}.{name}", NO_ATTRIBUTE)


# -- layouts ---------------------------------------------------------------------------------------


def _layout_member(m: Any, v: LayoutEnum, name: str, site: Site) -> Value:
    return LayoutName(name if v.name == "Layout" else f"{v.name}.{name}")


def _layout_attribute(m: Any, v: LayoutName, name: str, site: Site) -> Value:
    if name == "reduce":
        return method(v, "reduce", "axes", _layout_reduce)
    if name == "name":
        return v.name
    return NO_ATTRIBUTE


def _layout_reduce(m: Any, call: Call, v: LayoutName, axes: Value) -> Value:
    items = m.program.items.iterate(m, axes)
    known = [as_constant(m, x) for x in ([axes] if items is None else items)]
    if None in known:
        return m.unknown("a layout reduced along an axis that is not known", axes)
    axes = sorted((k for k in known if k is not None), reverse=True)
    return LayoutName(v.name, v.args, (*v.reduced, *axes), v.options)


def _layout_called(m: Any, f: LayoutName, call: Call) -> Value:
    return LayoutName(f.name, call.args, f.reduced, tuple(sorted(call.kwargs.items())))


# -- values ----------------------------------------------------------------------------------------


def _load(m: Any, call: Call, a: Arguments) -> Value:
    src, layout = a.values["src"], a.values["layout"]
    if not isinstance(src, Ref):
        return m.unknown("loaded from something that is not known", src)
    return Array(src.shape, src.dtype, layout=Loaded(src) if layout is None else layout, made=_made(call, a))


def _layout_cast(m: Any, call: Call, a: Arguments) -> Value:
    x = a.values["x"]
    if not isinstance(x, Array):
        return m.unknown("a layout cast of something that is not known", x)
    return Array(x.shape, x.dtype, x.weak, a.values["new_layout"], made=_made(call, a), cast_from=x.layout)


def _iota(m: Any, call: Call, a: Arguments) -> Value:
    shape, dtype = as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"])
    layout = a.values["layout"]
    return Array(shape, dtype, layout=Unknown("an iota") if layout is None else layout, made=_made(call, a))


def _load_tmem(m: Any, call: Call, a: Arguments) -> Value:
    src, layout = a.values["src"], a.values["layout"]
    if not isinstance(src, Ref) or a.values["reduce"] is not None:
        return m.unknown("loaded from TMEM", src)
    return Array(src.shape, src.dtype, layout=layout, made=_made(call, a))


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
    return Array(ref.shape, ref.dtype, layout=Unknown("a multimem load"), made=_made(call, a))


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
    return CompilerParams({k: a.values[k] for k in a.given}, _made(call, a))


def _struct(m: Any, call: Call, a: Arguments) -> Value:
    return ShapeDtype(as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"]), _made(call, a))


def _array_type(m: Any, call: Call) -> Value:
    """An array argument of an example comment: `bf16[4096, 4096]`."""
    return Array(as_shape(m, tuple(call.args[1:])), as_dtype(m, call.args[0]))


def _keep(name: str) -> Model:
    """The call's own record, for objects that only rules look into."""

    def model(m: Any, call: Call, a: Arguments) -> Value:
        return Described(name, dict(a.values), _made(call, a))

    return model


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """An object that is known by what it was made of (`WarpMesh`, `Mesh`, `Replicated`, ...)."""

    kind: str
    params: Mapping[str, Value]
    made: Made


_STORE = "dst, value, *, optimized=True"
_PARAMS = (
    "*, approx_math=False, dimension_semantics=None, max_concurrent_steps=1, unsafe_no_auto_barriers=False, "
    "reduction_scratch_bytes=2048, profile_space=0, profile_dir='', profile_trace_scope=None, "
    "profile_bounds_check=False, "
    "lowering_semantics=None, skip_device_barrier=False, is_multi_process=False, delay_release=0"
)
_SPEC = (
    "block_shape=None, index_map=None, pipeline_mode=None, transforms=(), delay_release=0, collective_axes=(), "
    "oob_fill_mode=None, *, memory_space=None"
)
_REDUCE = "x, axis=None, keepdims=False, *, accumulator_ilp=None"

#: name, signature, what it returns (None: nothing).
_TABLE: tuple[tuple[str, str, Model | None], ...] = (
    ("ACC", "shape, dtype='float32'", _accumulator),
    ("WGMMAAccumulatorRef", "shape, dtype='float32'", _accumulator),
    ("Barrier", "*, num_arrivals=1, num_barriers=(), orders_tensor_core=False", _barrier("barrier")),
    (
        "ClusterBarrier",
        "*, collective_axes, num_barriers=(), num_arrivals=1, orders_tensor_core=False, leader_tracked=False",
        _barrier("cluster_barrier"),
    ),
    ("BlockSpec", _SPEC, _block_spec),
    ("CompilerParams", _PARAMS, _compiler_params),
    (
        "Mesh",
        "*, grid=(), grid_names=(), cluster=(), cluster_names=(), num_threads=None, thread_name=None, kernel_name=None",
        _keep("Mesh"),
    ),
    ("WarpMesh", "*, axis_name", _keep("WarpMesh")),
    ("RefUnion", "*refs", _union),
    ("TryClusterCancelResult", "num_buffers=None", _keep("TryClusterCancelResult")),
    ("ShapeDtypeStruct", "shape, dtype, layout", _struct),
    ("TilingTransform", "tiling", _tiling),
    ("SwizzleTransform", "swizzle", _swizzle),
    ("TransposeTransform", "permutation", _other_transform("TransposeTransform")),
    ("Replicated", "times", _keep("Replicated")),
    ("Tiling", "tiles", _keep("Tiling")),
    ("SemaphoreSignal", "ref, *, device_id, inc=1", _keep("SemaphoreSignal")),
    ("alloc_semaphore", "shape=()", _semaphore),
    ("async_copy_scales_to_tmem", "smem_ref, tmem_ref, collective_axis=None", None),
    ("async_copy_smem_to_tmem", "smem_ref, tmem_ref, collective_axis=None", None),
    ("async_copy_sparse_metadata_to_tmem", "smem_ref, tmem_ref, collective_axis=None", None),
    ("async_load_tmem", "src, *, layout=None, reduce=None", _load_tmem),
    ("async_prefetch", "ref, *, collective_axes=None, leader_tracked=None, predicate=None", None),
    ("async_store_smem", "src, ref, barrier, *, cluster_idx, cluster_dim, optimized=True, atomic=None", None),
    ("async_store_tmem", "ref, value", None),
    *((f"atomic_{op}", "ref, val, *, optimized=True", None) for op in ("add", "and", "max", "min", "or", "xor")),
    ("barrier_arrive", "barrier, *, predicate=None", None),
    ("barrier_arrive_and_wait", "barrier", None),
    ("barrier_test", "barrier", _scalar("bool")),
    ("barrier_wait", "barrier", None),
    ("broadcasted_iota", "dtype, shape, dimension, *, layout=None", _iota),
    ("cluster_ref", "ref, block_id", _elsewhere("cluster_ref", "block_id")),
    ("commit_smem", "", None),
    ("commit_smem_to_gmem_group", "", None),
    ("commit_tmem", "", None),
    (
        "copy_gmem_to_smem",
        "src, dst, barrier=None, *, collective_axes=None, leader_tracked=None, oob_mode=None, predicate=None",
        None,
    ),
    ("copy_smem_to_gmem", "src, dst, predicate=None, *, commit_group=True, reduction_op=None", None),
    ("find_swizzle", "minor_dim_bits, what=''", _find_swizzle),
    ("griddepcontrol_launch_dependents", "", None),
    ("griddepcontrol_wait", "", None),
    ("layout_cast", "x, new_layout", _layout_cast),
    ("load", "src, *, layout=None, optimized=True", _load),
    *((op, _REDUCE, _reduction(op)) for op in ("max", "min", "prod", "sum")),
    ("mma", "acc, a, b, /", _mma),
    ("multicast_ref", "ref, collective_axes", _elsewhere("multicast_ref", "collective_axes")),
    ("multimem_load_reduce", "ref, *, collective_axes, reduction_op", _load_reduced),
    ("multimem_store", "source, ref, collective_axes", None),
    ("planar_snake", "lin_idx, shape, minor_dim, tile_width", _snake),
    ("print_layout", "fmt, x", None),
    ("remote_ref", "ref, device_id, device_id_type=None", _elsewhere("remote_ref", "device_id")),
    ("semaphore_signal", "semaphore, inc=1, *, device_id=None, memory_scope='sys'", None),
    ("semaphore_signal_multicast", "semaphore, value=1, *, collective_axes", None),
    ("semaphore_signal_parallel", "*signals", None),
    ("semaphore_wait", "semaphore, value=1, *, decrement=True, memory_scope='sys'", None),
    ("set_max_registers", "n, *, action", None),
    ("store", _STORE, None),
    ("tcgen05_commit_arrive", "barrier, collective_axis=None, *, predicate=None", None),
    (
        "tcgen05_mma",
        "acc, a, b, barrier=None, *, a_scale=None, b_scale=None, a_sparse_metadata=None, accumulate=True, "
        "collective_axis=None",
        None,
    ),
    ("try_cluster_cancel", "result_ref, barrier, *, collective_axes=()", None),
    ("wait_gmem_to_smem", "n", None),
    ("wait_load_tmem", "", None),
    ("wait_smem_to_gmem", "n, wait_read_only=False", None),
    ("wgmma", "acc, a, b", None),
    ("wgmma_accumulator_load", "acc, *, wait_n=0", _load_accumulator),
    ("wgmma_wait", "n", None),
)
