"""Rules about register layouts of a kernel's values: each looks at what one call is given."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..domain.array import Array, LayoutName
from ..domain.finding import JaxError
from ..domain.layout_table import MEMBERS, instantiate
from ..domain.target import Semantics
from ..source.span import Site
from .layouts import lane, warpgroup
from .layouts.flow import Flow
from .layouts.known import Kind, Refusal
from .layouts.names import FOLLOWED
from .layouts.sharing import shared_with, some_layout
from .rule import Answer, Note, Problem, Rule, Unsure
from .store_case import plain_arguments
from .transfer.behaviour import behaviour
from .view import CallView

INFERENCE = "jax/experimental/mosaic/gpu/layout_inference.py"
FRAGMENTED = "jax/experimental/mosaic/gpu/fragmented_array.py"
CORE = "jax/_src/pallas/mosaic_gpu/core.py"
#: Calls that make their operands live: what only dead values would need, JAX drops under Warpgroup semantics.
USES = ("ref.set", "store", "async_store_smem", "async_store_tmem", "print_layout", "debug_print", "pl.debug_print")
#: Those, and what decides on a layout under Lane semantics, which lower what is traced whether it is used or not.
CALLS = (*USES, *FOLLOWED)
#: Calls that name a layout.
NAMING = ("load", "layout_cast", "broadcasted_iota", "async_load_tmem", "Layout.to_mgpu")


def flow_of(v: CallView) -> Flow | None:
    """The layouts of the kernel's values, as far as the path of this call knows its numbers; shared by its calls."""
    semantics, launch = v.semantics, v.fact.launch
    if semantics is None or launch is None or launch.warp:
        return None
    rules = {Semantics.LANE: lane.rule_for, Semantics.WARPGROUP: warpgroup.rule_for}[semantics]
    key = ("flow", id(v.fact.facts), id(v.fact.operations), semantics, v.target)
    if key not in v.shared:
        v.shared[key] = Flow(v, semantics, rules)
    return v.shared[key]


def _found(v: CallView) -> list[Refusal]:
    """What is refused of this call and of the operations that it uses.

    Lane semantics lower them one after the other, and stop at the first; the solver looks at all of them together.
    """
    flow = flow_of(v)
    if flow is None or (flow.semantics is Semantics.WARPGROUP and v.fact.api not in USES) or _is_sent(v):
        return []
    found = flow.found(v.fact)
    return found[:1] if flow.semantics is Semantics.LANE else found


def _is_sent(v: CallView) -> bool:
    """Whether a cast is made for an asynchronous store, which tells of it together with what would be stored."""
    made = v.fact.result.by if v.fact.api == "layout_cast" and isinstance(v.fact.result, Array) else None
    sources = (o.operands.get("src") for o in v.fact.operations if o.name == "async_store_smem")
    return made is not None and any(isinstance(x, Array) and x.by is made for x in sources)


def _refused(kind: Kind) -> Callable[[CallView], Answer]:
    def check(v: CallView) -> Answer:
        found = next((r for r in v.cached("refused", lambda: _found(v)) if r.kind is kind), None)
        return None if found is None else Problem(found.message, found.jax, found.site, found.notes)

    return check


def no_layout(v: CallView) -> Answer:
    """A stored value that the layouts JAX tries do not fit."""
    value = v.value("value")
    if v.semantics is not Semantics.WARPGROUP or v.fact.launch is None or v.fact.launch.warp:
        return None
    if not isinstance(value, Array):
        return None
    shared = shared_with(v, value, v.fact.operations)
    if shared is None:
        return None
    found = some_layout(v, shared)
    if found is not None:
        return found if isinstance(found, Unsure) else None
    loads = tuple(Note(t.site, "loaded here") for t in shared.loads if t.site != v.fact.site)
    short = math.prod(shared.shape) % 128 != 0 and len(shared.shape) == 1
    cause = value.shape[0] if short and isinstance(value.shape, tuple) else None
    return Problem(_nothing_fits(shared.shape), behaviour(v.version).unsatisfiable, v.site("value"), loads, cause)


def _nothing_fits(shape: tuple[int, ...]) -> str:
    count = math.prod(shape)
    start = f"No register layout fits this value of shape {shape}. "
    if count % 128:
        return (
            f"{start}Under Warpgroup semantics the 128 threads of a warpgroup share its elements, and {count} is no "
            "multiple of 128: load 128 elements or a multiple at a time (pad the buffer), or use Lane semantics where "
            "a single thread does the work."
        )
    return (
        f"{start}A buffer with a tiling is loaded and stored in tiles of 64x8 elements (wgmma's layout): let the block "
        "have a multiple of 64 rows, or leave the buffer's transforms out."
    )


def arguments(v: CallView) -> Answer:
    """The arguments of a parametric layout."""
    name = v.value("layout") if v.value("new_layout") is None else v.value("new_layout")
    if not isinstance(name, LayoutName):
        return None
    values = plain_arguments(v, name)
    if isinstance(values, Unsure):
        return values
    args, options = values
    if name.name in _UNPARAMETRIC and (args or options):
        jax = JaxError("ValueError", f"Can't instantiate Layout.{name.name} with arguments.")
        text = f"plgpu.Layout.{name.name} is one layout and takes no arguments: write it without the call."
        return Problem(text, jax, _at(v))
    made = instantiate(name.name, v.version, args, options)
    if isinstance(made, JaxError) and made.type == "AttributeError" and name.name in MEMBERS:
        text = f"plgpu.Layout.{name.name} came with JAX {MEMBERS[name.name].since}; this is {v.version}."
        return Problem(text, made, _at(v))
    if isinstance(made, JaxError) and made.type != "AttributeError":
        return Problem(_explained(name.name, made), made, _at(v))
    if name.reduced and name.name in ("WG_STRIDED", "WG_SPLAT"):
        jax = JaxError("ValueError", "Only TiledLayout supports reductions.")
        text = f"A plgpu.Layout.{name.name} has no tiles and cannot be reduced; name the layout of the smaller array."
        return Problem(text, jax, _at(v))
    return None


_UNPARAMETRIC = frozenset(
    ["WGMMA", "WGMMA_8BIT", "WGMMA_UPCAST_2X", "WGMMA_UPCAST_4X", "WGMMA_TRANSPOSED", "TCGEN05", "TCGEN05_TRANSPOSED"]
)


def _at(v: CallView) -> Site | None:
    return v.site("new_layout") or v.site("layout") or v.site("self")


def _explained(name: str, made: JaxError) -> str:
    if name == "WG_STRIDED":
        return (
            "plgpu.Layout.WG_STRIDED deals the array's elements out to 128 threads, vec_size at a time: their number "
            "must be a multiple of 128 * vec_size."
        )
    return f"plgpu.Layout.{name} cannot be made of these arguments: {made.message}."


RULES = (
    Rule(
        "layout-arguments",
        "A register layout is made of arguments that it can have.",
        NAMING,
        5,
        arguments,
        f"{CORE}, Layout.to_mgpu",
        "Most layouts are constants. The parametric ones describe how an array of a certain shape is dealt out to the "
        "threads: WG_STRIDED needs 128 * vec_size elements or a multiple, the TCGEN05_M64 ones a multiple of 16 "
        "columns, the MMA ones 1, 2 or 4 warps. Only layouts made of tiles can be reduced.",
    ),
    Rule(
        "layout-fits-shape",
        "A value is made of whole tiles of the register layout that it is given.",
        CALLS,
        115,
        _refused(Kind.SHAPE),
        f"{INFERENCE}, _layout_cast_constraint_system; {FRAGMENTED}, TiledLayout.registers_shape",
        "A register layout spreads tiles of one size over the threads of the warpgroup: 64x8 elements in WGMMA, 128x8 "
        "in TCGEN05. An array of that layout is made of whole tiles. Under Lane semantics a tiled buffer is loaded as "
        "WGMMA unless the load names another layout. Under Warpgroup semantics JAX refuses only if the value is used.",
        warpgroup_order=215,
    ),
    Rule(
        "layouts-agree",
        "The operands of an elementwise operation are in one register layout.",
        CALLS,
        117,
        _refused(Kind.MIXED),
        f"{INFERENCE}, derive_relayout_constraints; {FRAGMENTED}, FragmentedArray._pointwise",
        "Each thread computes on the elements that it holds. In two layouts a thread holds different elements of the "
        "two operands; JAX moves none by itself. Constants are no problem: they have no layout until they are used.",
        warpgroup_order=217,
    ),
    Rule(
        "register-slice",
        "A slice of a value starts and ends at whole tiles of its register layout.",
        CALLS,
        118,
        _refused(Kind.SLICE),
        f"{INFERENCE}, _extract_strided_slice_constraint_system; {FRAGMENTED}, FragmentedArray.__getitem__",
        "A slice takes registers, and moves no element from one thread to another: it is made of whole tiles, and an "
        "array without tiles has none. Slicing the buffer in memory (`ref.at[...]`, `ref[...]`) has no such limit "
        "beyond the buffer's own tiling.",
        warpgroup_order=218,
    ),
    Rule(
        "load-layout",
        "A load gives a register layout that the buffer has a fast path for.",
        CALLS,
        119,
        _refused(Kind.TRANSFER),
        f"{INFERENCE}, IsTransferableSmemRegisters; {FRAGMENTED}, plan_tiled_transfer, plan_gmem_transfer",
        "The threads of a warp load together. Where tiling and swizzle do not fit the layout, several of them would "
        "want the same bank of shared memory; from global memory they would read parts of sectors. JAX refuses such a "
        "load unless it is told `optimized=False`. What no option mends is a vector of a thread whose elements do not "
        "lie together.",
        warpgroup_order=219,
    ),
    Rule(
        "layout-conversion",
        "A value is cast to a layout that JAX can move its registers to.",
        CALLS,
        120,
        _refused(Kind.CONVERSION),
        f"{INFERENCE}, _layout_cast_constraint_system; {FRAGMENTED}, FragmentedArray.to_layout",
        "`plgpu.layout_cast` exchanges elements between the threads of a warp, for the few pairs of layouts that this "
        "is implemented for: WGMMA and TCGEN05 with their transposed forms, the upcast forms with WGMMA, and the "
        "native layouts of tensor memory with each other. Only a constant can be cast to any layout.",
        warpgroup_order=220,
    ),
    Rule(
        "reduced-axes",
        "A reduction removes axes that its operand's layout can lose.",
        CALLS,
        121,
        _refused(Kind.AXES),
        f"{FRAGMENTED}, FragmentedArray.reduce; jax/_src/pallas/mosaic_gpu/lowering.py, _reduce_lowering_rule; "
        f"{INFERENCE}, reduce_reshape_expression",
        "An array made of tiles loses one axis at a time: the threads that share a row or a column exchange their "
        "parts. An array that is dealt out in turns is reduced as a whole, under Lane semantics. Chain reductions over "
        "single axes.",
        warpgroup_order=221,
    ),
    Rule(
        "broadcast-layout",
        "Under Lane semantics a broadcast has one layout to go to.",
        FOLLOWED,
        122,
        _refused(Kind.BROADCAST),
        "jax/_src/pallas/mosaic_gpu/lowering.py, _broadcast_in_dim_lowering_rule",
        "A row or column of a tile is broadcast back to a whole tile. Lane semantics look for the one layout from "
        "which the operand may have been reduced, for the new shape as it stands: an axis of one element, as "
        "`keepdims=True` and `x[:, None]` make it, fits none. Broadcast to the full shape at once, and name the layout "
        "with `plgpu.layout_cast` where there are several.",
        semantics=Semantics.LANE,
    ),
    Rule(
        "concatenated-layouts",
        "Concatenated arrays are in one layout that can be concatenated.",
        CALLS,
        123,
        _refused(Kind.PARTS),
        f"{FRAGMENTED}, concatenate; {INFERENCE}, _vector_concat_constraint_system",
        "Each thread puts its registers of the arrays one after the other. That gives the registers of the joined "
        "array where all are made of the same tiles; where arrays are dealt out in turns, only along the first axis "
        "and under Lane semantics; of a constant never.",
        warpgroup_order=223,
    ),
    Rule(
        "register-layout",
        "A loaded and stored value has a register layout that fits its buffers.",
        ("ref.set", "store"),
        60,
        no_layout,
        f"{INFERENCE}, find_assignments_for",
        "Under Warpgroup semantics JAX picks a layout for every value. Where the program names none, it tries few: a "
        "strided one for plain buffers, whose elements are a multiple of 128, and the layouts of wgmma and tcgen05 for "
        "tiled ones, whose blocks are multiples of 64x8 elements. Where none of them serves every load and store of "
        "the value, it gives up.",
        semantics=Semantics.WARPGROUP,
    ),
)
