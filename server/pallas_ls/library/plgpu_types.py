"""Types of buffers and barriers, memory transforms and block specs: what describes memory before a kernel has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain.array import Array, Shape
from ..domain.dtype import DTYPES, SEMAPHORE, DType
from ..domain.python import Call, Int, Made, Opaque, Value
from ..domain.ref import BlockSpec, OtherTransform, Ref, RefType, Swizzle, Tiling
from ..source.span import Site
from . import pipelines
from .convert import as_dtype, as_extent, as_shape
from .jax_tree import NotATree, leaves
from .recording import Model, record
from .registry import NO_ATTRIBUTE, Arguments, Registry


def register(r: Registry, module: str) -> None:
    """Registers what their attributes are, and semaphores."""
    r.attribute(RefType)(_type_attribute)
    r.attribute(BlockSpec)(_spec_attribute)
    r.attribute(Tiling)(lambda m, v, name, site: v.tiling if name == "tiling" else NO_ATTRIBUTE)
    r.attribute(Swizzle)(lambda m, v, name, site: v.swizzle if name == "swizzle" else NO_ATTRIBUTE)

    for kind in ("REGULAR", "BARRIER"):
        r.value(f"{module}.SemaphoreType.{kind}", RefType("semaphore", "gmem", (), SEMAPHORE, (), {"type": kind}))
    r.calls[RefType] = _semaphores


def _semaphores(m: Any, f: RefType, call: Call) -> Value:
    """`plgpu.SemaphoreType.REGULAR(shape)`: an array of semaphores (mosaic_gpu/core.py, SemaphoreType)."""
    if f.kind != "semaphore" or not call.args:
        return m.unknown("a call of a buffer's type", f)
    made = Made(call.site, dict(zip(("shape",), call.arg_sites, strict=False)))
    out = RefType(f.kind, f.space, as_shape(m, call.args[0]), f.dtype, (), f.params, (), made)
    operands = {"shape": call.args[0]}
    record(m, "SemaphoreType", call.site, operands, out, made.args)
    return out


def made(call: Call, a: Arguments) -> Made:
    """Where an object was made."""
    return Made(call.site, a.sites)


def buffer(space: str) -> Model:
    """`plgpu.SMEM(shape, dtype, ...)`."""

    def model(m: Any, call: Call, a: Arguments) -> Value:
        shape, dtype = as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"])
        transforms = as_transforms(m, a.values["transforms"])
        params = {k: a.values[k] for k in ("packed", "collective", "layout") if k in a.given}
        return RefType("data", space, shape, dtype, transforms, params, (), made(call, a))

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
        count = a.values["num_barriers"]
        one = (isinstance(count, Opaque) and count.hint in ("", "int")) or getattr(count, "number", False)
        shape = (as_extent(m, count),) if one else as_shape(m, count)
        return RefType(kind, "smem", shape, DType(kind, 64, "barrier"), (), dict(a.values), (), made(call, a))

    return model


def _accumulator(m: Any, call: Call, a: Arguments) -> Value:
    shape, dtype = as_shape(m, a.values["shape"]), as_dtype(m, a.values["dtype"])
    return RefType("acc", "regs", shape, dtype, (), {}, (), made(call, a))


def accumulator_init(m: Any, call: Call, a: Arguments) -> Value:
    """`plgpu.ACC.init(array)`."""
    x = a.values["array"]
    if not isinstance(x, Array):
        return m.unknown("an accumulator that starts from a value that is not known", x)
    return RefType("acc", "regs", x.shape, x.dtype, (), {"init": x}, (), made(call, a))


def _space_of(m: Any, members: tuple[Value, ...]) -> str:
    """The memory that the members of a union share: JAX takes those of shared or of tensor memory."""
    try:
        spaces = {x.space for x in leaves(m, members) if isinstance(x, RefType)}
    except NotATree:
        return "smem"
    return "tmem" if spaces == {"tmem"} else "smem"


def _union(m: Any, call: Call, a: Arguments) -> Value:
    members = a.values["refs"]
    if type(members) is not tuple:
        return m.unknown("a union of buffers that are not known", members)
    return RefType(
        "union", _space_of(m, members), m.unknown("a union"), m.unknown("a union"), (), {}, members, made(call, a)
    )


def _semaphore(m: Any, call: Call, a: Arguments) -> Value:
    t = RefType("semaphore", "gmem", as_shape(m, a.values["shape"]), SEMAPHORE, (), {}, (), made(call, a))
    return Ref(t, t.shape, t.dtype)


def semaphore_type(m: Any, f: RefType, call: Call) -> Value:
    """`plgpu.SemaphoreType.REGULAR(shape)`: a kind of semaphore, called for an array of them."""
    if f.kind != "semaphore" or f.made is not None or len(call.args) != 1:
        return m.unknown("a buffer type that is called", f)
    sites = {"shape": call.arg_sites[0]} if call.arg_sites else {}
    return RefType("semaphore", "gmem", as_shape(m, call.args[0]), SEMAPHORE, (), f.params, made=Made(call.site, sites))


def _tiling(m: Any, call: Call, a: Arguments) -> Value:
    items = m.program.items.iterate(m, a.values["tiling"])
    tiling = tuple(as_extent(m, x) for x in items) if items is not None else m.unknown("a tiling that is not known")
    return Tiling(tiling, made(call, a))


def _swizzle(m: Any, call: Call, a: Arguments) -> Value:
    return Swizzle(as_extent(m, a.values["swizzle"]), made(call, a))


def _other_transform(name: str) -> Model:
    return lambda m, call, a: OtherTransform(name, tuple(a.values.values()), made(call, a))


def _block_spec(m: Any, call: Call, a: Arguments) -> Value:
    v = a.values
    shape: Shape = m.unknown("a block without a shape")
    if v["block_shape"] is not None:
        shape = pipelines.block_extents(m, v["block_shape"])
    params = {k: v[k] for k in v if k in a.given and k not in ("block_shape", "index_map", "transforms")}
    if "block_shape" in a.given:
        params["block_shape"] = v["block_shape"]
    return BlockSpec(shape, v["index_map"], as_transforms(m, v.get("transforms", ())), params, made(call, a))


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


def _cancel_result(m: Any, call: Call, a: Arguments) -> Value:
    """A buffer for the answer of `try_cluster_cancel`: 16 bytes each (mosaic_gpu/core.py, TryClusterCancelResult)."""
    count = a.values["num_buffers"]
    shape = (Int(16),) if count is None else (as_extent(m, count), Int(16))
    return RefType("data", "smem", shape, DTYPES["int8"], (), {}, (), made(call, a))


#: What each constructor makes.
MODELS: Mapping[str, Model] = {
    "ACC": _accumulator,
    "WGMMAAccumulatorRef": _accumulator,
    "Barrier": _barrier("barrier"),
    "BlockSpec": _block_spec,
    "ClusterBarrier": _barrier("cluster_barrier"),
    "RefUnion": _union,
    "SwizzleTransform": _swizzle,
    "TilingTransform": _tiling,
    "TransposeTransform": _other_transform("TransposeTransform"),
    "TryClusterCancelResult": _cancel_result,
    "alloc_semaphore": _semaphore,
}
