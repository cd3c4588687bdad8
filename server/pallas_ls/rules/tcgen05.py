"""The rules of `plgpu.tcgen05_mma`: the first thing that JAX refuses, by the model in `mma/`."""

from __future__ import annotations

import math

from ..domain import cond as conds
from ..domain.finding import JaxError
from ..domain.python import Int
from ..domain.ref import Ref
from ..domain.target import Semantics
from .mma import operands as given
from .mma.case import MmaCase, Open, Operand, Refused
from .mma.tcgen05 import arrival_outcome, mma_outcome
from .mma.wording import called, declaration, declared, odd_one, swizzle_of
from .rule import Answer, Problem, Rule, Unsure
from .tcgen05_messages import TEXTS
from .view import CallView, show_shape

API = ("tcgen05_mma",)
PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
_CALL = f"{PRIMITIVES}, tcgen05_mma"
_EVAL = f"{PRIMITIVES}, _tcgen05_mma_abstract_eval"
_LANE = f"{PRIMITIVES}, _tcgen05_mma_lowering"
_MMA = "jax/experimental/mosaic/gpu/tcgen05.py, mma"
_SOLVER = "jax/experimental/mosaic/gpu/layout_inference.py, _tcgen05_mma_constraint_system"


def _case(v: CallView) -> MmaCase | Unsure:
    operands = {name: given.operand(v, name) for name in ("acc", "a", "b")}
    for x in operands.values():
        if isinstance(x, Unsure):
            return x
    acc, a, b = (x for x in operands.values() if isinstance(x, Operand))
    names, cluster, semantics, axis = given.names(v), given.cluster(v), v.semantics, v.value("collective_axis")
    if any(v.value(x) is not None for x in ("a_scale", "b_scale", "a_sparse_metadata")):
        return Unsure("scaled and sparse multiplications have no model")
    if any(len(x.shape) != 2 or x.space in ("regs", "acc") for x in (acc, a, b)):
        return Unsure("these operands have no model")
    if semantics is None or names is None or cluster is None or not (axis is None or isinstance(axis, str)):
        return Unsure("the kernel's cluster or the lowering semantics are not known")
    barrier = _barrier(v)
    if isinstance(barrier, Unsure):
        return barrier
    return MmaCase(acc, a, b, semantics, v.version, axis, names, cluster, *barrier)


def _barrier(v: CallView) -> tuple[int | None, bool] | Unsure:
    """How many barriers are passed, and whether they order the tensor core."""
    x = v.value("barrier")
    if x is None:
        return None, True
    if not isinstance(x, Ref) or x.type.kind != "barrier":
        return Unsure("the barrier is not known")
    shape, orders = v.exact_shape(x.shape), x.type.params.get("orders_tensor_core")
    if shape is None or not isinstance(orders, bool):
        return Unsure("the barrier is not known")
    return math.prod(shape), orders


def _outcome(v: CallView) -> tuple[MmaCase, Refused] | Unsure | None:
    case = _case(v)
    if isinstance(case, Unsure):
        return case
    found = mma_outcome(case)
    if isinstance(found, Open):
        return Unsure(found.why)
    return None if found is None else (case, found)


def is_accepted(v: CallView) -> bool:
    """Whether JAX certainly lowers the call."""
    return v.cached("tcgen05_mma", lambda: _outcome(v)) is None


#: Refusals of what the declaration of an operand lacks, and the keyword that it is said with: nothing at the call could
#: be written better.
DECLARED = {
    "barrier": "orders_tensor_core",
    "collective-memory": "collective",
    "accumulator-packing": "packed",
    "operand-packing": "packed",
    "swizzles": "transforms",
}


def _refused(*kinds: str):
    """A check that reports some kinds of refusal."""

    def check(v: CallView) -> Answer:
        found = v.cached("tcgen05_mma", lambda: _outcome(v))
        if not isinstance(found, tuple):
            return found
        case, refused = found
        if refused.kind not in kinds:
            return None
        text = TEXTS[refused.kind](v, case, refused)
        keyword = DECLARED.get(refused.kind)
        if keyword is not None:
            operand = odd_one(case.a, case.b) if refused.kind == "swizzles" else refused.operand
            cause = swizzle_of(v, operand) if refused.kind == "swizzles" else None
            return Problem(text, refused.jax, *declaration(v, operand, keyword), cause)
        return Problem(text, refused.jax, v.site(refused.operand), declared(v, refused.operand))

    return check


def _shapes(v: CallView) -> Answer:
    """Shapes that certainly differ, those known only by name included."""
    exact = _refused("shape")(v)
    refs = [v.value(name) for name in ("acc", "a", "b")]
    if not isinstance(exact, Unsure) or v.value("a_sparse_metadata") is not None:
        return exact
    shapes = [x.shape for x in refs if isinstance(x, Ref) and isinstance(x.shape, tuple) and len(x.shape) == 2]
    if len(shapes) < 3:
        return exact
    (m, n), (m2, k), (k2, n2) = shapes
    pairs = [(m, m2, "rows", "a", "Accumulator and LHS"), (k, k2, "k", "b", "LHS and RHS")]
    if v.value("collective_axis") is None:
        pairs.insert(1, (n, n2, "columns", "b", "Accumulator and RHS"))
    for first, second, what, at, which in pairs:
        if not (isinstance(first, Int) and isinstance(second, Int)):
            continue
        if v.decide(conds.equal(first.dim, second.dim)) is False:
            shown = ", ".join(f"{called(v, x)} {show_shape(s)}" for x, s in zip(("acc", "a", "b"), shapes, strict=True))
            jax = JaxError("ValueError", f"{which} have incompatible shapes.")
            return Problem(f"The shapes do not fit each other ({what}): {shown}.", jax, v.site(at), declared(v, at))
    return exact


def orders(v: CallView) -> Answer:
    """A barrier that does not order the tensor core."""
    exact = _refused("barrier")(v) if v.fact.api == "tcgen05_mma" else Unsure("not modelled")
    if not isinstance(exact, Unsure):
        return exact
    x = v.value("barrier")
    if x is None:
        return None
    if not isinstance(x, Ref) or x.type.kind not in ("barrier", "cluster_barrier"):
        return Unsure("the barrier is not known")
    known = x.type.params.get("orders_tensor_core")
    if not isinstance(known, bool):
        return Unsure("whether the barrier orders the tensor core is not known")
    if known:
        return None
    jax = JaxError("ValueError", "MMA barrier must have orders_tensor_core set to True.")
    text = (
        f"{called(v, 'barrier')} does not order the tensor core: what waits on it could read the accumulator too "
        "early. Declare it plgpu.Barrier(orders_tensor_core=True)."
    )
    return Problem(text, jax, *declaration(v, "barrier", DECLARED["barrier"]))


def arrival(*kinds: str):
    """A check that reports some kinds of refusal of a multiplication, and of a `tcgen05_commit_arrive`."""
    multiplied = _refused(*kinds)

    def check(v: CallView) -> Answer:
        if v.fact.api == "tcgen05_mma":
            return multiplied(v)
        names, cluster, axis, barrier = given.names(v), given.cluster(v), v.value("collective_axis"), _barrier(v)
        if (
            names is None
            or cluster is None
            or isinstance(barrier, Unsure)
            or not (axis is None or isinstance(axis, str))
        ):
            return Unsure("the cluster or the barrier is not known")
        found = arrival_outcome(axis, names, cluster, barrier[0], v.version)
        if found is None or found.kind not in kinds:
            return None
        nothing = Operand((), "float32")
        shown = MmaCase(nothing, nothing, nothing, Semantics.LANE, v.version, axis, names, cluster, barrier[0])
        return Problem(TEXTS[found.kind](v, shown, found), found.jax, v.site(found.operand), declared(v, found.operand))

    return check


def _rule(
    id: str,
    summary: str,
    order: int,
    kinds: tuple[str, ...],
    source: str,
    text: str,
    semantics: Semantics | None = None,
) -> Rule:
    return Rule(id, summary, API, order, _refused(*kinds), source, text, semantics=semantics)


_TILES = (
    "The tensor core reads shared memory through a descriptor of *atoms*: 8 rows, each as wide as the swizzle (32, 64 "
    "or 128 bytes). `TilingTransform((8, 8 * swizzle // bits))` with `SwizzleTransform(swizzle)` lays a buffer out so. "
)
_PACKING = (
    "Tensor memory has columns of 32 bits. An accumulator has one element in each, whatever its type "
    "(`packed=False`); an operand has as many as fit (`packed=True`)."
)

RULES = (
    Rule(
        "tcgen05-shape",
        "The shapes of a `tcgen05_mma` fit each other.",
        API,
        10,
        _shapes,
        _CALL,
        "`tcgen05_mma(acc, a, b)` multiplies `a`, (m, k), by `b`, (k, n), into `acc`, (m, n). With "
        "`collective_axis` two "
        "blocks work together: each brings its rows of `a` and half of the columns of `b`, so `acc` is (m, 2 * n).",
    ),
    _rule(
        "tcgen05-memory-space",
        "A `tcgen05_mma` accumulates in tensor memory and reads shared memory.",
        20,
        ("memory-space",),
        _EVAL,
        "The accumulator is a `plgpu.TMEM` buffer, the right operand a `plgpu.SMEM` one, the left operand either.",
    ),
    _rule(
        "tcgen05-collective-memory",
        "Tensor memory is allocated for as many blocks as multiply into it.",
        30,
        ("collective-memory",),
        f"{_EVAL}; jax/experimental/mosaic/gpu/dialect_lowering.py, check_collective",
        "A multiplication with `collective_axis` is done by two blocks, which allocate tensor memory together: "
        "`plgpu.TMEM(..., collective=True)`. Without it, tensor memory is one block's own.",
    ),
    Rule(
        "tcgen05-barrier",
        "A barrier that `tcgen05` signals orders the tensor core.",
        ("tcgen05_mma", "tcgen05_commit_arrive"),
        40,
        orders,
        f"{_EVAL}; _tcgen05_commit_arrive_abstract_eval",
        "The tensor core works on its own; only a barrier made with `orders_tensor_core=True` is signalled by it, and "
        "makes what waits see its results.",
    ),
    Rule(
        "tcgen05-collective-axis",
        "Blocks multiply together along the last axis of the cluster.",
        ("tcgen05_mma", "tcgen05_commit_arrive"),
        50,
        arrival("collective-axis"),
        f"{PRIMITIVES}, _collective_mma_predicate",
        "The two blocks of a pair are neighbours along the last axis of `cluster_names`; that is the "
        "`collective_axis`.",
    ),
    Rule(
        "tcgen05-barrier-count",
        "A `tcgen05_mma` signals one barrier.",
        ("tcgen05_mma", "tcgen05_commit_arrive"),
        60,
        arrival("barrier-count"),
        "jax/experimental/mosaic/gpu/utils.py, BarrierRef",
        "`Barrier(num_barriers=n)` is n barriers; pass one of them, `barrier.at[slot]`.",
    ),
    _rule(
        "tcgen05-transforms",
        "Under Lane semantics the operands of a `tcgen05_mma` in shared memory are tiled and swizzled.",
        70,
        ("transforms",),
        _LANE,
        _TILES + "Under Warpgroup semantics buffers without transforms are given fitting ones.",
        Semantics.LANE,
    ),
    _rule(
        "tcgen05-tiling",
        "The tiles of a `tcgen05_mma`'s operands are 8 rows as wide as the swizzle.",
        80,
        ("tiling",),
        f"{_LANE}; {_SOLVER}",
        _TILES + "Other tilings are refused: under Lane semantics with the tiling named, under Warpgroup semantics as "
        "a failure to infer layouts.",
    ),
    _rule(
        "tcgen05-swizzle",
        "Under Lane semantics both operands of a `tcgen05_mma` have the same swizzle.",
        90,
        ("swizzles",),
        _LANE,
        "Take the widest swizzle that the rows of both operands can have.",
        Semantics.LANE,
    ),
    _rule(
        "tcgen05-operand-types",
        "Both operands of a `tcgen05_mma` have one element type.",
        100,
        ("operand-types",),
        f"{_MMA}; the verifier of mosaic_gpu.tcgen05_mma",
        "Only the two 8-bit floating point types, float8_e4m3fn and float8_e5m2, can be mixed.",
    ),
    _rule(
        "tcgen05-element-type",
        "A `tcgen05_mma` multiplies 16-bit and 8-bit floats and 8-bit integers.",
        110,
        ("element-type",),
        f"{_MMA}; the verifier of mosaic_gpu.tcgen05_mma",
        "The tensor cores of Blackwell have instructions for more types, which Pallas does not issue: float32 (as "
        "tf32) is refused too. 4-bit floats are multiplied with scales.",
    ),
    _rule(
        "tcgen05-accumulator",
        "The accumulator of a `tcgen05_mma` has a type that the operands' products are added up in.",
        120,
        ("accumulator-type",),
        f"{_MMA}; the verifier of mosaic_gpu.tcgen05_mma",
        "bfloat16 is accumulated in float32; float16 and 8-bit floats in float32 or float16; 8-bit integers in int32.",
    ),
    _rule(
        "tcgen05-packing",
        "Accumulators in tensor memory are not packed, operands are.",
        130,
        ("accumulator-packing", "operand-packing"),
        f"{_MMA}; {_SOLVER}",
        _PACKING,
    ),
    _rule(
        "tcgen05-rows",
        "A `tcgen05_mma` makes 128 or 64 rows; 128 where its left operand is in tensor memory.",
        140,
        ("rows",),
        _MMA,
        "Tensor memory has 128 rows, of which an instruction uses all or half.",
    ),
    _rule(
        "tcgen05-half",
        "With 64 rows, a swizzled row of the right operand fits half of the columns.",
        150,
        ("swizzle-too-wide",),
        f"{_MMA}; {_SOLVER}",
        "An accumulator of 64 rows is kept as two halves of its columns, in the two halves of the rows of tensor "
        "memory: the right operand is read in halves too, and each is made of whole swizzled rows.",
    ),
    _rule(
        "tcgen05-tile-shape",
        "Under Warpgroup semantics some tiling divides each operand of a `tcgen05_mma` in shared memory.",
        160,
        ("no-tiling",),
        "jax/experimental/mosaic/gpu/layout_inference.py, mma_tiling_constraint",
        _TILES + "Where no such tiling divides the buffer, none can be inferred.",
        Semantics.WARPGROUP,
    ),
    _rule(
        "tcgen05-columns",
        "The columns of a `tcgen05_mma` come in steps, at most 256, or 512.",
        170,
        ("columns",),
        _MMA,
        "One block makes a multiple of 8 columns, 16 where the accumulator has 64 rows; twice that for integers; two "
        "blocks together twice that again, each bringing at most 128. More than 256 columns are 512 exactly.",
    ),
    _rule(
        "tcgen05-depth",
        "The length of the contraction is a multiple of the wider swizzle's width.",
        180,
        ("depth",),
        _MMA,
        "Instructions are issued in groups as long as a swizzled row, `8 * swizzle // bits` elements of k. Take a "
        "narrower swizzle, or pad k with zeros.",
    ),
    Rule(
        "tcgen05-cluster",
        "Two blocks multiply together in a cluster whose last dimension is 2.",
        ("tcgen05_mma", "tcgen05_commit_arrive"),
        190,
        arrival("cluster"),
        "jax/experimental/mosaic/gpu/tcgen05.py, commit_arrive",
        "The barrier of a collective multiplication is signalled in both blocks of a pair; the pairs are the last "
        "dimension of the cluster (up to JAX 0.10 the whole cluster).",
    ),
)
