"""Rules about what a kernel allocates in all: shared memory, tensor memory, barriers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.dim import Dim
from ..domain.finding import JaxError
from ..domain.memory import Scope
from ..domain.python import Int
from ..domain.ref import Kernel
from ..source.span import Site
from . import capacity
from .capacity import SMEM_LIMIT, TMEM_LIMIT, Footprint, Part
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView, show_array

_LAUNCH = "jax/experimental/mosaic/gpu/core.py, _launch"
#: Barriers of one entry.
MOST_BARRIERS = 32


def footprint_of(v: CallView) -> Footprint | None:
    """What the kernel asks for at least."""
    kernel, scope = v.value("kernel"), v.value("scope")
    if not isinstance(kernel, Kernel) or not isinstance(scope, Scope):
        return None
    return v.cached("footprint", lambda: capacity.footprint(kernel, scope, v.fact.facts, v.version))


# -- shared memory ---------------------------------------------------------------------------------


def smem_capacity(v: CallView) -> Answer:
    """More shared memory than a block can have."""
    f = footprint_of(v)
    if f is None:
        return Unsure("the kernel's memory is not known")
    fits = v.decide(conds.at_most(f.total, SMEM_LIMIT))
    if fits is not False:
        return None if fits and f.sure else Unsure("how much shared memory the kernel takes is not known")
    largest = _largest(v, f)
    return Problem(
        f"{_amount(v, f.total)} B of {SMEM_LIMIT:,}: {summed(v, f)}.{_fewer(v, f)}",
        JaxError(
            "ValueError",
            f"Mosaic GPU kernel exceeds available shared memory: smem_bytes={_said(v, f)} > "
            f"max_smem_bytes={SMEM_LIMIT}",
        ),
        _where(largest),
        tuple(_notes(v, f, largest)),
    )


def _said(v: CallView, f: Footprint) -> str:
    n = v.simplify(f.total)
    return str(n) if isinstance(n, int) and f.sure else "…"


def _amount(v: CallView, n: Dim) -> str:
    n = v.simplify(n)
    return f"{n:,}" if isinstance(n, int) else dims.text(n)


def summed(v: CallView, f: Footprint) -> str:
    """The sum in words: "6 stages x 49,152 + out_smem 32,768 + barriers 96"."""
    parts = [p for p in f.usage.parts if p.bytes != 0]
    words = [*_stage_words(v, parts)]
    words += [f"{_short(p.name)} {_amount(v, p.bytes)}" for p in parts if _stages(p) is None]
    if f.usage.barrier_bytes != 0:
        words.append(f"barriers {_amount(v, f.usage.barrier_bytes)}")
    if f.columns != 0:
        words.append(f"the address of tensor memory {capacity.TMEM_ADDRESS_BYTES}")
    if f.profiler != 0:
        words.append(f"the profiler {_amount(v, f.profiler)}")
    return " + ".join(words)


def _short(name: str) -> str:
    return name.replace("['", ".").replace("']", "")


def _stage_words(v: CallView, parts: list[Part]) -> Iterator[str]:
    """A term for the blocks of each pipeline."""
    scopes = {id(p.scope): p.scope for p in parts if _stages(p) is not None}
    for scope in scopes.values():
        mine = [p for p in parts if p.scope is scope and _stages(p) is not None]
        counts = {v.simplify(n) for p in mine if (n := _stages(p)) is not None}
        total = v.simplify(_sum(p.bytes for p in mine))
        count = counts.pop() if len(counts) == 1 else None
        if isinstance(count, int) and count and isinstance(total, int) and total % count == 0:
            yield f"{count} stages x {total // count:,}" if count > 1 else f"1 stage of {total:,}"
        else:
            names = " and ".join(_short(p.name) for p in mine)
            yield f"the stages of {names} {_amount(v, total)}"


def _sum(values: Iterable[Dim]) -> Dim:
    total: Dim = 0
    for n in values:
        total = dims.add(total, n)
    return total


def is_pipeline(scope: Scope) -> bool:
    """Whether a pipeline allocates."""
    return scope.kind.startswith("emit_pipeline")


def _stages(p: Part) -> Dim | None:
    """The number of stages of a pipeline's buffer."""
    if not is_pipeline(p.scope) or p.type is None or p.bytes == 0 or not isinstance(p.type.shape, tuple):
        return None
    first = p.type.shape[0] if p.type.shape else None
    return first.dim if isinstance(first, Int) else None


def _largest(v: CallView, f: Footprint) -> Part:
    """The part to change first: the largest, by what is known."""
    sized = [(n if isinstance(n := v.simplify(p.bytes), int) else 0, p) for p in f.usage.parts]
    return max(sized, key=lambda row: row[0])[1]


def _where(p: Part) -> Site | None:
    """The expression that a person would change: a pipeline's depth, a buffer's type."""
    made = p.scope.made
    if is_pipeline(p.scope) and made is not None:
        depth = made.args.get("max_concurrent_steps")
        if depth is not None:
            return depth
    return _made(p) or (made.site if made is not None else None)


def _made(p: Part) -> Site | None:
    return p.type.made.site if p.type is not None and p.type.made is not None else None


def _notes(v: CallView, f: Footprint, first: Part) -> Iterator[Note]:
    for p in f.usage.parts:
        site = _made(p)
        if site is not None and p.bytes != 0 and site != _where(first) and p.type is not None:
            shown = show_array(p.type.shape, p.type.dtype)
            yield Note(site, f"{_short(p.name)}: {_amount(v, p.bytes)} B, {shown}")


def _fewer(v: CallView, f: Footprint) -> str:
    """The largest number of stages that fits, where a pipeline is to blame."""
    found = fitting_stages(v, f)
    if found is None:
        rounding = _rounding(v, f)
        return f" Each buffer is rounded up to 1,024 bytes: that alone adds {rounding:,}." if rounding else ""
    scope, count, total = found
    if count == 0:
        return " Not even one stage fits: make the blocks smaller."
    word = "max_concurrent_steps" if scope.made is not None else "a depth"
    return f" {word}={count} fits ({total:,})."


def fitting_stages(v: CallView, f: Footprint) -> tuple[Scope, int, int] | None:
    """The pipeline that is alive where memory is fullest, the most stages that fit, and the bytes then.

    None where no pipeline of known depth is; 0 stages where not even one fits.
    """
    kernel, top = v.value("kernel"), v.value("scope")
    staged = [(p, n) for p in f.usage.parts if isinstance(n := _depth(v, p), int)]
    if not staged or not isinstance(kernel, Kernel) or not isinstance(top, Scope):
        return None
    part, depth = max(staged, key=lambda row: _size(v, row[0]))
    last = 0
    for n in range(1, 65):
        other = capacity.footprint(kernel, top, v.fact.facts, v.version, stages={id(part.scope): n})
        total = v.simplify(other.total)
        if not isinstance(total, int):
            return None
        if total > SMEM_LIMIT:
            return part.scope, n - 1, last
        last = total
    return part.scope, max(depth, 64), last


def _depth(v: CallView, p: Part) -> Dim | None:
    n = _stages(p)
    return v.simplify(n) if n is not None else None


def _size(v: CallView, p: Part) -> int:
    n = v.simplify(p.bytes)
    return n if isinstance(n, int) else 0


def _rounding(v: CallView, f: Footprint) -> int:
    """Bytes that rounding adds, where it is what makes the sum too large."""
    plain = _sum(capacity.buffer_bytes(p.type) or 0 for p in f.usage.parts if p.bytes != 0 and p.type is not None)
    lost = v.simplify(dims.sub(_sum(p.bytes for p in f.usage.parts), plain))
    total = v.simplify(f.total)
    return lost if isinstance(lost, int) and isinstance(total, int) and total - lost <= SMEM_LIMIT else 0


# -- tensor memory ---------------------------------------------------------------------------------


def tmem_mixed(v: CallView) -> Answer:
    """Tensor memory of both kinds."""
    f = footprint_of(v)
    if f is None or v.decide(conds.less(0, f.usage.tmem)) is not True:
        return None
    if v.decide(conds.less(0, f.usage.collective)) is not True:
        return None
    parts = _tensor_parts(f)
    odd = next((p for p in parts if p.type is not None and capacity.collective(p.type) is False), parts[0])
    names = [
        ", ".join(_short(p.name) for p in parts if p.type is not None and capacity.collective(p.type) is kind)
        for kind in (True, False)
    ]
    text = (
        f"Tensor memory is allocated by the two blocks of a pair together or by each alone, not both in one kernel: "
        f"collective is {names[0]}, not {names[1]}. Give all of them collective=True."
    )
    jax = "Can't mix collective and non-collective TMEM allocations within the same kernel."
    return Problem(text, JaxError("ValueError", jax), _made(odd))


def _tensor_parts(f: Footprint) -> list[Part]:
    return [p for p in (*f.usage.parts, *f.usage.others) if p.columns != 0]


def tmem_capacity(v: CallView) -> Answer:
    """More columns than tensor memory has."""
    f = footprint_of(v)
    if f is None:
        return Unsure("the kernel's memory is not known")
    fits = v.decide(conds.at_most(f.columns, TMEM_LIMIT))
    if fits is not False:
        return None if fits and f.sure else Unsure("how much tensor memory the kernel takes is not known")
    parts = _tensor_parts(f)
    words = " + ".join(f"{_short(p.name)} {_amount(v, p.columns)}" for p in parts)
    columns = v.simplify(f.columns)
    rounded = str(capacity.rounded_columns(columns)) if isinstance(columns, int) and f.sure else "…"
    largest = max(parts, key=lambda p: n if isinstance(n := v.simplify(p.columns), int) else 0)
    return Problem(
        f"{_amount(v, f.columns)} columns of tensor memory of {TMEM_LIMIT}: {words}. A column holds 32 bits in each of "
        "128 lanes: use fewer columns, pack narrow types (packed=True), or share memory by plgpu.RefUnion.",
        JaxError("ValueError", f"After rounding up, got {rounded} columns, exceeding the limit of {TMEM_LIMIT}"),
        _made(largest),
        tuple(
            Note(site, f"{_short(p.name)}: {_amount(v, p.columns)} columns")
            for p in parts
            if p is not largest and (site := _made(p)) is not None
        ),
    )


def tmem_cluster(v: CallView) -> Answer:
    """Collective tensor memory in a cluster that does not pair its blocks."""
    f, kernel = footprint_of(v), v.value("kernel")
    if f is None or not isinstance(kernel, Kernel) or v.decide(conds.less(0, f.usage.collective)) is not True:
        return None
    sizes = kernel.launch.cluster
    if not isinstance(sizes, tuple) or not all(isinstance(x, Int) for x in sizes):
        return Unsure("the cluster is not known")
    blocks = dims.product(tuple(x.dim for x in sizes))
    even = v.decide(conds.divides(2, blocks))
    if even is not False:
        return None if even else Unsure("the cluster is not known")
    shape = reversed((1, 1, 1, *(x.dim for x in sizes))[-3:])
    shown = ", ".join(dims.text(v.simplify(d)) for d in shape)
    n = _amount(v, blocks)
    text = (
        f"collective=True allocates tensor memory for pairs of blocks; this kernel's cluster has {n} "
        f"block{'' if n == '1' else 's'}. Launch it with cluster=(2,) and a name for the axis, or leave collective "
        "away."
    )
    jax = (
        "Collective TMEM allocations are only supported for clusters with an even number of blocks in them. "
        f"Got cluster: ({shown})"
    )
    at = v.site("cluster") or _made(_tensor_parts(f)[0])
    return Problem(text, JaxError("ValueError", jax), at)


# -- barriers --------------------------------------------------------------------------------------


def barrier_count(v: CallView) -> Answer:
    """More than 32 barriers in one entry."""
    f = footprint_of(v)
    for p in (*f.usage.parts, *f.usage.others) if f is not None else ():
        if p.barriers != 0 and v.decide(conds.at_most(p.barriers, MOST_BARRIERS)) is False:
            n = _amount(v, p.barriers)
            text = f"{_short(p.name)} has {n} barriers; a group has at most {MOST_BARRIERS}. "
            text += (
                f"max_concurrent_steps is at most {MOST_BARRIERS}."
                if is_pipeline(p.scope)
                else "Split it into several entries of scratch_types."
            )
            made = p.type.made if p.type is not None else None
            at = (made.args.get("num_barriers") or made.site) if made is not None else _where(p)
            return Problem(text, JaxError("NotImplementedError", "Only up to 32 barriers per group supported"), at)
    return None


_SMEM_TEXT = (
    "A block has 227 KiB (232,448 bytes) of shared memory on Hopper and Blackwell. JAX rounds each buffer up to 1,024 "
    "bytes; a pipeline holds `max_concurrent_steps` blocks of each operand. What `pl.run_scoped` and pipelines "
    "allocate one after the other shares memory; what is allocated inside comes on top. Barriers take 8 bytes each, "
    "and a reduction across the warpgroup 2,048.\n\nUse fewer stages, smaller blocks, a narrower type, or "
    "`plgpu.RefUnion` for buffers that are never used at the same time."
)

RULES = (
    Rule(
        "tmem-mixed",
        "Tensor memory of a kernel is all collective or not at all.",
        ("kernel.memory",),
        10,
        tmem_mixed,
        "jax/_src/pallas/mosaic_gpu/lowering.py, lower_jaxpr_to_module",
        "`collective=True` makes the two blocks of a pair allocate together, for tcgen05 with `collective_axis`. The "
        "hardware wants one kind of allocation in a kernel.",
    ),
    Rule(
        "smem-capacity",
        "A kernel's buffers fit in shared memory.",
        ("kernel.memory",),
        20,
        smem_capacity,
        f"{_LAUNCH}; jax/_src/pallas/mosaic_gpu/lowering.py, Resources",
        _SMEM_TEXT,
    ),
    Rule(
        "barrier-count",
        "An entry has at most 32 barriers.",
        ("kernel.memory",),
        30,
        barrier_count,
        "jax/experimental/mosaic/gpu/utils.py, BarrierRef.initialize",
        "The phases of a group of barriers are kept in one 32-bit register, a bit each.",
    ),
    Rule(
        "tmem-capacity",
        "A kernel's tensor memory has at most 512 columns.",
        ("kernel.memory",),
        40,
        tmem_capacity,
        "jax/experimental/mosaic/gpu/tcgen05.py, tmem_alloc_exact_ncols",
        "Tensor memory has 128 lanes of 512 columns of 32 bits, allocated in powers of two. A float32 accumulator of "
        "128 x n takes n columns; narrower types take as many unless they are packed.",
    ),
    Rule(
        "tmem-cluster",
        "Collective tensor memory needs an even number of blocks in the cluster.",
        ("kernel.memory",),
        50,
        tmem_cluster,
        _LAUNCH,
        "With `collective=True` the two blocks of a pair allocate together: the cluster pairs its blocks.",
    ),
)
