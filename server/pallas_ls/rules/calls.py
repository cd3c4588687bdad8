"""Rules of single calls: atomics, buffers of other blocks, inlined MLIR, semaphores, claimed blocks, warps."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, LayoutName, ShapeDtype, element_count
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Builtin, DictCell, Int, Value
from ..domain.ref import Elsewhere, Ref, RefType
from ..domain.target import JaxVersion, Semantics
from .copying.read import cluster
from .operations import ARITHMETIC
from .references import ATOMICS, is_splat
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView, show_array

PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
V11 = JaxVersion(0, 11)


# -- atomics ---------------------------------------------------------------------------------------


def atomic_type(v: CallView) -> Answer:
    """An atomic operation that the hardware has not for the element type."""
    ref, op = v.value("ref"), v.fact.api.removeprefix("atomic_")
    if not isinstance(ref, Ref) or not isinstance(ref.dtype, DType):
        return Unsure("the buffer is not known")
    told = _atomic_error(ref, ref.dtype, op)
    if told is None:
        return None
    text = (
        f"{v.fact.api} on {ref.dtype}: atomics work on 32-bit integers (all of them), on float32 (add), and on float16 "
        "and bfloat16 (add; in GMEM also min and max)."
    )
    return Problem(text, JaxError("NotImplementedError", told), v.site("ref"))


def _atomic_error(ref: Ref, dtype: DType, op: str) -> str | None:
    if dtype.name == "float32":
        return None if op == "add" else f"f32 only supports add atomics, got {op}"
    if dtype.is_integer and dtype.bits == 32:
        return None
    if dtype.name in ("float16", "bfloat16"):
        if op not in ("add", "min", "max"):
            return f"f16/bf16 only supports add, min, max atomics, got {op}"
        shared = ref.type.space == "smem" and op != "add"
        return f"f16/bf16 SMEM/multimem atomics only support add, got {op}" if shared else None
    return "Unsupported element type for atomic stores: " if dtype.family != "bool" else None


def atomic_splat(v: CallView) -> Answer:
    """A constant that is added to a buffer."""
    value = v.value("val")
    if not is_splat(value) or (isinstance(value, Array) and value.shape == ()):
        return None
    text = (
        "The value is one number repeated, which has no register layout of its own: name one, "
        "plgpu.layout_cast(x, plgpu.Layout.WG_STRIDED(shape, vec_size=...))."
    )
    jax = JaxError("NotImplementedError", "Atomic stores not supported for splat layout")
    return Problem(text, jax, v.site("val"))


# -- buffers of other blocks -----------------------------------------------------------------------


def _elsewhere(v: CallView) -> Elsewhere | None:
    """The view of another block's buffer that a load, store or copy goes through."""
    for x in v.fact.operands.values():
        found = next((w for w in x.views if isinstance(w, Elsewhere)), None) if isinstance(x, Ref) else None
        if found is not None and found.how == "cluster_ref":
            return found
    return None


def block_axis(v: CallView) -> Answer:
    """A block named along an axis that is none of the cluster's."""
    view = _elsewhere(v)
    if view is None:
        return None
    axes, sizes = _keys(view.where), cluster(v)
    if isinstance(sizes, Unsure):
        return sizes
    for axis in axes:
        if axis not in sizes:
            listed = ", ".join(map(repr, sizes))
            text = f"{axis!r} is no axis of the cluster" + (f", which has {listed}." if sizes else ": there is none.")
            jax = JaxError("LookupError", f"Unknown cluster axis {axis}, available axes: [{listed}]")
            where = view.made.args.get("block_id", view.made.site) if view.made is not None else None
            return Problem(text, jax, where)
    return None


def _keys(where: Value) -> list[str]:
    """The axes of a `{axis: index}`."""
    items = where.slots.get("items") if isinstance(where, DictCell) else None
    return [key for key, _ in items.values() if isinstance(key, str)] if isinstance(items, dict) else []


def block_id(v: CallView) -> Answer:
    """A block that is not named by its axes."""
    where = v.value("block_id")
    if not isinstance(where, (Int, Array, bool, float)):
        return None
    kind = "int" if isinstance(where, Int) else type(where).__name__
    if isinstance(where, Array):
        kind = "JitTracer" if v.version >= V11 else "DynamicJaxprTracer"
    text = 'cluster_ref names a block by its axes: cluster_ref(ref, {"axis": index}).'
    return Problem(text, JaxError("AttributeError", f"'{kind}' object has no attribute 'keys'"), v.site("block_id"))


def remote_store(v: CallView) -> Answer:
    """Under Warpgroup semantics, a plain store to another block's buffer."""
    target = v.value("target") if v.fact.api == "ref.set" else v.value("dst")
    views = target.views if isinstance(target, Ref) else ()
    if not any(isinstance(x, Elsewhere) and x.how == "cluster_ref" for x in views):
        return None
    text = (
        "Warpgroup semantics load from the buffer of another block, but do not store to it: plgpu.async_store_smem "
        "sends a value there and signals a barrier."
    )
    return Problem(text, JaxError("ValueError", "Unsupported memory space: #mosaic_gpu.smem_cluster"))


# -- inlined MLIR, semaphores, blocks that are claimed ---------------------------------------------


def inline_types(v: CallView) -> Answer:
    """`inline_mgpu` with argument types that are neither layouts nor `RefType`s, or a result that has no layout."""
    for t in _leaves(v.value("return_type")):
        if isinstance(t, ShapeDtype) and t.layout is None:
            text = "The result of inlined code has a register layout: plgpu.ShapeDtypeStruct(shape, dtype, layout=...)."
            jax = JaxError("ValueError", "inline_mgpu_p only supports plgpu.ShapeDtypeStruct return types.")
            return Problem(text, jax, v.site("return_type"))
    for t in _leaves(v.value("arg_types")):
        if isinstance(t, (Int, bool, float, str, DType, RefType, ShapeDtype)) or _is_class(t):
            text = (
                "arg_types holds what the inlined code gets: plgpu.RefType(transforms) for a reference, a "
                "plgpu.Layout for an array."
            )
            jax = JaxError("ValueError", "inline_mgpu_p only supports only SomeLayout and RefType arg types.")
            return Problem(text, jax, v.site("arg_types"))
    return None


def _is_class(t: Value) -> bool:
    """`plgpu.RefType` without a call."""
    return isinstance(t, Builtin) and t.name.endswith(".RefType")


def _leaves(x: Value) -> Iterator[Value]:
    if type(x) is tuple:
        for y in x:
            yield from _leaves(y)
    elif not isinstance(x, LayoutName):
        yield x


def semaphore_core(v: CallView) -> Answer:
    """A semaphore's core, which is a notion of TPUs."""
    core = v.value("core_index")
    if v.fact.launch is None or not isinstance(core, (Int, Array)):
        return None
    jax = JaxError(
        "NotImplementedError",
        "Mosaic GPU backend does not support the concept of cores, but core_index is specified",
    )
    return Problem("GPUs have no cores to name: leave core_index away.", jax, v.site("core_index"))


def cancel_result(v: CallView) -> Answer:
    """A place for the answer of `try_cluster_cancel` that is not of 16 bytes."""
    ref = v.value("result_ref")
    if not isinstance(ref, Ref) or not isinstance(ref.dtype, DType):
        return Unsure("the buffer is not known")
    count = element_count(ref.shape)
    bits = v.simplify(dims.mul(count, ref.dtype.bits)) if count is not None else None
    if bits is None or v.decide(conds.equal(bits, 128)) is not False:
        return None
    text = (
        f"The answer has 16 bytes; {ref.name or 'the buffer'} is {show_array(ref.shape, ref.dtype)}, "
        f"{dims.text(bits)} bits. Allocate it as plgpu.TryClusterCancelResult()."
    )
    jax = JaxError("TypeError", f"Try cluster cancel response must be 128 bits, but is {dims.text(bits)} bits.")
    made = ref.type.made
    notes = (Note(made.args.get("shape", made.site), "allocated here"),) if made is not None else ()
    return Problem(text, jax, v.site("result_ref"), notes)


def captured(v: CallView) -> Answer:
    """An array computed by the warpgroup that code of a single warp uses."""
    if v.fact.launch is None or not v.fact.launch.warp:
        return None
    for name, x in v.fact.operands.items():
        outer = next((y for y in _arrays(x) if _is_outside(y)), None)
        if outer is not None:
            shown = show_array(outer.shape, outer.dtype)
            text = (
                f"{shown} belongs to the whole warpgroup, whose threads hold a part each; code of a single warp takes "
                "scalars and references from outside. Use the array outside of it."
            )
            notes = (Note(outer.by.site, "computed here"),) if outer.by is not None else ()
            return Problem(text, _capture_error(v, shown.replace(" ", "")), v.site(name), notes)
    return None


def _arrays(x: Value) -> Iterator[Array]:
    if isinstance(x, Array):
        yield x
    elif type(x) is tuple:
        for y in x:
            yield from _arrays(y)


def _is_outside(x: Array) -> bool:
    return isinstance(x.shape, tuple) and x.shape != () and x.by is not None and not x.by.warp


def _capture_error(v: CallView, shown: str) -> JaxError:
    if v.version < V11:
        name, _, rest = shown.partition("[")
        words = "Can only close over scalars and Refs when using core_map with WarpMesh. Found array of shape "
        return JaxError("LoweringError", f"{words}{name}[{rest}.")
    words = "captures non-scalar array constants […]. You can only close over scalars and Refs"
    return JaxError("ValueError", f"The kernel function in mpmd_map … {words}")


_BLOCKS = "`plgpu.cluster_ref(ref, {axis: index})` is the same buffer of another block of the cluster."

RULES = (
    Rule(
        "atomic-type",
        "The hardware has the atomic operation for the element type.",
        ATOMICS,
        200,
        atomic_type,
        "jax/experimental/mosaic/gpu/fragmented_array.py, FragmentedArray._store_register_atomic",
        "Atomic operations are instructions (`red`) for some types only: all of them for 32-bit integers, addition for "
        "float32, addition for pairs of float16 and bfloat16, and in global memory their minimum and maximum, too.",
    ),
    Rule(
        "atomic-splat",
        "The operand of an atomic operation has a register layout.",
        ATOMICS,
        190,
        atomic_splat,
        "jax/experimental/mosaic/gpu/fragmented_array.py, FragmentedArray.store_untiled",
        "A value that is one number repeated (`jnp.zeros`, `jnp.full`) is kept in one register. Each thread has to "
        "know which elements are its own: cast the value to a layout first, or load it from a buffer.",
    ),
    Rule(
        "cluster-ref-axis",
        "cluster_ref names axes of the cluster.",
        ("ref.get", "ref.set", "load", "store", "copy_gmem_to_smem", "copy_smem_to_gmem"),
        38,
        block_axis,
        f"{LOWERING}, _resolve_cluster_axis",
        f"{_BLOCKS} Axes of the grid do not count, and JAX looks only where the buffer is used.",
    ),
    Rule(
        "cluster-ref-block",
        "cluster_ref names a block by its axes.",
        ("cluster_ref",),
        10,
        block_id,
        f"{PRIMITIVES}, cluster_ref",
        _BLOCKS,
    ),
    Rule(
        "cluster-ref-store",
        "Under Warpgroup semantics another block's buffer is not stored to.",
        ("ref.set", "store"),
        39,
        remote_store,
        "jax/experimental/mosaic/gpu/dialect_lowering.py, the lowering of vector_store",
        f"{_BLOCKS} Lane semantics store to it; under Warpgroup semantics `plgpu.async_store_smem` does.",
        semantics=Semantics.WARPGROUP,
    ),
    Rule(
        "inline-types",
        "inline_mgpu is told layouts and RefTypes.",
        ("inline_mgpu",),
        10,
        inline_types,
        f"{PRIMITIVES}, inline_mgpu",
        "The types of the arguments are leaves: `plgpu.RefType(transforms)` for references, `plgpu.Layout` for arrays. "
        "Results are `plgpu.ShapeDtypeStruct`s, which have a layout, other than `jax.ShapeDtypeStruct`s.",
    ),
    Rule(
        "semaphore-core",
        "A semaphore is not of a core.",
        ("pl.semaphore_signal",),
        10,
        semaphore_core,
        f"{PRIMITIVES}, _semaphore_signal_lowering_rule",
        "`core_index` is for TPUs, whose chips have several cores.",
    ),
    Rule(
        "cancel-result",
        "The answer of try_cluster_cancel has 16 bytes.",
        ("try_cluster_cancel",),
        100,
        cancel_result,
        f"{PRIMITIVES}, try_cluster_cancel_lowering",
        "The hardware writes 16 bytes that say which block was claimed. `plgpu.TryClusterCancelResult()` in "
        "`scratch_types` is a buffer for them.",
    ),
    Rule(
        "warp-capture",
        "Code for a single warp takes scalars and references from outside.",
        (*ARITHMETIC, "ref.set", "store", "pl.debug_print"),
        18,
        captured,
        "jax/_src/pallas/mpmd.py, the check of constants; lowering.py, _core_map_lowering_rule",
        "An array is spread over the 128 threads of the warpgroup. In `pl.core_map(plgpu.WarpMesh(...))` and "
        "`plgpu.warp_map` 32 of them run, which do not hold it.",
    ),
)
