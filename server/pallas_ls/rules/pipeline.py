"""Rules about pipelines: `emit_pipeline`, `emit_pipeline_warp_specialized`, and their calls."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.dim import Dim
from ..domain.finding import JaxError, Severity
from ..domain.python import DictCell, Int, ListCell, Opaque, Unknown, Value
from ..domain.ref import BlockSpec, Ref
from ..domain.target import JaxVersion
from ..library.pipeline_memory import Mapped, in_smem
from ..library.pipelines import Pipeline
from ..source.span import Site
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView, show_shape

_FILE = "jax/_src/pallas/mosaic_gpu/pipeline.py"
PLAIN, SPECIALIZED = "emit_pipeline", "emit_pipeline_warp_specialized"
BOTH = (PLAIN, SPECIALIZED)
V0_11 = JaxVersion(0, 11)


def specs_of(v: Value) -> list[Value] | None:
    """The specs of a flat list of them; None where that is not known, or where they are a tree."""
    items = v.slots["items"] if isinstance(v, ListCell) else v
    if isinstance(items, BlockSpec):
        return [items]
    if type(items) is not tuple or any(isinstance(x, (tuple, ListCell, DictCell)) for x in items):
        return None
    return list(items)


def _made(spec: Value, name: str = "") -> Site | None:
    made = spec.made if isinstance(spec, BlockSpec) else None
    return (made.args.get(name) or made.site) if made is not None else None


def grid_positive(v: CallView) -> Answer:
    """A grid with an entry that is not positive."""
    grid = v.value("grid")
    items = grid.slots["items"] if isinstance(grid, ListCell) else grid
    if type(items) is not tuple:
        return Unsure("the grid is not known")
    bad = [x for x in items if isinstance(x, Int) and v.decide(conds.less(0, x.dim)) is False]
    if not bad:
        return None
    shown = ", ".join(dims.text(v.simplify(x.dim)) if isinstance(x, Int) else "…" for x in items)
    text = (
        f"The pipeline's grid is ({shown}{',' if len(items) == 1 else ''}): with "
        f"{dims.text(v.simplify(bad[0].dim))} steps along an axis it never runs, and JAX refuses it. "
        "A block that is larger than the array gives 0 by //; pl.cdiv rounds up."
    )
    jax = JaxError("ValueError", "All elements in the grid must be strictly positive, but got grid=")
    return Problem(text, jax, v.site("grid"))


# -- depth and delay -------------------------------------------------------------------------------


def depth(v: CallView) -> Answer:
    """No more stages than the release of a block is delayed by."""
    steps, specs = v.value("max_concurrent_steps"), specs_of(v.value("in_specs"))
    if not isinstance(steps, Int) or specs is None:
        return Unsure("max_concurrent_steps or the specs are not known")
    delays = [_delay(s) for s in specs]
    if None in delays:
        return Unsure("delay_release is not known")
    known = [v.simplify(d) for d in delays if d is not None]
    if not all(isinstance(d, int) for d in known):
        return Unsure("delay_release is not known")
    levels = sorted({d for d in known if isinstance(d, int)} or {0})
    least = levels[0] if v.fact.api == PLAIN else (known[-1] if known else 0)
    if v.fact.api == SPECIALIZED and len(levels) > 1:
        return _delays_differ(v, specs, known)
    enough = v.decide(conds.less(least, steps.dim))
    if enough is not False:
        return None if enough else Unsure("max_concurrent_steps is not known")
    return _too_shallow(v, steps, specs, levels, least)


def _delay(spec: Value) -> Dim | None:
    if not isinstance(spec, BlockSpec):
        return None
    given = spec.params.get("delay_release", Int(0))
    return given.dim if isinstance(given, Int) else None


def _too_shallow(v: CallView, steps: Int, specs: list[Value], levels: list[int], least: Dim) -> Problem:
    n = dims.text(v.simplify(steps.dim))
    text = (
        f"max_concurrent_steps={n} with delay_release={least}: a stage is given back {least} steps after its use, so "
    )
    text += f"at least {dims.text(dims.add(least, 1))} are needed."
    if levels == [0]:
        text = f"max_concurrent_steps={n}: a pipeline has at least one stage."
    if v.fact.api == PLAIN:
        jax = (
            "max_concurrent_steps must be greater than all delay_release values, but "
            f"max_concurrent_steps={n} and delay_release_levels={levels}."
        )
    else:
        jax = (
            f"max_concurrent_steps must be greater than delay_release, but max_concurrent_steps={n}, "
            f"delay_release={least}"
        )
    delayed = next((s for s in specs if _delay(s) not in (0, None)), None)
    at = v.site("max_concurrent_steps") or _made(delayed, "delay_release")
    where = _made(delayed, "delay_release")
    notes = (Note(where, "the delay"),) if where is not None and where != at else ()
    cause = steps if v.site("max_concurrent_steps") is not None else None
    return Problem(text, JaxError("ValueError", jax), at, notes, cause)


def _delays_differ(v: CallView, specs: list[Value], delays: list[Dim]) -> Answer:
    """All inputs are released together. (Of a `pl.BlockSpec`, which knows no delay, JAX takes none.)"""
    if not all(isinstance(s, BlockSpec) and "delay_release" in s.params for s in specs):
        return Unsure("whether each spec is plgpu's is not known")
    at = next(i for i in range(1, len(delays)) if delays[i] != delays[i - 1])
    text = (
        f"The inputs are released together: delay_release is {dims.text(delays[at - 1])} for one and "
        f"{dims.text(delays[at])} for another."
    )
    jax = (
        f"All inputs must have the same delay_release, but in_spec.delay_release={delays[at]} != "
        f"delay_release={delays[at - 1]}"
    )
    return Problem(text, JaxError("NotImplementedError", jax), _made(specs[at], "delay_release"))


# -- specs -----------------------------------------------------------------------------------------


def pipeline_mode(v: CallView) -> Answer:
    """`BlockSpec(pipeline_mode=...)`."""
    for name in ("in_specs", "out_specs"):
        for s in specs_of(v.value(name)) or ():
            mode = s.params.get("pipeline_mode") if isinstance(s, BlockSpec) else None
            if mode is not None and not isinstance(mode, Unknown):
                if isinstance(mode, Opaque) and not mode.name.startswith("pl."):
                    return Unsure("pipeline_mode may be None")
                text = (
                    "pipeline_mode= is for pl.pallas_call on TPUs. The depth of this pipeline is max_concurrent_steps=."
                )
                jax = "pl.BlockSpec with pipeline_mode= is not supported"
                return Problem(text, JaxError("NotImplementedError", jax), _made(s, "pipeline_mode"))
    return None


def spec_axes(v: CallView) -> Answer:
    """`BlockSpec(collective_axes=...)` where a pipeline does not take it."""
    rows = [(False, s) for s in specs_of(v.value("in_specs")) or ()]
    rows += [(True, s) for s in specs_of(v.value("out_specs")) or ()]
    for is_output, s in rows:
        axes = _axes(s)
        if axes is None or not axes:
            continue
        found = _refused_axes(v, is_output, axes)
        if found is not None:
            return Problem(*found, _made(s, "collective_axes"))
    return None


def _axes(s: Value) -> tuple[Value, ...] | None:
    given = s.params.get("collective_axes") if isinstance(s, BlockSpec) else None
    items = given.slots["items"] if isinstance(given, ListCell) else given
    if isinstance(items, str):
        return tuple(items)
    return items if type(items) is tuple else None


def _refused_axes(v: CallView, is_output: bool, axes: tuple[Value, ...]) -> tuple[str, JaxError] | None:
    if v.fact.api == PLAIN:
        text = "Blocks that several blocks of a cluster receive (collective_axes=) need the warp-specialized pipeline."
        if v.version >= V0_11:
            return text, JaxError("NotImplementedError", "pl.BlockSpec with collective_axes= is not supported")
        if not is_output:
            return text, JaxError(
                "NotImplementedError", "BlockSpecs with collective_axes are not supported in emit_pipeline"
            )
    if is_output:
        text = "Each block of a cluster writes its own output: an output spec has no collective_axes."
        return text, JaxError("ValueError", "Output BlockSpecs cannot have collective_axes")
    if len(axes) > 1:
        shown = ", ".join(map(repr, axes))
        text = f"An input is shared along one cluster axis, not along {len(axes)}."
        jax = f"Only a single collective axis supported in input BlockSpecs, but got ({shown})"
        return text, JaxError("ValueError", jax if all(isinstance(a, str) for a in axes) else jax.partition(" (")[0])
    return None


def memory_thread(v: CallView) -> Answer:
    """A memory thread that is not the last one."""
    given, compute = v.value("memory_thread_idx"), v.value("num_compute_wgs")
    if given is None:
        return None
    if not isinstance(given, Int) or not isinstance(compute, Int):
        return Unsure("memory_thread_idx or num_compute_wgs is not known")
    same = v.decide(conds.equal(given.dim, compute.dim))
    if same is not False:
        return None if same else Unsure("memory_thread_idx is not known")
    n = dims.text(v.simplify(compute.dim))
    text = f"The memory thread is the last one, {n} (after {n} for computing): leave memory_thread_idx away."
    return Problem(
        text, JaxError("NotImplementedError", "Memory thread must be the last thread."), v.site("memory_thread_idx")
    )


def invariant_input(v: CallView) -> Answer:
    """An input whose block is the same in every step."""
    specs, maps = specs_of(v.value("in_specs")), _maps(v)
    if specs is None or len(maps) < len(specs):
        return Unsure("the specs are not known")
    for s, found in zip(specs, maps, strict=False):
        if found is not None and found.moves is False:
            text = (
                "This input is the same block in every step: the warp-specialized pipeline takes only inputs that move "
                "with its grid. Copy it once before the pipeline."
            )
            jax = JaxError("NotImplementedError", "Only inputs with a dependency on the grid are supported.")
            return Problem(text, jax, _made(s, "index_map"))
    return None


def _maps(v: CallView) -> tuple[Mapped | None, ...]:
    return v.fact.result.maps if isinstance(v.fact.result, Pipeline) else ()


def index_rank(v: CallView) -> Answer:
    """An index map that gives another number of indices than the block has axes."""
    pipe = v.value("pipeline")
    if not isinstance(pipe, Pipeline):
        return None
    for s, found in zip(_every(v) or (), pipe.maps, strict=False):
        axes = _block_axes(s)
        if (
            axes is None
            or found is None
            or found.index is None
            or not (in_smem(s) if isinstance(s, BlockSpec) else None)
        ):
            continue
        if len(found.index) != axes:
            n = len(found.index)
            text = (
                f"index_map gives {n} ind{'ex' if n == 1 else 'ices'}, the block {_shown(s)} has {axes} "
                f"ax{'is' if axes == 1 else 'es'}: each axis of the block needs one (in blocks, not elements)."
            )
            word = "shorter" if axes < n else "longer"
            jax = JaxError("ValueError", f"safe_map() argument 2 is {word} than argument 1")
            return Problem(text, jax, _made(s, "index_map"))
    return None


def _shown(s: Value) -> str:
    return show_shape(s.shape) if isinstance(s, BlockSpec) else ""


def _block_axes(s: Value) -> int | None:
    """Axes of a block, those that the body does not see included."""
    given = s.params.get("block_shape") if isinstance(s, BlockSpec) else None
    items = given.slots["items"] if isinstance(given, ListCell) else given
    return len(items) if type(items) is tuple else None


def _every(v: CallView) -> list[Value] | None:
    specs: Any = v.value("specs")
    return [*specs[0], *specs[1]] if type(specs) is tuple else None


def operand_count(v: CallView) -> Answer:
    """Another number of references than specs."""
    pipe, refs, specs = v.value("pipeline"), v.value("refs"), v.value("specs")
    if not isinstance(pipe, Pipeline) or type(refs) is not tuple or type(specs) is not tuple:
        return Unsure("the references or the specs are not known")
    if any(isinstance(x, (tuple, ListCell, DictCell)) for x in (*refs, *specs[0], *specs[1])):
        return Unsure("the references are a tree")
    inputs, outputs, given = len(specs[0]), len(specs[1]), len(refs)
    if given == inputs + outputs:
        return None
    text = (
        f"This pipeline has {inputs} in_spec{'s' if inputs != 1 else ''} and {outputs} out_spec"
        f"{'s' if outputs != 1 else ''}, and is called with {given} reference{'s' if given != 1 else ''}: one for each."
    )
    if pipe.kind == PLAIN:
        n = inputs + outputs
        jax = f"safe_zip() argument 1 has length {given} but argument 0 has length {n}. All lengths: ({n}, {given})"
    else:
        which = "Input specs and input" if given < inputs else "Output specs and output"
        jax = f"{which} gmem refs must have the same pytree structure."
    notes = (Note(pipe.made.site, "the pipeline"),)
    return Problem(text, JaxError("ValueError", jax), None, notes)


# -- what lowers and is surely not meant -----------------------------------------------------------


def threads_match(v: CallView) -> Answer:
    """A kernel whose number of warpgroups is not that of the pipeline."""
    launch, compute = v.fact.launch, v.value("num_compute_wgs")
    if launch is None or not isinstance(launch.num_threads, Int) or not isinstance(compute, Int):
        return None
    wanted = dims.add(compute.dim, 1)
    if v.value("wg_axis") != launch.thread_name or v.decide(conds.equal(launch.num_threads.dim, wanted)) is not False:
        return None
    have, want = (dims.text(v.simplify(d)) for d in (launch.num_threads.dim, wanted))
    site = launch.made.args.get("num_threads") if launch.made is not None else None
    notes = (Note(site, f"{have} warpgroups"),) if site is not None else ()
    text = (
        f"{dims.text(v.simplify(compute.dim))} warpgroups compute and one copies: the kernel needs num_threads={want}, "
        f"and has {have}. JAX lowers this; barriers then wait for arrivals that never come."
    )
    return Problem(text, None, v.site("num_compute_wgs"), notes)


def blocks_in_range(v: CallView) -> Answer:
    """Blocks that lie wholly behind the end of the array: an index in elements where one in blocks is meant."""
    for s, axis, index, block, size in _placed(v):
        last = _last(v, index)
        if last is None or last <= 0 or last * block < size:
            continue
        d = v.simplify(index)
        text = (
            f"Along axis {axis} the last step's block starts at {last} x {block} = {last * block:,}, behind the end of "
            f"the array ({size:,}). An index map gives the block's number, not its first element."
        )
        if isinstance(d, dims.Expr) and v.decide(conds.divides(block, d)) is True:
            text += f" Leave the factor {block} away."
        return Problem(text, None, _made(s, "index_map"))
    return None


def whole_array(v: CallView) -> Answer:
    """A tail that no step reaches: the grid is the number of whole blocks, and the array is no multiple of one."""
    pipe = v.value("pipeline")
    for s, axis, index, block, size in _placed(v):
        last = _last(v, index)
        if last is None or last <= 0 or dims.as_symbol(v.simplify(index)) is None:
            continue
        covered = (last + 1) * block
        if covered < size < covered + block:
            site = pipe.made.args.get("grid") if isinstance(pipe, Pipeline) else None
            text = (
                f"{last + 1} steps of {block} along axis {axis} cover {covered:,} of {size:,}: no step sees the last "
                f"{size - covered:,}. pl.cdiv gives a step for them as well; what lies behind the end reads as 0."
            )
            notes = (Note(site, "the number of steps"),) if site is not None else ()
            return Problem(text, None, _made(s, "block_shape"), notes)
    return None


def _placed(v: CallView) -> list[tuple[Value, int, Dim, int, int]]:
    """(spec, axis, index in blocks, extent of the block, extent of the array), for axes where all is known."""
    pipe, refs, specs = v.value("pipeline"), v.value("refs"), _every(v)
    out: list[tuple[Value, int, Dim, int, int]] = []
    if not isinstance(pipe, Pipeline) or type(refs) is not tuple or specs is None:
        return out
    for s, found, ref in zip(specs, pipe.maps, refs, strict=False):
        if not isinstance(s, BlockSpec) or found is None or found.index is None or not isinstance(ref, Ref):
            continue
        shape, block = v.exact_shape(ref.shape), _whole_block(v, s)
        if shape is None or block is None or not len(shape) == len(block) == len(found.index):
            continue
        for axis, (i, b, n) in enumerate(zip(found.index, block, shape, strict=True)):
            inner = i.index if isinstance(i, Array) else i
            if isinstance(inner, Int):
                out.append((s, axis, inner.dim, b, n))
    return out


def _whole_block(v: CallView, s: BlockSpec) -> tuple[int, ...] | None:
    """The block's extents, where all axes are plain ones."""
    given = s.params.get("block_shape")
    items = given.slots["items"] if isinstance(given, ListCell) else given
    return v.exact_shape(items) if type(items) is tuple and all(isinstance(x, Int) for x in items) else None


def _last(v: CallView, index: Dim) -> int | None:
    """The largest index: of a number of steps times a factor."""
    d = v.simplify(index)
    if isinstance(d, int):
        return d
    atoms = dims.atoms(d)
    symbol = next(iter(atoms)) if len(atoms) == 1 else None
    if not isinstance(symbol, dims.Sym) or symbol.high is None or not symbol.name.startswith("?i"):
        return None
    at = [dims.rebuild(d, {symbol: n}) for n in (0, symbol.high)]
    if not all(isinstance(n, int) for n in at) or at[0] != 0:
        return None
    return at[1] if isinstance(at[1], int) else None


_COUNT_TEXT = "A pipeline is called with a reference for each of its specs: the inputs first, then the outputs."

RULES = (
    Rule(
        "pipeline-grid",
        "A pipeline has at least one step along each axis of its grid.",
        (PLAIN,),
        10,
        grid_positive,
        f"{_FILE}, emit_pipeline",
        "A pipeline fetches its first blocks before its loop starts. With no steps there is nothing to fetch.",
    ),
    Rule(
        "pipeline-mode",
        "BlockSpecs of Mosaic GPU have no pipeline_mode.",
        BOTH,
        20,
        pipeline_mode,
        f"{_FILE}, _downcast_spec",
        "How many blocks are in flight is one number for the whole pipeline: `max_concurrent_steps`.",
    ),
    Rule(
        "pipeline-axes",
        "Only inputs of a warp-specialized pipeline are shared, along one cluster axis.",
        BOTH,
        30,
        spec_axes,
        f"{_FILE}, emit_pipeline and emit_pipeline_warp_specialized",
        "`collective_axes` of a spec lets the blocks of a cluster fetch a part each and share it. That takes a thread "
        "for copying: `plgpu.emit_pipeline_warp_specialized`.",
    ),
    Rule(
        "pipeline-depth",
        "A pipeline has more stages than delay_release.",
        BOTH,
        40,
        depth,
        f"{_FILE}, emit_pipeline and emit_pipeline_warp_specialized",
        "`delay_release=d` keeps a block for d steps after its use (an asynchronous wgmma may still read it). Then at "
        "least d + 1 stages are needed for one to be filled.",
    ),
    Rule(
        "pipeline-memory-thread",
        "The last thread of a warp-specialized pipeline copies.",
        (SPECIALIZED,),
        50,
        memory_thread,
        f"{_FILE}, emit_pipeline_warp_specialized",
        "The warpgroups 0 to `num_compute_wgs - 1` compute, the one after them copies.",
    ),
    Rule(
        "pipeline-invariant",
        "Inputs of a warp-specialized pipeline move with its grid.",
        (SPECIALIZED,),
        60,
        invariant_input,
        f"{_FILE}, emit_pipeline_warp_specialized",
        "The pipeline fetches each input anew in each step. What stays the same is copied once, before it.",
    ),
    Rule(
        "pipeline-operands",
        "A pipeline is called with one reference for each spec.",
        ("pipeline()",),
        10,
        operand_count,
        f"{_FILE}, emit_pipeline and emit_pipeline_warp_specialized",
        _COUNT_TEXT,
    ),
    Rule(
        "pipeline-index",
        "An index map gives an index for each axis of the block.",
        ("pipeline()",),
        20,
        index_rank,
        f"{_FILE}, BufferedRef.compute_gmem_slice",
        "`index_map` takes the step's place in the grid and gives a block number for each axis of the block, axes "
        "given as None included.",
    ),
    Rule(
        "pipeline-threads",
        "A warp-specialized pipeline has one warpgroup more than compute.",
        (SPECIALIZED,),
        800,
        threads_match,
        "none: JAX lowers it",
        "`num_compute_wgs` warpgroups compute and one copies. With another number in the kernel, some wait for barriers"
        " that nobody arrives at.",
        severity=Severity.WARNING,
    ),
    Rule(
        "block-index",
        "An index map counts blocks, not elements.",
        ("pipeline()",),
        800,
        blocks_in_range,
        "none: JAX lowers it",
        "The index is multiplied by the block's extent. An index map that does so itself leaves the array after a few "
        "steps: reads give zeros there, writes are dropped.",
        severity=Severity.WARNING,
    ),
    Rule(
        "uncovered-tail",
        "The steps of a pipeline cover the array.",
        ("pipeline()",),
        810,
        whole_array,
        "none: JAX lowers it",
        "A grid of `n // block` steps leaves the rest of the division. `pl.cdiv(n, block)` gives one step more, whose "
        "block reads zeros behind the end and writes nothing there.",
        severity=Severity.WARNING,
    ),
)
