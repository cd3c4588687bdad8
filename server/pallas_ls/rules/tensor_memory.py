"""Rules about tensor memory: loads, stores, views and copies."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Int
from ..domain.ref import Ds, Indexed, Permuted, Position, Ref
from ..domain.target import Semantics
from .mma.shared import UNSATISFIABLE, unverified
from .references import LOADS, reference
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView, show_array, show_shape

PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
_WHERE = {"smem": "shared memory", "gmem": "global memory", "tmem": "tensor memory", "regs": "registers"}


def synchronous(v: CallView) -> Answer:
    """A load or store of tensor memory with the usual syntax."""
    ref = reference(v)
    if ref is None or ref.type.space != "tmem" or v.semantics is None:
        return None
    load = v.fact.api in LOADS
    if v.semantics is Semantics.WARPGROUP and load:
        return None  # refused only if the value is used
    if v.semantics is Semantics.WARPGROUP:
        jax = JaxError("ValueError", "Expected the same number of in_tmem_layouts (0) as TMEM ref operands (1). op=")
    else:
        what, name = ("Loads from", "load") if load else ("Stores to", "store")
        jax = JaxError(
            "RuntimeError",
            f"{what} TMEM are asynchronous operations and cannot be performed using the usual syntax. Please use "
            f"plgpu.async_{name}_tmem instead.",
        )
    return Problem(_instead(ref, load), jax)


def _instead(ref: Ref, load: bool) -> str:
    name = ref.name or "ref"
    if load:
        return (
            f"{name} is in tensor memory, which is loaded asynchronously: plgpu.async_load_tmem({name}), after the "
            "barrier of the multiplication; plgpu.wait_load_tmem() before the memory is used again."
        )
    return (
        f"{name} is in tensor memory, which is stored to asynchronously: plgpu.async_store_tmem({name}, x), then "
        "plgpu.commit_tmem()."
    )


def loaded_and_used(v: CallView) -> Answer:
    """Under Warpgroup semantics, a stored value that was loaded from tensor memory with the usual syntax."""
    value = v.value("value")
    if not isinstance(value, Array) or value.by is None or value.by.name not in (*LOADS, "getitem"):
        return None
    source = value.by.operands.get("source", value.by.operands.get("src", value.by.operands.get("of")))
    if not isinstance(source, Ref) or source.type.space != "tmem":
        return None
    return Problem(_instead(source, True), JaxError("ValueError", "…"), value.by.site)


def view(v: CallView) -> Answer:
    """A view of tensor memory that is not a range of its columns."""
    ref = v.value("src") if v.fact.api == "async_load_tmem" else v.value("ref")
    if not isinstance(ref, Ref) or ref.type.space != "tmem" or v.semantics is None:
        return None
    for x in ref.views:
        if isinstance(x, Permuted):
            jax = JaxError("NotImplementedError", "Unimplemented transforms for TMEM refs. transforms=[")
            text = (
                f"{ref.name or 'This'} is in tensor memory, which cannot be read transposed. Transpose where it goes."
            )
            return Problem(text, jax, x.made.site if x.made else None)
        if not isinstance(x, Indexed) or not isinstance(x.items, tuple) or not x.items:
            return Unsure("a view of tensor memory that is not known")
        answer = _rows(v, ref, x)
        if answer is not None:
            return answer
    return None


def _rows(v: CallView, ref: Ref, x: Indexed) -> Answer:
    items = x.items if isinstance(x.items, tuple) else ()
    at = x.made.site if x.made else None
    lane = v.semantics is Semantics.LANE
    if any(isinstance(i, Position) for i in items):
        jax = JaxError("ValueError", "TMEM can only be sliced, not indexed")
        text = "Tensor memory is taken by ranges of columns, ref.at[:, pl.ds(i, n)], not by single rows or columns."
        return Problem(text, jax if lane else unverified(v.version, "'mosaic_gpu.async_"), at)
    rows = ref.type.shape[0] if isinstance(ref.type.shape, tuple) else None
    first = items[0]
    if not isinstance(first, Ds) or not isinstance(first.size, Int) or not isinstance(rows, Int):
        return None
    if v.decide(conds.equal(first.size.dim, rows.dim)) is not False:
        return None
    jax = JaxError("NotImplementedError", "TMEM cannot be sliced along rows")
    text = (
        "Tensor memory is taken with all of its rows, which belong to the lanes of the warpgroup: slice columns, "
        "ref.at[:, pl.ds(i, n)]."
    )
    return Problem(text, jax if lane else UNSATISFIABLE, at)


def space(v: CallView) -> Answer:
    """Loads and stores of tensor memory given something else."""
    load = v.fact.api == "async_load_tmem"
    ref = v.value("src") if load else v.value("ref")
    if not isinstance(ref, Ref) or ref.type.space == "tmem" or ref.type.kind != "data":
        return None
    jax = JaxError("ValueError", f"Async {'load' if load else 'store'} only supports TMEM refs")
    usual = "ref[...], or plgpu.load(ref)" if load else "ref[...] = x"
    text = (
        f"{ref.name or 'This'} is in {_WHERE.get(ref.type.space, ref.type.space)}; plgpu.{v.fact.api} is for tensor "
        f"memory. Use {usual}."
    )
    return Problem(text, jax, v.site("src" if load else "ref"), _declared(ref))


def _declared(*refs: Ref) -> tuple[Note, ...]:
    notes = [(r, r.type.made) for r in refs]
    return tuple(
        Note(made.site, f"{r.name or 'the buffer'} is {show_array(r.type.shape, r.type.dtype)}")
        for r, made in notes
        if made is not None
    )


# -- copies from shared memory ---------------------------------------------------------------------


def copied_spaces(v: CallView) -> Answer:
    """A copy that is not from shared to tensor memory."""
    source, target = v.value("smem_ref"), v.value("tmem_ref")
    if not isinstance(source, Ref) or not isinstance(target, Ref):
        return None
    for ref, want, role, name in (
        (source, "smem", "source must be an SMEM ref", "smem_ref"),
        (target, "tmem", "target must be a TMEM ref", "tmem_ref"),
    ):
        if ref.type.kind == "data" and ref.type.space != want:
            jax = JaxError("ValueError", f"async_copy_smem_to_tmem {role}")
            text = (
                f"{ref.name or 'This'} is in {_WHERE.get(ref.type.space, ref.type.space)}; the copy is from shared "
                "memory (first) to tensor memory (second)."
            )
            return Problem(text, jax, v.site(name), _declared(ref))
    return None


def copied_types(v: CallView) -> Answer:
    """A copy between buffers of different element types or shapes."""
    source, target = v.value("smem_ref"), v.value("tmem_ref")
    if not isinstance(source, Ref) or not isinstance(target, Ref):
        return None
    if isinstance(source.dtype, DType) and isinstance(target.dtype, DType) and source.dtype != target.dtype:
        text = f"Expected SMEM element type ({source.dtype}) to equal the TMEM element type ({target.dtype})"
        told = f"{source.name or 'The source'} is {source.dtype}, {target.name or 'the target'} {target.dtype}: a copy "
        return Problem(told + "does not convert.", JaxError("ValueError", text), v.site("tmem_ref"), _declared(target))
    if v.shapes_differ(source.shape, target.shape):
        a, b = show_shape(source.shape), show_shape(target.shape)
        text = f"Expected SMEM reference shape {a} to equal the TMEM reference shape {b}"
        told = f"{source.name or 'The source'} has the shape {a}, {target.name or 'the target'} {b}."
        return Problem(told, JaxError("ValueError", text), v.site("tmem_ref"), _declared(target))
    return None


def copied_packing(v: CallView) -> Answer:
    """A copy to tensor memory with less than all of a column used."""
    target = v.value("tmem_ref")
    if not isinstance(target, Ref) or target.type.space != "tmem" or not isinstance(target.dtype, DType):
        return None
    if target.dtype.bits >= 32 or target.type.params.get("packed") is not False or v.semantics is None:
        return None
    packing = 32 // target.dtype.bits
    text = f"tcgen05.cp only supports fully packed TMEM references (packing={packing}), but got packing=1"
    jax = JaxError("ValueError", text) if v.semantics is Semantics.LANE else UNSATISFIABLE
    told = (
        f"{target.name or 'The target'} has one {target.dtype} in each 32-bit column; the copy fills columns whole: "
        "plgpu.TMEM(..., packed=True)."
    )
    return Problem(told, jax, v.site("tmem_ref"), _declared(target))


RULES = (
    Rule(
        "tmem-synchronous",
        "Tensor memory is loaded and stored asynchronously.",
        ("ref.get", "load", "ref.set", "store"),
        30,
        synchronous,
        "jax/_src/pallas/mosaic_gpu/lowering.py, _get_lowering_rule, _swap_lowering_rule",
        "Tensor memory has instructions of its own, which run asynchronously: `plgpu.async_load_tmem(ref)` after the "
        "barrier that the multiplication signals, and `plgpu.async_store_tmem(ref, x)` with `plgpu.commit_tmem()`. "
        "Under Warpgroup semantics a load with the usual syntax is refused where its value is used.",
    ),
    Rule(
        "tmem-synchronous-load",
        "Under Warpgroup semantics a value loaded from tensor memory with the usual syntax cannot be used.",
        ("ref.set", "store", "async_store_smem"),
        8,
        loaded_and_used,
        "jax/experimental/mosaic/gpu/layout_inference.py, infer_layout",
        "Tensor memory has instructions of its own, which run asynchronously: `plgpu.async_load_tmem(ref)` after the "
        "barrier that the multiplication signals.",
        semantics=Semantics.WARPGROUP,
    ),
    Rule(
        "tmem-space",
        "`async_load_tmem` and `async_store_tmem` are for tensor memory.",
        ("async_load_tmem", "async_store_tmem"),
        10,
        space,
        f"{PRIMITIVES}, _async_load_tmem_abstract_eval, _async_store_tmem_abstract_eval",
        "Other memory is loaded with `ref[...]` and stored to with `ref[...] = x`.",
    ),
    Rule(
        "tmem-view",
        "A view of tensor memory is a range of its columns.",
        ("async_load_tmem", "async_store_tmem"),
        30,
        view,
        "jax/experimental/mosaic/gpu/tcgen05.py, TMEMRef.slice",
        "The 128 rows of tensor memory belong to the lanes of the warpgroup; what can be taken is a range of columns, "
        "`ref.at[:, pl.ds(start, size)]`.",
    ),
    Rule(
        "tmem-copy-space",
        "`async_copy_smem_to_tmem` copies from shared to tensor memory.",
        ("async_copy_smem_to_tmem",),
        10,
        copied_spaces,
        f"{PRIMITIVES}, _async_copy_smem_to_tmem_abstract_eval",
        "The first operand is in shared memory, the second in tensor memory.",
    ),
    Rule(
        "tmem-copy-type",
        "A copy to tensor memory is between buffers of one element type and shape.",
        ("async_copy_smem_to_tmem",),
        20,
        copied_types,
        f"{PRIMITIVES}, _async_copy_smem_to_tmem_abstract_eval",
        "A copy neither converts nor cuts.",
    ),
    Rule(
        "tmem-copy-packing",
        "A copy to tensor memory fills whole columns.",
        ("async_copy_smem_to_tmem",),
        30,
        copied_packing,
        "jax/experimental/mosaic/gpu/tcgen05.py, async_copy_smem_to_tmem",
        "Tensor memory has columns of 32 bits. The copy moves bytes as they are, so elements narrower than that "
        "have to "
        "be packed: `plgpu.TMEM(shape, dtype, packed=True)`.",
    ),
)
