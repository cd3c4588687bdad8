"""The rule about `plgpu.emit_pipeline` in a kernel of several warpgroups."""

from __future__ import annotations

from ..domain.finding import JaxError
from ..domain.ref import BlockSpec
from ..library.pipeline_memory import in_smem
from ..library.pipelines import Pipeline
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView


def alone(v: CallView) -> Answer:
    """A plain pipeline allocates its stages by itself, which the threads of a block do together or not at all."""
    launch, pipe, specs = v.fact.launch, v.value("pipeline"), v.value("specs")
    if launch is None or launch.warp or not isinstance(pipe, Pipeline) or pipe.kind != "emit_pipeline":
        return None
    thread = launch.thread_name
    if thread is None:
        return None
    if not isinstance(thread, str) or type(specs) is not tuple:
        return Unsure("the kernel's threads or the specs are not known")
    staged = [in_smem(s) if isinstance(s, BlockSpec) else None for some in specs for s in some]
    if True not in staged:
        return Unsure("whether the pipeline has blocks in SMEM is not known") if None in staged else None
    text = (
        f"This kernel has threads ({thread!r}), and emit_pipeline allocates its stages for one thread alone. Take "
        "plgpu.emit_pipeline_warp_specialized, where one warpgroup copies and the others compute, or a kernel without "
        "num_threads."
    )
    jax = (
        "Only thread-collective allocations are supported in multithreaded kernels. Hint: add "
        f"collective_axes={thread} to your run_scoped if you intend all threads to share the same allocation "
        "(currently collective_axes=())."
    )
    made = launch.made
    notes = (Note(made.args.get("thread_name", made.site), "the kernel's threads"),) if made is not None else ()
    return Problem(text, JaxError("NotImplementedError", jax), None, notes)


RULES = (
    Rule(
        "pipeline-alone",
        "emit_pipeline is for kernels of one thread.",
        ("pipeline()",),
        30,
        alone,
        "jax/_src/pallas/mosaic_gpu/pipeline.py, emit_pipeline; lowering.py, _run_scoped_lowering_rule",
        "`plgpu.emit_pipeline` allocates a stage of each block, and barriers, in a `pl.run_scoped` of its own, and one "
        "thread both copies and computes. With `num_threads` each warpgroup would do so, over the same memory.\n\n"
        "`plgpu.emit_pipeline_warp_specialized` is made for several: the last one copies, the others compute.",
    ),
)
