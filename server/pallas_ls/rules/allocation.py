"""Rules about what a kernel, `pl.run_scoped` or a pipeline allocates: kinds of types, axes, unions, accumulators."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, ShapeDtype, element_bits, element_count
from ..domain.dtype import DType
from ..domain.finding import JaxError, Severity
from ..domain.python import Int, Value
from ..domain.ref import Launch, RefType, Tiling
from ..domain.target import Semantics
from ..source.span import Site
from .capacity import leaves
from .mesh import CORE
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView, show_array, show_shape

_LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py"
SCOPED = ("launch", "pl.run_scoped")
ALLOCATING = (*SCOPED, "pipeline.memory")


def allocated(v: CallView) -> Iterator[tuple[str, Value]]:
    """What a call allocates, in the order in which JAX flattens it, each with a name."""
    names = ("scratch",) if v.fact.api == "launch" else ("types", "kw_types")
    for name in names:
        yield from leaves("", v.value(name))


def types_of(v: CallView) -> list[RefType]:
    """The known types among what is allocated."""
    return [t for _, t in allocated(v) if isinstance(t, RefType)]


def _site(t: Value, name: str = "") -> Site | None:
    made = t.made if isinstance(t, (RefType, ShapeDtype, Array)) else None
    return (made.args.get(name) or made.site) if made is not None else None


def _at(v: CallView, t: Value) -> Site | None:
    return _site(t) or v.site("scratch_types") or v.site("types")


# -- kinds of types --------------------------------------------------------------------------------


def scratch_type(v: CallView) -> Answer:
    """An entry that is no type of a buffer in shared or tensor memory."""
    for name, t in allocated(v):
        if isinstance(t, RefType):
            found = _in_gmem(v, t)
        else:
            found = _no_type(v, name, t)
        if found is not None:
            return found
    return None


def _in_gmem(v: CallView, t: RefType) -> Problem | None:
    if t.kind == "semaphore" and t.params.get("type") == "BARRIER":
        text = (
            "SemaphoreType.BARRIER is no semaphore that a kernel allocates. Take plgpu.SemaphoreType.REGULAR, or "
            "plgpu.Barrier for what threads of a block wait for."
        )
    elif t.kind == "data" and t.space == "gmem":
        text = (
            f"Global memory is not allocated by a kernel: {show_array(t.shape, t.dtype)} in plgpu.GMEM. Take "
            "plgpu.SMEM for scratch of a block, or an operand or output (input_output_aliases) for memory that blocks "
            "share."
        )
    else:
        return None
    return Problem(text, JaxError("NotImplementedError", "Unsupported memory space: gmem"), _at(v, t))


def _no_type(v: CallView, name: str, t: Value) -> Problem | None:
    kind = {ShapeDtype: "ShapeDtypeStruct", Int: "int", str: "str"}.get(type(t))
    if kind is None:
        return None
    text = f"{_named(name)}{kind} is no memory: scratch is plgpu.SMEM(shape, dtype), plgpu.Barrier(), plgpu.TMEM(...)."
    if isinstance(t, ShapeDtype):
        text = (
            f"{_named(name)}jax.ShapeDtypeStruct says no memory. Write plgpu.SMEM({show_shape(t.shape)}, {t.dtype}): "
            "ShapeDtypeStruct is for outputs."
        )
    return Problem(text, JaxError("AttributeError", f"'{kind}' object has no attribute 'get_ref_aval'"), _at(v, t))


def _named(name: str) -> str:
    return f"{name}: " if name and not name.startswith("[") else ""


def tiling_rank(v: CallView) -> Answer:
    """A tiling of more dimensions than the buffer, which JAX does not check."""
    for t in types_of(v):
        for x in t.transforms if isinstance(t.transforms, tuple) else ():
            if not isinstance(x, Tiling) or not isinstance(x.tiling, tuple) or not isinstance(t.shape, tuple):
                continue
            if len(x.tiling) > len(t.shape):
                text = (
                    f"TilingTransform({show_shape(x.tiling)}) has {len(x.tiling)} dimensions, "
                    f"{show_array(t.shape, t.dtype)} has {len(t.shape)}. JAX does not notice, and counts the tiles of "
                    "another shape: accesses go astray. Tile the last dimensions only."
                )
                return Problem(text, None, (x.made.args.get("tiling") or x.made.site) if x.made else _at(v, t))
    return None


# -- barriers of a cluster -------------------------------------------------------------------------


def barrier_axes(v: CallView) -> Answer:
    """A ClusterBarrier over an axis that the cluster does not have."""
    for t in types_of(v):
        axes = _axes(t)
        for axis in _flat(axes) if axes is not None else ():
            found = cluster_axis(v, axis, _site(t, "collective_axes"))
            if found is not None:
                return found
    return None


def _axes(t: RefType) -> tuple[Value, ...] | None:
    axes = t.params.get("collective_axes") if t.kind == "cluster_barrier" else None
    return axes if type(axes) is tuple else None


def _flat(axes: tuple[Value, ...]) -> Iterator[Value]:
    for a in axes:
        if type(a) is tuple:
            yield from a
        else:
            yield a


def cluster_axis(v: CallView, axis: Value, at: Site | None) -> Answer:
    """An axis that is none of the cluster's."""
    launch = v.fact.launch
    names = _cluster_names(launch)
    if launch is None or names is None or not isinstance(axis, str):
        return Unsure("the kernel's cluster axes are not known")
    if axis in names:
        return None
    listed = ", ".join(map(repr, names)) or "none"
    grid = launch.grid_names if isinstance(launch.grid_names, tuple) else ()
    extra = " A grid axis does not count: only the blocks of a cluster share barriers." if axis in grid else ""
    jax = JaxError("LookupError", f"Unknown cluster axis {axis}, available axes: {names[::-1]}")
    notes = (Note(launch.made.args.get("cluster_names", launch.made.site), "the kernel's mesh"),) if launch.made else ()
    return Problem(f"The kernel has no cluster axis {axis!r}; its cluster axes are: {listed}.{extra}", jax, at, notes)


def _cluster_names(launch: Launch | None) -> list[str] | None:
    names = launch.cluster_names if launch is not None else None
    if not isinstance(names, tuple):
        return None
    known = [n for n in names if isinstance(n, str)]
    return known if len(known) == len(names) else None


def leader(v: CallView) -> Answer:
    """A leader for more than one axis."""
    for t in types_of(v):
        axes = _axes(t)
        if axes is None or t.params.get("leader_tracked") is not True:
            continue
        at = _site(t, "collective_axes")
        if len(axes) != 1:
            text = f"leader_tracked=True needs one collective axis; there are {len(axes)}: {show_names(axes)}."
            jax = "Only leader tracking for a single collective dimension is supported."
            return Problem(text, JaxError("NotImplementedError", jax), at)
        if type(axes[0]) is tuple:
            text = "leader_tracked=True needs an axis of its own, not a group of axes."
            jax = "Only leader tracking for ungrouped collective dimensions is supported."
            return Problem(text, JaxError("NotImplementedError", jax), at)
    return None


def show_names(axes: tuple[Value, ...]) -> str:
    """Axis names for a message."""
    return ", ".join(
        repr(a) if isinstance(a, str) else "(" + show_names(a) + ")" if type(a) is tuple else "?" for a in axes
    )


# -- unions ----------------------------------------------------------------------------------------


def union_members(v: CallView) -> Answer:
    """Members that cannot share memory."""
    refs = v.value("refs")
    if type(refs) is not tuple:
        return Unsure("the union's members are not known")
    members = [t for group in refs for _, t in leaves("", group)]
    for t in members:
        if isinstance(t, RefType) and t.kind in ("barrier", "cluster_barrier", "acc"):
            kind = {"barrier": "Barrier", "cluster_barrier": "ClusterBarrier", "acc": "WGMMAAccumulatorRef"}[t.kind]
            text = "A union shares shared or tensor memory among buffers; barriers and accumulators stay outside."
            return Problem(
                text, JaxError("AttributeError", f"'{kind}' object has no attribute 'memory_space'"), _site(t)
            )
    if not all(isinstance(t, RefType) and t.kind == "data" for t in members):
        return Unsure("the union's members are not known")
    known = [t for t in members if isinstance(t, RefType)]
    return _one_space(known) or _collective(known) or next((x for t in known if (x := _whole_bytes(v, t))), None)


def _one_space(members: list[RefType]) -> Answer:
    spaces = sorted({t.space for t in members})
    if len(spaces) < 2 and spaces in (["smem"], ["tmem"]):
        return None
    where = " and ".join(spaces).upper()
    text = f"The members of a union share one memory, shared or tensor memory; these are in {where}."
    jax = "All aliased Refs must have the same memory space (SMEM or TMEM). Got "
    return Problem(text, JaxError("NotImplementedError", jax))


def _collective(members: list[RefType]) -> Answer:
    if members[0].space != "tmem":
        return None
    kinds = {t.params.get("collective") is True for t in members}
    if any(t.params.get("collective") not in (None, True, False) for t in members):
        return Unsure("whether the members are collective is not known")
    if len(kinds) < 2:
        return None
    jax = "Some aliased TMEM references are collective and some are not."
    return Problem("Members of a union are all collective or none of them.", JaxError("ValueError", jax))


def _whole_bytes(v: CallView, t: RefType) -> Answer:
    if t.space != "smem" or not isinstance(t.dtype, DType):
        return None
    if t.dtype.family not in ("int", "uint", "float"):
        text = f"A union takes integers and floating-point numbers, not {t.dtype}. Take uint8 for truth values."
        return Problem(text, JaxError("NotImplementedError", f"Unsupported dtype: {t.dtype}"), _site(t, "dtype"))
    count, bits = element_count(t.shape), element_bits(t.dtype)
    if count is None or bits is None or v.decide(conds.divides(8, dims.mul(count, bits))) is not False:
        return None
    exact = v.exact_shape(t.shape)
    shown = f"{t.dtype}{exact}" if exact is not None else "…"
    text = f"{show_array(t.shape, t.dtype)} is no whole number of bytes."
    jax = f"Only byte-aligned shapes are supported. Got shape: {shown}"
    return Problem(text, JaxError("ValueError", jax), _site(t, "shape"))


# -- accumulators, and who allocates ---------------------------------------------------------------


def accumulator_type(v: CallView) -> Answer:
    """An accumulator of unsigned integers; under Lane also of a shape that is no multiple of wgmma's."""
    for t in types_of(v):
        if t.kind != "acc" or not isinstance(t.dtype, DType):
            continue
        if t.dtype.family in ("uint", "bool"):
            text = f"wgmma accumulates integers in int32, not {t.dtype}."
            jax = f"Invalid WGMMA accumulator dtype for s8/i8 WGMMA. Expected signed integer, but got {t.dtype}."
            return Problem(text, JaxError("ValueError", jax), _site(t, "dtype"))
        found = _accumulator_shape(v, t)
        if found is not None:
            return found
    return None


def _accumulator_shape(v: CallView, t: RefType) -> Answer:
    if v.semantics is not Semantics.LANE:
        return None
    if not isinstance(t.shape, tuple) or len(t.shape) != 2 or not all(isinstance(e, Int) for e in t.shape):
        return Unsure("the accumulator's shape is not known")
    m, n = (e.dim for e in t.shape if isinstance(e, Int))
    known = v.decide(conds.all_of([conds.divides(64, m), conds.divides(8, n)]))
    if known is not False:
        return None if known else Unsure("the accumulator's shape is not known")
    rows, columns = v.simplify(m), v.simplify(n)
    shown = f"{dims.text(rows)} x {dims.text(columns)}"
    text = f"wgmma works on 64 rows and multiples of 8 columns; the accumulator has {shown}."
    if isinstance(rows, int) and isinstance(columns, int):
        text += f" Next is {-(-rows // 64) * 64} x {-(-columns // 8) * 8}."
    jax = f"WGMMA requires m and n to be multiples of 64 and 8, got {dims.text(rows)} and {dims.text(columns)}"
    return Problem(text, JaxError("ValueError", jax), _site(t, "shape"))


def accumulator_scope(v: CallView) -> Answer:
    """An accumulator that all threads would share."""
    accumulators = [t for t in types_of(v) if t.kind == "acc"]
    if not accumulators or v.fact.launch is None:
        return None
    shared = _is_collective(v)
    if shared is not True:
        return Unsure("whether the allocation is collective is not known") if shared is None else None
    if v.fact.api == "launch":
        text = (
            "An accumulator belongs to one warpgroup; scratch_types of a kernel with num_threads is shared by all of "
            "them. Allocate it in the body: pl.run_scoped(f, plgpu.ACC(...)), without collective_axes."
        )
    else:
        text = (
            "An accumulator belongs to one warpgroup: allocate it without collective_axes, in a pl.run_scoped of its "
            "own."
        )
    jax = (
        "WGMMA accumulators can only be allocated non-collectively. Hint: remove collective_axes from run_scoped. "
        "If other allocations are performed as well, split the run_scoped into two."
    )
    return Problem(text, JaxError("ValueError", jax), _site(accumulators[0]))


def _collective_axes(v: CallView) -> tuple[Value, ...] | None:
    """`collective_axes` as `pl.run_scoped` takes it: always a tuple; None where it is not known."""
    given = v.value("collective_axes")
    if type(given) is tuple:
        return given if all(isinstance(a, str) for a in given) else None
    return (given,) if isinstance(given, str) or given is None else None


def _is_collective(v: CallView) -> bool | None:
    """Whether an allocation names any axis."""
    launch = v.fact.launch
    if v.fact.api == "launch":
        name = launch.thread_name if launch is not None else None
        return isinstance(name, str) if isinstance(name, str) or name is None else None
    axes = _collective_axes(v)
    return None if axes is None else bool(axes)


def scoped_axes(v: CallView) -> Answer:
    """`pl.run_scoped` of shared memory by one thread alone, or along another axis than the threads'."""
    launch, axes = v.fact.launch, _collective_axes(v)
    thread = launch.thread_name if launch is not None else None
    if launch is None or launch.warp or axes is None or not (thread is None or isinstance(thread, str)):
        return Unsure("the kernel's threads or collective_axes are not known")
    if axes and axes != (thread,):
        return _other_axis(v, axes, thread)
    if thread is None or axes:
        return None
    shared = [t for t in types_of(v) if t.kind not in ("acc", "semaphore")]
    if not shared:
        return None
    jax = (
        "Only thread-collective allocations are supported in multithreaded kernels. Hint: add "
        f"collective_axes={thread} to your run_scoped if you intend all threads to share the same allocation "
        "(currently collective_axes=())."
    )
    text = (
        f"The warpgroups of this kernel ({thread!r}) share their block's memory, so they allocate it together: add "
        f"collective_axes={thread!r}. What each needs for itself is a buffer with one slot more: `buf.at[wg]`."
    )
    notes = (
        (Note(launch.made.args.get("thread_name", launch.made.site), "the kernel's threads"),) if launch.made else ()
    )
    return Problem(text, JaxError("NotImplementedError", jax), None, notes)


def _other_axis(v: CallView, axes: tuple[Value, ...], thread: str | None) -> Problem:
    if any(t.kind == "semaphore" for t in types_of(v)):
        jax = "Only thread-collective allocations are supported in run_scoped."
    else:
        jax = "Only thread-collective allocations are supported in run_scoped."
    if thread is None:
        text = f"This kernel has one thread a block (no num_threads): leave collective_axes={show_names(axes)} away."
    else:
        text = (
            f"Memory is allocated by the warpgroups of a block together: collective_axes is {thread!r}, not "
            f"{show_names(axes)}."
        )
    return Problem(text, JaxError("ValueError", jax), v.site("collective_axes"))


RULES = (
    Rule(
        "scratch-type",
        "Scratch is shared memory, tensor memory, barriers, semaphores or accumulators.",
        SCOPED,
        20,
        scratch_type,
        f"jax/_src/pallas/primitives.py, run_scoped; {_LOWERING}, _run_scoped_resource_estimator",
        "A kernel allocates what its block has: `plgpu.SMEM`, `plgpu.TMEM`, `plgpu.Barrier`, `plgpu.ClusterBarrier`, "
        "`plgpu.ACC`, semaphores. Global memory comes from outside, as operands and outputs.",
    ),
    Rule(
        "tiling-rank",
        "A tiling has no more dimensions than the buffer.",
        ALLOCATING,
        800,
        tiling_rank,
        f"none: JAX does not check it ({CORE}, TilingTransform.transform_type)",
        "JAX pairs the dimensions of buffer and tiling from the left and forgets the rest. The buffer is then laid out "
        "as another shape than it is accessed as.",
        severity=Severity.WARNING,
    ),
    Rule(
        "barrier-axis",
        "A ClusterBarrier is over axes of the cluster.",
        SCOPED,
        50,
        barrier_axes,
        f"{_LOWERING}, _resolve_cluster_axis",
        "`collective_axes` of a `plgpu.ClusterBarrier` names the cluster axes along which blocks arrive at each other's"
        " barriers. `cluster_names=` of the kernel declares them; grid axes do not count.",
    ),
    Rule(
        "barrier-leader",
        "A barrier with a leader is over one axis.",
        SCOPED,
        60,
        leader,
        "jax/experimental/mosaic/gpu/utils.py, CollectiveBarrierRef.initialize",
        "With `leader_tracked=True` the first block along the axis counts for all of them.",
    ),
    Rule(
        "union-members",
        "Members of a union can share memory.",
        ("RefUnion",),
        10,
        union_members,
        f"{CORE}, RefUnion.__init__",
        "`plgpu.RefUnion` gives several buffers the same memory: all in shared memory, or all in tensor memory and of "
        "one kind. In shared memory they are integers or floating-point numbers of whole bytes.",
    ),
    Rule(
        "accumulator-scope",
        "An accumulator belongs to one thread.",
        SCOPED,
        70,
        accumulator_scope,
        f"{_LOWERING}, _run_scoped_lowering_rule",
        "A wgmma accumulator lies in the registers of one warpgroup. What threads allocate together, as `scratch_types`"
        " of a kernel with `num_threads`, they share.",
    ),
    Rule(
        "accumulator-type",
        "An accumulator is of a type and a shape that wgmma has.",
        SCOPED,
        80,
        accumulator_type,
        f"{_LOWERING}, _run_scoped_lowering_rule; jax/experimental/mosaic/gpu/wgmma.py, WGMMAAccumulator.zero",
        "wgmma multiplies 64 rows at a time by multiples of 8 columns, into float32, float16 or int32.",
    ),
    Rule(
        "scoped-axes",
        "The threads of a kernel allocate memory together.",
        ("pl.run_scoped",),
        65,
        scoped_axes,
        f"{_LOWERING}, _run_scoped_lowering_rule",
        "In a kernel with `num_threads` every warpgroup runs the body. Shared memory, barriers and tensor memory belong"
        " to the block: `pl.run_scoped(..., collective_axes=thread_name)` allocates them once for "
        "all. Accumulators are "
        "the exception, they belong to one warpgroup.",
    ),
)
