"""Rules about operations on values inside kernels: narrow elements, iota, selection, loops, printing."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain.array import Array, Operation
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Value
from ..domain.target import Semantics
from .references import cast_at_once
from .rule import Answer, Problem, Rule
from .view import CallView, show_array

LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
FRAGMENTED = "jax/experimental/mosaic/gpu/fragmented_array.py"
ARITHMETIC = tuple(
    f"jax.{name}"
    for name in [
        "numpy.add",
        "numpy.subtract",
        "numpy.multiply",
        "numpy.maximum",
        "numpy.minimum",
        "numpy.negative",
        "numpy.equal",
        "numpy.not_equal",
        "numpy.less",
        "numpy.less_equal",
        "numpy.greater",
        "numpy.greater_equal",
        "lax.add",
        "lax.sub",
        "lax.mul",
        "lax.max",
        "lax.min",
        "lax.neg",
        "lax.eq",
        "lax.ne",
        "lax.lt",
        "lax.le",
        "lax.gt",
        "lax.ge",
    ]
)
_NARROW = JaxError(
    "NotImplementedError",
    "Pointwise operations on 8-bit types are unsupported (except bitwise operations). Upcast to a 16- or 32-bit type "
    "before performing the operation.",
)


def _is_narrow(x: Value) -> bool:
    if not isinstance(x, Array) or not isinstance(x.dtype, DType):
        return False
    return x.dtype.bits == 8 and x.dtype.family != "bool"


def _narrow(operands: dict[str, Value] | object) -> Array | None:
    values = list(operands.values()) if isinstance(operands, dict) else []
    arrays = [x for x in values if isinstance(x, Array)]
    return arrays[0] if arrays and all(_is_narrow(x) for x in arrays) else None


def _told(x: Array, name: str) -> str:
    function = name.rpartition(".")[2]
    return (
        f"{function} of {show_array(x.shape, x.dtype)}: elements of 8 bits are moved, converted and combined bit by "
        "bit, not computed with. Convert first, .astype(jnp.float32) say, and back."
    )


def narrow_lane(v: CallView) -> Answer:
    """Under Lane semantics, arithmetic on elements of 8 bits."""
    x = _narrow(dict(v.fact.operands))
    if x is None or v.fact.launch is None or v.fact.launch.warp:
        return None
    return Problem(_told(x, v.fact.api), _NARROW)


def narrow_used(v: CallView) -> Answer:
    """Under Warpgroup semantics, arithmetic on elements of 8 bits whose result is stored."""
    for operation in _ancestors(v.value("value")):
        x = _narrow(dict(operation.operands)) if operation.name in ARITHMETIC else None
        if x is not None and x.shape != ():
            return Problem(_told(x, operation.name), _NARROW, operation.site)
    return None


def _ancestors(x: Value, limit: int = 64) -> Iterator[Operation]:
    """The operations that a value comes from, the last first."""
    stack, seen = [x], set[int]()
    while stack and len(seen) < limit:
        y = stack.pop()
        by = y.by if isinstance(y, Array) else None
        if by is None or id(by) in seen:
            continue
        seen.add(id(by))
        yield by
        stack.extend(by.operands.values())


def iota(v: CallView) -> Answer:
    """Under Lane semantics, an iota that is not given a layout at once."""
    if v.fact.launch is None or v.value("layout") is not None or cast_at_once(v):
        return None
    out = v.fact.result
    if not isinstance(out, Array) or not isinstance(out.shape, tuple) or out.shape == ():
        return None
    jax = JaxError(
        "RuntimeError",
        "Failed to infer the output layout of the iota. Please apply plgpu.layout_cast to its output right after its "
        "creation.",
    )
    text = (
        "Under Lane semantics an iota has no register layout of its own: name one at once, "
        "plgpu.broadcasted_iota(dtype, shape, dimension, layout=plgpu.Layout.WGMMA), or plgpu.layout_cast it."
    )
    return Problem(text, jax)


def selection(v: CallView) -> Answer:
    """`lax.select_n` among other than two values."""
    cases = v.value("cases")
    if v.fact.launch is None or v.fact.launch.warp or type(cases) is not tuple or len(cases) == 2:
        return None
    if not all(isinstance(x, Array) for x in (v.value("which"), *cases)):
        return None
    jax = JaxError("NotImplementedError", f"Mosaic GPU lowering only supports select_n with 2 cases, got {len(cases)}")
    return Problem(f"select_n chooses among {len(cases)} values; a kernel can among two: chain jnp.where.", jax)


def printed(v: CallView) -> Answer:
    """`pl.debug_print` of several values, an array among them."""
    args = v.value("args")
    if v.fact.launch is None or type(args) is not tuple or len(args) < 2 or v.fact.launch.warp:
        return None
    array = next((x for x in args if isinstance(x, Array) and isinstance(x.shape, tuple) and x.shape != ()), None)
    if array is None:
        return None
    jax = JaxError(
        "NotImplementedError",
        "debug_print only supports printing of scalar values, or a single array value when using the Mosaic GPU "
        "backend.",
    )
    text = f"debug_print prints scalars, or one array alone: print {show_array(array.shape, array.dtype)} by itself."
    return Problem(text, jax)


def reversed_scan(v: CallView) -> Answer:
    """A scan from the end."""
    if v.value("reverse") is not True or v.fact.launch is None:
        return None
    text = "A scan in a kernel runs forwards: count down in its body (n - 1 - i)."
    return Problem(text, JaxError("NotImplementedError", ""), v.site("reverse"))


# -- code for one warp -----------------------------------------------------------------------------


def trips(v: CallView) -> int | None:
    """How often a loop of known bounds runs, where that is more than not at all."""
    if v.fact.api == "jax.lax.scan":
        n = v.exact(v.value("length")) if v.value("xs") is None else None
    else:
        low, high = v.exact(v.value("lower")), v.exact(v.value("upper"))
        step = v.exact(v.value("step")) if v.fact.api == "pl.loop" else 1
        n = -((low - high) // step) if low is not None and high is not None and step else None
    return n if n is not None and n > 0 else None


def unrolled(v: CallView) -> Answer:
    """A loop whose unroll count leaves rounds over."""
    n, unroll = trips(v), v.exact(v.value("unroll"))
    if v.fact.launch is None or n is None or unroll is None or unroll <= 0 or n % unroll == 0:
        return None
    best = max(d for d in range(1, unroll) if n % d == 0)
    text = f"{n} rounds, {unroll} at a time, leave {n % unroll} over: unroll={best} divides them."
    jax = JaxError("NotImplementedError", f"``unroll`` must divide ``length``, got unroll={unroll} and length={n}")
    return Problem(text, jax, v.site("unroll"))


def warp_load(v: CallView) -> Answer:
    """A load of more than one element in code for one warp."""
    out = v.fact.result
    if v.fact.launch is None or not v.fact.launch.warp or not isinstance(out, Array):
        return None
    if not isinstance(out.shape, tuple) or out.shape == ():
        return None
    jax = JaxError("ValueError", "Can only load scalars in warp-level code.")
    text = (
        f"{show_array(out.shape, out.dtype)} is loaded in code for a single warp (pl.core_map over a plgpu.WarpMesh): "
        "arrays belong to a whole warpgroup. Load scalars, ref[i], or move this out of the warp's code."
    )
    return Problem(text, jax)


RULES = (
    Rule(
        "narrow-arithmetic-lane",
        "Under Lane semantics elements of 8 bits are not computed with.",
        ARITHMETIC,
        20,
        narrow_lane,
        f"{FRAGMENTED}, FragmentedArray._pointwise",
        "There are no instructions for arithmetic on 8-bit integers and floats in registers, but for bitwise ones. "
        "Convert to 16 or 32 bits, compute, and convert back.",
        semantics=Semantics.LANE,
    ),
    Rule(
        "narrow-arithmetic",
        "Under Warpgroup semantics elements of 8 bits that are stored were not computed with.",
        ("ref.set", "store"),
        50,
        narrow_used,
        f"{FRAGMENTED}, FragmentedArray._pointwise",
        "There are no instructions for arithmetic on 8-bit integers and floats in registers, but for bitwise ones. "
        "Convert to 16 or 32 bits, compute, and convert back. Values that nothing uses JAX drops before it notices.",
        semantics=Semantics.WARPGROUP,
    ),
    Rule(
        "iota-layout",
        "Under Lane semantics an iota is given a register layout.",
        ("jax.lax.broadcasted_iota", "jax.numpy.arange", "broadcasted_iota"),
        20,
        iota,
        f"{LOWERING}, _iota_lowering",
        "Each lane makes its own numbers, and has to know which: under Lane semantics the layout of an iota is named, "
        "right where it is made.",
        semantics=Semantics.LANE,
    ),
    Rule(
        "select-two",
        "A kernel selects between two values.",
        ("jax.lax.select_n",),
        20,
        selection,
        f"{LOWERING}, _select_n_lowering_rule",
        "`lax.select_n` takes any number of cases; the lowering two, as `jnp.where` has.",
    ),
    Rule(
        "print-one-array",
        "`pl.debug_print` prints scalars, or one array.",
        ("pl.debug_print",),
        20,
        printed,
        f"{LOWERING}, _debug_print_lowering_rule",
        "The lanes print the elements of an array that they hold; several arrays in one line have no order.",
    ),
    Rule(
        "scan-forwards",
        "A scan in a kernel runs forwards.",
        ("jax.lax.scan",),
        20,
        reversed_scan,
        f"{LOWERING}, _scan_lowering_rule",
        "Loops are lowered for counting up only. JAX says only `NotImplementedError`.",
    ),
    Rule(
        "unroll-divides",
        "An unroll count divides the number of rounds.",
        ("jax.lax.fori_loop", "jax.lax.scan", "pl.loop"),
        30,
        unrolled,
        f"{LOWERING}, _scan_lowering_rule",
        "A loop of known bounds is unrolled in whole groups of rounds; what would be left over has no code of its own.",
    ),
    Rule(
        "warp-load",
        "Code for a single warp loads scalars.",
        ("ref.get", "load"),
        35,
        warp_load,
        f"{LOWERING}, _get_lowering_rule",
        "An array is spread over the 128 threads of a warpgroup; the 32 of a warp do not hold it.",
    ),
)
