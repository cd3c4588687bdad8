"""Rules about what is done with values in registers: stores, carries of loops, and how they are loaded."""

from __future__ import annotations

from ..domain.array import Array
from ..domain.finding import JaxError
from ..domain.layout import RegisterLayout, Strided
from ..domain.layout_table import jax_repr
from ..domain.ref import Gather, Indexed
from ..domain.target import Semantics
from .layouts.known import Given
from .layouts.lane import as_layout
from .references import LOADS, reference
from .register_layouts import flow_of
from .rule import Answer, Note, Problem, Rule, Unsure
from .store_case import lane_access
from .transfer.lane import store_error
from .transfer.nearest import find_swizzle
from .view import CallView, show_shape

FRAGMENTED = "jax/experimental/mosaic/gpu/fragmented_array.py"
LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
STORES = ("ref.set", "store")


# -- stores ----------------------------------------------------------------------------------------


def stored(v: CallView) -> Answer:
    """Under Lane semantics, a value whose layout the buffer cannot take."""
    ref, value, flow = reference(v), v.value("value"), flow_of(v)
    optimized = v.fact.operands.get("optimized", True)
    if ref is None or flow is None or not isinstance(value, Array) or not isinstance(optimized, bool):
        return None
    shape = v.exact_shape(value.shape)
    if shape is None or not shape or v.exact_shape(ref.shape) != shape:
        return None
    known = flow.layout(value)
    layout, access = as_layout(known, shape), lane_access(v, ref, optimized)
    if layout is None or isinstance(access, Unsure):
        return None
    jax = store_error(access, layout)
    if not isinstance(jax, JaxError):
        return None
    notes = (Note(known.site, f"{known.name} comes from here"),) if isinstance(known, Given) else ()
    name = known.name if isinstance(known, Given) else "no layout, as a constant,"
    return Problem(_why_not_stored(ref.name or "the buffer", name, jax), jax, v.site("value"), notes)


def _why_not_stored(buffer: str, layout: str, jax: JaxError) -> str:
    start = f"A value in {layout} cannot be stored to {buffer}"
    text = jax.message
    if "transposed" in text or "stride" in text or "Vectorized" in text:
        return (
            f"{start}: the elements that a thread holds together do not lie together there. A value in a transposed "
            f"layout is stored through a transposed view, {buffer}.T[...] = x; any other is cast first."
        )
    if text.startswith(("WGStrided", "WGSplat")):
        return (
            f"{start}: the buffer is tiled, and takes values that are laid out in tiles. Cast it, "
            "plgpu.layout_cast(x, plgpu.Layout.WGMMA), or compute from values that were loaded so."
        )
    if "bank conflicts" in text:
        return (
            f"{start} quickly: threads would meet in the same memory banks. Give the buffer transforms that fit the "
            "layout (plgpu.TilingTransform, plgpu.SwizzleTransform), or allow a slow store: plgpu.store(ref, x, "
            "optimized=False)."
        )
    if "GMEM" in text:
        return (
            f"{start} quickly: global memory is written by whole sectors of 32 bytes. Store it to shared memory and "
            "copy from there, or allow a slow store: plgpu.store(ref, x, optimized=False)."
        )
    return f"{start}."


# -- carries ---------------------------------------------------------------------------------------


def carried(v: CallView) -> Answer:
    """Under Lane semantics, a carry whose layout changes from round to round."""
    init, new, flow = v.value("init"), v.value("new"), flow_of(v)
    shape = v.exact_shape(init.shape) if isinstance(init, Array) else None
    if flow is None or shape is None or not shape:
        return None
    first, then = flow.layout(init), flow.layout(new)
    before, after = as_layout(first, shape), as_layout(then, shape)
    if before is None or after is None or before == after:
        return None
    shown = [k.name if isinstance(k, Given) else "no layout yet (one value repeated)" for k in (first, then)]
    text = (
        f"The loop starts its carry with {shown[0]} and goes on with {shown[1]}: under Lane semantics a carry keeps "
        f"its register layout. Start with the layout of the rounds: plgpu.layout_cast(init, {_to_write(after, then)})."
    )
    notes = tuple(Note(k.site, f"{k.name} comes from here") for k in (first, then) if isinstance(k, Given))
    return Problem(text, _carry_error(v, before, after), None, notes)


def _to_write(layout: RegisterLayout, known: object) -> str:
    if isinstance(known, Given) and known.name.startswith("plgpu."):
        return known.name
    if isinstance(layout, Strided):
        return f"plgpu.Layout.WG_STRIDED({layout.shape}, {layout.vec})"
    return f"plgpu.Layout.{layout.name}"


def _carry_error(v: CallView, before: RegisterLayout, after: RegisterLayout) -> JaxError:
    if v.value("counts") is True:
        return JaxError("ValueError", f"(PyTreeDef([CustomNode(FragmentedArray[({jax_repr(after, v.version)}")
    return JaxError("ValueError", "…")


# -- how values are loaded -------------------------------------------------------------------------


def array_index(v: CallView) -> Answer:
    """A load or a store at an array of positions."""
    ref = reference(v)
    if ref is None or v.fact.launch is None:
        return None
    for view in ref.views:
        items = view.items if isinstance(view, Indexed) and isinstance(view.items, tuple) else ()
        found = next((i for i in items if isinstance(i, Gather)), None)
        indices = found.indices if found is not None else None
        if isinstance(indices, Array) and isinstance(indices.shape, tuple) and indices.shape:
            what = "loaded" if v.fact.api in LOADS else "stored"
            name = ref.name or "the reference"
            text = (
                f"{name} is indexed by an array of shape {show_shape(indices.shape)}: a kernel has no gather or "
                f"scatter through registers. Rows are {what} one by one, in a loop with a scalar index, or copied "
                "together by TMA on Blackwell: plgpu.copy_gmem_to_smem(ref.at[ids], buffer, barrier)."
            )
            return Problem(text, JaxError("NotImplementedError", "int_indexer_shape non-empty"), v.site("idx"))
    return None


def swizzle_of_row(v: CallView) -> Answer:
    """`plgpu.find_swizzle` of a row that no swizzle divides."""
    bits, what = v.exact(v.value("minor_dim_bits")), v.value("what")
    if bits is None or not isinstance(what, str):
        return None
    jax = find_swizzle(bits, what)
    if not isinstance(jax, JaxError):
        return None
    of = f" of {what}" if what else ""
    text = (
        f"A row{of} has {bits} bits, {bits / 8:g} bytes: swizzles permute units of 16 bytes. Pad the minor dimension "
        f"to {-(-bits // 128) * 16} bytes or a multiple of 32, 64 or 128."
    )
    return Problem(text, jax, v.site("minor_dim_bits"))


RULES = (
    Rule(
        "array-index",
        "References are loaded and stored at scalars and slices.",
        ("ref.get", "load", "ref.set", "store"),
        30,
        array_index,
        f"{LOWERING}, _handle_transforms",
        "A load or store of registers reads a box of memory. Rows that an array of numbers picks are elsewhere for "
        "each thread: only TMA on Blackwell gathers them, in a copy.",
    ),
    Rule(
        "swizzle-of-row",
        "A row that a swizzle is looked for is a multiple of 16 bytes.",
        ("find_swizzle",),
        10,
        swizzle_of_row,
        "jax/_src/pallas/mosaic_gpu/helpers.py, find_swizzle",
        "`plgpu.find_swizzle` gives the widest swizzle that a row of so many bits takes: 128, 64 or 32 bytes, or 16, "
        "which stands for none. Rows that are no multiple of 16 bytes cannot be copied by TMA at all: pad them.",
    ),
    Rule(
        "store-layout",
        "Under Lane semantics a value is stored in a layout that the buffer takes.",
        STORES,
        130,
        stored,
        f"{LOWERING}, _swap_lowering_rule; {FRAGMENTED}, FragmentedArray.store_tiled, store_untiled",
        "Each thread writes the elements that it holds together with one instruction, so they lie together in the "
        "buffer. A tiled buffer takes values in tiles; a transposed layout goes to a transposed view, `ref.T`; an "
        "optimized store does not meet itself in the banks of shared memory, and fills the sectors of global memory.",
        semantics=Semantics.LANE,
    ),
    Rule(
        "carry-layout",
        "Under Lane semantics the carry of a loop keeps its register layout.",
        ("carry",),
        10,
        carried,
        f"{LOWERING}, _lower_jaxpr_to_for_loop, _while_lowering_rule",
        "The registers of a carry are those that the loop starts with. A constant (`jnp.zeros`) has one register for "
        "all elements; what a round adds to it is spread over many. Cast what the loop starts with to the layout of "
        "the rounds: `plgpu.layout_cast(jnp.zeros(shape, dtype), layout)`.",
        semantics=Semantics.LANE,
    ),
)
