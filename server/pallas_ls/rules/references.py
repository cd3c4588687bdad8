"""Rules about loads from references and stores to them."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, Shape, Splat, element_count
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Int, Value
from ..domain.ref import Ds, Indexed, Position, Ref, Swizzle, Tiling
from ..domain.target import Semantics
from .rule import Answer, Note, Problem, Rule
from .view import CallView, show_array, show_shape

STORES = ("ref.set", "store", "async_store_tmem")
LOADS = ("ref.get", "load")
ATOMICS = ("atomic_add", "atomic_and", "atomic_max", "atomic_min", "atomic_or", "atomic_xor")
LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
_SWAP = "jax/_src/state/primitives.py, _swap_abstract_eval"
_ACC = "jax/_src/pallas/mosaic_gpu/primitives.py, _wgmma_accumulator_store_abstract_eval"
_LANE = f"{LOWERING}, _get_lowering_rule, _swap_lowering_rule"


def reference(v: CallView) -> Ref | None:
    """The part of a buffer that a load reads or a store writes."""
    names = {"ref.get": "source", "ref.set": "target", "load": "src", "store": "dst"}
    x = v.value(names.get(v.fact.api, "ref"))
    return x if isinstance(x, Ref) and x.type.kind in ("data", "acc") else None


def _shape_of(x: Value) -> Shape | None:
    if isinstance(x, Array):
        return x.shape
    return () if isinstance(x, (Int, float, bool)) else None


def _declared(ref: Ref) -> tuple[Note, ...]:
    made = ref.type.made
    if made is None:
        return ()
    where = made.args.get("shape", made.site)
    return (Note(where, f"{ref.name or 'the buffer'} is {show_array(ref.type.shape, ref.type.dtype)}"),)


def stored(v: CallView) -> Value:
    """The value that is stored, or combined with what is there."""
    return v.value("val" if v.fact.api.startswith("atomic_") else "value")


def stored_shape(v: CallView) -> Answer:
    """A value whose shape is not that of the part that it is stored to."""
    ref, value = reference(v), stored(v)
    shape = _shape_of(value)
    if ref is None or shape is None:
        return None
    if v.shapes_differ(shape, ref.shape) is not True or _is_refused(v, ref) or _is_loaded_from_refused(v, value):
        return None
    a, b = show_shape(shape), show_shape(ref.shape)
    if ref.type.kind == "acc":
        jax = JaxError("ValueError", f"Accumulator shape {b} does not match value shape {a}")
    else:
        jax = JaxError("ValueError", "Invalid shape for `swap`. Ref shape: ")
    name = ref.name or "the reference"
    text = f"A value of shape {a} is stored to {name}, of shape {b}: a store does not broadcast."
    if shape == ():
        text += f" Give it the shape: jnp.full({name}.shape, x, {name}.dtype)."
    elif isinstance(shape, tuple) and isinstance(ref.shape, tuple) and len(shape) == len(ref.shape):
        text += " Store to a part, ref[pl.ds(i, n)] = x, or broadcast the value."
    return Problem(text, jax, v.site("value") or v.site("val"), _declared(ref))


def _is_refused(v: CallView, ref: Ref) -> bool:
    """Whether a buffer of tensor memory cannot be: what repairs it may change its shape."""
    shape = v.exact_shape(ref.type.shape)
    return ref.type.space == "tmem" and (shape is None or len(shape) != 2 or shape[0] not in (64, 128))


def _is_loaded_from_refused(v: CallView, value: Value) -> bool:
    sources = value.by.operands.values() if isinstance(value, Array) and value.by is not None else ()
    return any(isinstance(x, Ref) and _is_refused(v, x) for x in sources)


def stored_dtype(v: CallView) -> Answer:
    """A value whose element type is not the reference's."""
    ref, value = reference(v), stored(v)
    if ref is None or not isinstance(value, Array) or value.weak:
        return None
    if not isinstance(value.dtype, DType) or not isinstance(ref.dtype, DType) or value.dtype == ref.dtype:
        return None
    if value.dtype.is_integer and ref.dtype.is_integer:
        return None  # integers are converted
    name = ref.name or "the reference"
    if ref.type.kind == "acc":
        jax = JaxError("ValueError", f"Accumulator dtype {ref.dtype} does not match value dtype {value.dtype}")
    else:
        text = f"Invalid dtype for `swap`. Ref dtype: {ref.dtype}. Value dtype: {value.dtype}."
        jax = JaxError("ValueError", text)
    return Problem(
        f"A {value.dtype} value is stored to {name}, which holds {ref.dtype}: a store does not convert. Cast first: "
        f".astype({name}.dtype).",
        jax,
        v.site("value") or v.site("val"),
        _declared(ref),
    )


def part_of_accumulator(v: CallView) -> Answer:
    """A store to a part of a wgmma accumulator."""
    ref = reference(v)
    if ref is None or ref.type.kind != "acc" or not ref.views:
        return None
    for view in ref.views:
        if not isinstance(view, Indexed) or not isinstance(view.items, tuple) or not isinstance(ref.type.shape, tuple):
            return None
        for item, extent in zip(view.items, ref.type.shape, strict=False):
            if is_one_position(item) or (isinstance(item, Ds) and _less(v, item, extent)):
                jax = JaxError(
                    "NotImplementedError",
                    "Non-trivial indexing on WGMMAAbstractAccumulatorRef is not supported for stores.",
                )
                name = ref.name or "the accumulator"
                text = f"An accumulator is stored to as a whole: {name}[...] = x."
                return Problem(text, jax, v.site("idx"), _declared(ref))
    return None


def is_one_position(item: object) -> bool:
    """Whether an axis is certainly indexed by one number (an index that is not known may be a slice)."""
    index = item.index if isinstance(item, Position) else None
    return isinstance(index, Int) or (isinstance(index, Array) and index.shape == ())


def _less(v: CallView, item: Ds, extent: Value) -> bool:
    if not isinstance(item.size, Int) or not isinstance(extent, Int):
        return False
    return v.decide(conds.equal(item.size.dim, extent.dim)) is False


# -- under Lane semantics --------------------------------------------------------------------------


def lane_tiles(v: CallView) -> Answer:
    """A load or store of a buffer that is tiled and not swizzled."""
    ref = reference(v)
    if ref is None or ref.type.space != "smem" or ref.type.kind != "data":
        return None
    transforms = ref.type.transforms
    if not isinstance(transforms, tuple) or not _whole_tiles(ref):
        return None
    if len(transforms) != 1 or not isinstance(transforms[0], Tiling):
        return None
    jax = JaxError("NotImplementedError", "Tiling without swizzle is not supported.")
    name = ref.name or "the buffer"
    text = (
        f"{name} is tiled but not swizzled: under Lane semantics it is loaded and stored with both transforms, or "
        "without any. Add the SwizzleTransform of the tile's width."
    )
    made = ref.type.made
    notes = (Note(made.args.get("transforms", made.site), f"{name}'s transforms"),) if made is not None else ()
    return Problem(text, jax, None, notes)


def _whole_tiles(ref: Ref) -> bool:
    """Whether no tiled dimension is indexed."""
    transforms = ref.type.transforms if isinstance(ref.type.transforms, tuple) else ()
    rank = len(ref.type.shape) if isinstance(ref.type.shape, tuple) else 0
    tiled = max((len(t.tiling) for t in transforms if isinstance(t, Tiling) and isinstance(t.tiling, tuple)), default=0)
    for view in ref.views:
        if not isinstance(view, Indexed) or not isinstance(view.items, tuple) or len(view.items) != rank:
            return False
        front = view.items[: rank - tiled]
        if not all(is_one_position(i) for i in front):
            return False
        if not all(isinstance(i, Ds) for i in view.items[rank - tiled :]):
            return False
        rank -= len(front)
    return len(ref.views) <= 1


def lane_elements(v: CallView) -> Answer:
    """A load, or a store of a constant, of a number of elements that 128 lanes cannot share."""
    ref = reference(v)
    if ref is None or ref.type.kind != "data" or ref.type.space not in ("smem", "gmem") or ref.type.transforms != ():
        return None
    if ref.shape == () or (v.fact.api in STORES and not is_splat(v.value("value"))):
        return None
    if v.fact.api in LOADS and (v.value("layout") is not None or cast_at_once(v)):
        return None
    count = element_count(ref.shape)
    if count is None or v.decide(conds.divides(128, count)) is not False:
        return None
    shown = dims.text(v.simplify(count))
    what = "loaded" if v.fact.api in LOADS else "stored"
    exact = v.simplify(count)
    best = f" {-(-exact // 128) * 128} would be." if isinstance(exact, int) else ""
    text = (
        f"{shown} elements are {what} by the 128 lanes of a warpgroup, which get the same number each: a multiple of "
        f"128.{best} A layout made for fewer (plgpu.load(ref, layout=...)) replicates them."
    )
    jax = JaxError("ValueError", "memref<… must have a number of elements that is a multiple of 128 (got …)")
    alone = ref.shape[0] if isinstance(ref.shape, tuple) and len(ref.shape) == 1 and not ref.views else None
    return Problem(text, jax, None, _declared(ref), alone)


def is_splat(x: Value) -> bool:
    """Whether a value is one number repeated."""
    return isinstance(x, Array) and isinstance(x.layout, Splat)


def cast_at_once(v: CallView) -> bool:
    """Whether what is loaded is given a layout right away, which changes how it is loaded."""
    site = v.fact.site
    for operation in v.fact.operations:
        x = operation.operands.get("x")
        if operation.name == "layout_cast" and isinstance(x, Array) and x.by is not None and x.by.site == site:
            return True
    return False


def lane_swizzled_rows(v: CallView) -> Answer:
    """A load of a buffer that is swizzled and not tiled."""
    ref = reference(v)
    transforms = ref.type.transforms if ref is not None else ()
    if ref is None or ref.views or ref.type.space != "smem" or not isinstance(transforms, tuple):
        return None
    if len(transforms) != 1 or not isinstance(transforms[0], Swizzle) or v.value("layout") is not None:
        return None
    if cast_at_once(v):
        return None
    jax = JaxError("NotImplementedError", "Unsupported swizzle transform with strided layout")
    name = ref.name or "the buffer"
    text = f"{name} is swizzled but not tiled: under Lane semantics it is loaded with both transforms, or without any."
    return Problem(text, jax, None, _declared(ref))


RULES = (
    Rule(
        "store-part-of-accumulator",
        "A wgmma accumulator is stored to as a whole.",
        ("ref.set",),
        10,
        part_of_accumulator,
        "jax/_src/pallas/mosaic_gpu/core.py, WGMMAAbstractAccumulatorRef._setitem",
        "The accumulator is a value in registers, that of `acc[...] = x` takes its place. To change a part, load it, "
        "compute with a mask (`jnp.where`), and store all of it.",
    ),
    Rule(
        "store-shape",
        "A stored value has the shape of the part that it is stored to.",
        (*STORES, *ATOMICS),
        20,
        stored_shape,
        f"{_SWAP}; {_ACC}",
        "A store does not broadcast, not even a scalar: `ref[...] = jnp.full(ref.shape, x, ref.dtype)`.",
    ),
    Rule(
        "store-dtype",
        "A stored value has the element type of the reference.",
        (*STORES, *ATOMICS),
        21,
        stored_dtype,
        f"{_SWAP}; {_ACC}",
        "A store does not convert, but for integers: cast with `.astype(ref.dtype)` before it.",
    ),
    Rule(
        "lane-tiled-access",
        "Under Lane semantics a tiled buffer that is loaded or stored is swizzled too.",
        ("ref.get", "load", "ref.set", "store"),
        40,
        lane_tiles,
        _LANE,
        "Loads and stores of tiled buffers are made for a swizzle, which lets all lanes reach different banks.",
        semantics=Semantics.LANE,
    ),
    Rule(
        "lane-swizzled-access",
        "Under Lane semantics a swizzled buffer that is loaded is tiled too.",
        LOADS,
        41,
        lane_swizzled_rows,
        _LANE,
        "Loads of swizzled buffers go tile by tile; without a tiling only a load with a layout "
        "(`plgpu.load(ref, layout=...)`) works.",
        semantics=Semantics.LANE,
    ),
    Rule(
        "lane-elements",
        "Under Lane semantics 128 lanes load and store a multiple of 128 elements.",
        ("ref.get", "load", "ref.set", "store"),
        42,
        lane_elements,
        "jax/experimental/mosaic/gpu/fragmented_array.py, WGStridedFragLayout.from_shaped_type",
        "An array without transforms is dealt out to the 128 lanes of the warpgroup evenly. Load a scalar "
        "(`ref[i]`), round the buffer up, or name a layout that replicates (`plgpu.load(ref, layout=...)`).",
        semantics=Semantics.LANE,
    ),
)
