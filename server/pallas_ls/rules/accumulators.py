"""The rules of `plgpu.ACC`, where an accumulator is allocated."""

from __future__ import annotations

from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Unknown
from ..domain.ref import RefType
from ..source.span import Site
from .buffers import buffer_types
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView, show_array

API = ("launch", "pl.run_scoped")
_ALLOCATION = "jax/_src/pallas/mosaic_gpu/lowering.py, _run_scoped_lowering_rule"


def _accumulators(v: CallView) -> list[RefType]:
    return [t for t in buffer_types(v) if t.kind == "acc" and "init" not in t.params]


def _site(t: RefType, argument: str) -> Site | None:
    return t.made.args.get(argument, t.made.site) if t.made is not None else None


def alone(v: CallView) -> Answer:
    """An accumulator that several warpgroups would share."""
    accumulators = _accumulators(v)
    if not accumulators:
        return None
    made = accumulators[0].made
    if v.fact.api == "launch":
        launch = v.fact.launch
        if launch is None:
            return Unsure("the kernel is not known")
        shared = launch.num_threads is not None or launch.thread_name is not None
        unknown = isinstance(launch.num_threads, Unknown) or isinstance(launch.thread_name, Unknown)
    else:
        axes = v.value("collective_axes")
        shared, unknown = axes != (), isinstance(axes, Unknown)
    if unknown:
        return Unsure("whether the allocation is shared is not known")
    if not shared:
        return None
    how = "scratch_types of a kernel with num_threads=" if v.fact.api == "launch" else "collective_axes="
    text = (
        f"An accumulator is in the registers of one warpgroup; {how} allocates for all of them. Allocate it in each: "
        "pl.run_scoped(f, plgpu.ACC(...)), without collective_axes."
    )
    jax = JaxError("ValueError", "WGMMA accumulators can only be allocated non-collectively. Hint: remove")
    return Problem(text, jax, made.site if made is not None else None)


def signed(v: CallView) -> Answer:
    """An accumulator of unsigned integers."""
    for t in _accumulators(v):
        if not isinstance(t.dtype, DType):
            return Unsure("the accumulator's element type is not known")
        if t.dtype.family == "uint":
            text = (
                f"The accumulator is {show_array(t.shape, t.dtype)}; products of 8-bit integers are added up in "
                "int32, and of floats in float32 or float16."
            )
            jax = JaxError(
                "ValueError",
                f"Invalid WGMMA accumulator dtype for s8/i8 WGMMA. Expected signed integer, but got {t.dtype.name}.",
            )
            return Problem(text, jax, _site(t, "dtype"))
    return None


RULES = (
    Rule(
        "accumulator-collective",
        "An accumulator belongs to one warpgroup.",
        API,
        58,
        alone,
        _ALLOCATION,
        "The accumulator of a `wgmma` is spread over the registers of the warpgroup that multiplies. The scratch of a "
        "kernel with several warpgroups is allocated for all of them together, as is `run_scoped` with "
        "`collective_axes`: accumulators are allocated by a `run_scoped` without it.",
    ),
    Rule(
        "accumulator-signed",
        "An accumulator of integers is signed.",
        API,
        59,
        signed,
        _ALLOCATION,
        "The instruction adds the products of 8-bit integers, signed or not, up in int32.",
    ),
)
