"""The rules of `plgpu.wgmma`: the first thing that JAX refuses, by the model in `mma/`."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain.array import Array
from ..domain.finding import JaxError
from ..domain.python import Int
from ..domain.ref import Ref
from ..domain.target import JaxVersion, Semantics
from .mma.case import Open, Operand, Refused, WgmmaCase
from .mma.operands import operand
from .mma.wgmma import wgmma_outcome
from .mma.wording import called, declaration, declared, odd_one, swizzle_of
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView, show_shape
from .wgmma_messages import TEXTS

API = ("wgmma",)
PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
_WGMMA = "jax/experimental/mosaic/gpu/wgmma.py, wgmma"
_SOLVER = "jax/experimental/mosaic/gpu/layout_inference.py, _wgmma_constraint_system"


def _case(v: CallView) -> WgmmaCase | Unsure:
    semantics = v.semantics
    operands = {name: operand(v, name) for name in ("acc", "a", "b")}
    for x in operands.values():
        if isinstance(x, Unsure):
            return x
    acc, a, b = (x for x in operands.values() if isinstance(x, Operand))
    if semantics is None or acc.space != "acc":
        return Unsure("the lowering semantics or the accumulator are not known")
    if any(len(x.shape) != 2 for x in (acc, a, b)) or b.space == "regs" or a.space == "tmem" or b.space == "tmem":
        return Unsure("these operands have no model")
    return WgmmaCase(acc.shape, acc.dtype, a, b, semantics, v.version)


def _outcome(v: CallView) -> tuple[WgmmaCase, Refused] | Unsure | None:
    case = _case(v)
    if isinstance(case, Unsure):
        return case
    found = wgmma_outcome(case)
    if isinstance(found, Open):
        return Unsure(found.why)
    return None if found is None else (case, found)


def is_accepted(v: CallView) -> bool:
    """Whether JAX certainly lowers the call."""
    return v.cached("wgmma", lambda: _outcome(v)) is None


def _refused(*kinds: str):
    """A check that reports some kinds of refusal."""

    def check(v: CallView) -> Answer:
        found = v.cached("wgmma", lambda: _outcome(v))
        if not isinstance(found, tuple):
            return found
        case, refused = found
        if refused.kind not in kinds or _told_by_the_allocation(refused):
            return None
        text = TEXTS[refused.kind](v, case, refused)
        if refused.kind == "swizzles":  # the call is right: one buffer is not declared like the other
            odd = odd_one(case.a, case.b)
            return Problem(text, refused.jax, *declaration(v, odd, "transforms"), swizzle_of(v, odd))
        others = tuple(x for x in ("acc", "a", "b") if x == refused.operand) or ("a", "b")
        return Problem(text, refused.jax, v.site(refused.operand), declared(v, *others))

    return check


def _told_by_the_allocation(refused: Refused) -> bool:
    """Under Lane semantics an accumulator's shape is checked where it is allocated."""
    return refused.jax.message.startswith("WGMMA requires")


def _shapes(v: CallView) -> Answer:
    """Shapes that certainly differ, those known only by name included."""
    exact = _refused("shape")(v)
    if not isinstance(exact, Unsure):
        return exact
    given = [x for name in ("acc", "a", "b") if isinstance(x := v.value(name), (Ref, Array))]
    shapes = [x.shape for x in given if isinstance(x.shape, tuple) and len(x.shape) == 2]
    if len(shapes) < 3:
        return exact
    (m, n), (m2, k), (k2, n2) = shapes
    for first, second, what, at in ((m, m2, "rows", "a"), (k, k2, "k", "b"), (n, n2, "columns", "b")):
        if not (isinstance(first, Int) and isinstance(second, Int)):
            continue
        if v.decide(conds.equal(first.dim, second.dim)) is False:
            shown = ", ".join(f"{called(v, x)} {show_shape(s)}" for x, s in zip(("acc", "a", "b"), shapes, strict=True))
            text = f"The shapes do not fit each other ({what}): {shown}."
            jax = JaxError("ValueError", "Incompatible shapes for matrix multiplication: ")
            return Problem(text, jax, v.site(at), declared(v, "acc", at))
    return exact


def _rule(
    id: str,
    summary: str,
    order: int,
    kinds: tuple[str, ...],
    source: str,
    text: str,
    *,
    since: JaxVersion | None = None,
    semantics: Semantics | None = None,
) -> Rule:
    return Rule(id, summary, API, order, _refused(*kinds), source, text, since, semantics=semantics)


_TILES = (
    "The tensor core reads shared memory through a descriptor of *atoms*: 8 rows, each as wide as the swizzle (32, 64 "
    "or 128 bytes). `TilingTransform((8, 8 * swizzle // bits))` with `SwizzleTransform(swizzle)` lays a buffer out so. "
)

RULES = (
    Rule(
        "wgmma-shape",
        "The shapes of a `wgmma` fit each other.",
        API,
        10,
        _shapes,
        f"{PRIMITIVES}, wgmma",
        "`wgmma(acc, a, b)` adds the product of `a`, (m, k), and `b`, (k, n), to `acc`, (m, n). A right operand "
        "that is "
        "stored as (n, k) is passed transposed: `b.T`.",
    ),
    _rule(
        "wgmma-operand-types",
        "Both operands of a `wgmma` have one element type.",
        20,
        ("operand-types",),
        f"{PRIMITIVES}, wgmma",
        "The instruction has one type for both operands; only the two 8-bit floating point types, float8_e4m3fn and "
        "float8_e5m2, can be mixed, since JAX 0.11.",
    ),
    _rule(
        "wgmma-transforms",
        "Under Lane semantics the operands of a `wgmma` are tiled and swizzled.",
        30,
        ("transforms",),
        f"{PRIMITIVES}, _wgmma_lowering",
        _TILES + "Under Lane semantics nothing is done for you; under Warpgroup semantics buffers without transforms "
        "are given fitting ones.",
        semantics=Semantics.LANE,
    ),
    _rule(
        "wgmma-tiling",
        "The tiles of a `wgmma`'s operands are 8 rows as wide as the swizzle.",
        40,
        ("tiling",),
        f"{PRIMITIVES}, _wgmma_lowering; {_SOLVER}",
        _TILES + "Other tilings are refused: under Lane semantics with the tiling named, under Warpgroup semantics as "
        "a failure to infer layouts.",
    ),
    _rule(
        "wgmma-swizzle",
        "Both operands of a `wgmma` have the same swizzle.",
        50,
        ("swizzles", "one-swizzle"),
        f"{PRIMITIVES}, _wgmma_lowering; {_SOLVER}",
        "One instruction works with one swizzle. Take the widest that the rows of both operands can have.",
    ),
    _rule(
        "wgmma-element-type",
        "A `wgmma` multiplies 16-bit and 8-bit floats, float32 (as tf32) and 8-bit integers.",
        60,
        ("element-type",),
        f"{_WGMMA}; the verifier of mosaic_gpu.wgmma",
        "The tensor cores of Hopper have instructions for these types only. Cast before the data reaches shared "
        "memory, "
        "or load, cast and store.",
    ),
    _rule(
        "wgmma-accumulator",
        "The accumulator of a `wgmma` has a type that the operands' products are added up in.",
        70,
        ("accumulator-type",),
        f"{_WGMMA}; the verifier of mosaic_gpu.wgmma",
        "bfloat16 and float32 are accumulated in float32; float16 and 8-bit floats in float32 or float16; 8-bit "
        "integers in int32.",
    ),
    _rule(
        "wgmma-rows",
        "A `wgmma` multiplies a multiple of 64 rows.",
        80,
        ("rows",),
        f"{_WGMMA}; the verifier of mosaic_gpu.wgmma",
        "The four warps of a warpgroup hold 16 rows each of the accumulator: an instruction makes 64 rows.",
    ),
    _rule(
        "wgmma-memory-space",
        "A `wgmma` reads shared memory.",
        90,
        ("memory-space",),
        f"{PRIMITIVES}, _wgmma_lowering; {_SOLVER}",
        "The tensor core reads its operands through descriptors of shared memory (the left one can also come from "
        "registers). Copy them there: `plgpu.copy_gmem_to_smem`, or `plgpu.emit_pipeline`.",
    ),
    _rule(
        "wgmma-tile-shape",
        "Under Warpgroup semantics some tiling divides each operand of a `wgmma`.",
        100,
        ("no-tiling",),
        "jax/experimental/mosaic/gpu/layout_inference.py, mma_tiling_constraint",
        _TILES + "Where no such tiling divides the buffer, none can be inferred.",
        semantics=Semantics.WARPGROUP,
    ),
    _rule(
        "wgmma-columns",
        "A `wgmma` makes a multiple of 8 columns, at most 256.",
        110,
        ("columns",),
        f"{_WGMMA}; {_SOLVER}",
        "The instruction's n is 8, 16, ..., 256. Wider products are several `wgmma`s into parts of the accumulator, or "
        "several warpgroups' work.",
    ),
    _rule(
        "wgmma-depth",
        "The length of the contraction is a multiple of the swizzle's width.",
        120,
        ("depth",),
        _WGMMA,
        "Instructions are issued in groups as long as a swizzled row, `swizzle // bytes` elements of k. Take a "
        "narrower "
        "swizzle, or pad k with zeros.",
    ),
    _rule(
        "wgmma-transpose",
        "Only operands of 16-bit types are transposed by a `wgmma`.",
        130,
        ("transposed",),
        "jax/experimental/mosaic/gpu/wgmma.py, wgmma_m64",
        "For 16-bit types the instruction reads a matrix with either of its dimensions running fastest; for all others "
        "k has to: `a` is stored as (m, k) and `b` as (n, k), passed as `b.T`.",
    ),
)
