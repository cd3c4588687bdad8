"""The rule about `pl.pallas_call`, the older dress of a kernel."""

from __future__ import annotations

from ..domain.finding import JaxError
from ..domain.ref import CompilerParams
from ..domain.target import JaxVersion
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView


def parameters(v: CallView) -> Answer:
    """`pl.pallas_call(..., compiler_params=plgpu.CompilerParams())`, which is lowered by nobody any more."""
    if not isinstance(v.value("compiler_params"), CompilerParams):
        return None
    if v.value("interpret") is not False:
        return Unsure("whether the call is interpreted is not known") if v.value("interpret") is not True else None
    text = (
        "pl.pallas_call no longer lowers with plgpu.CompilerParams (it did up to JAX 0.11.1). Write it as "
        "plgpu.kernel, with the blocks as a pipeline in its body: plgpu.emit_pipeline(body, grid=..., in_specs=..., "
        "out_specs=...)."
    )
    return Problem(text, JaxError("AssertionError", ""))


RULES = (
    Rule(
        "pallas-call-parameters",
        "pl.pallas_call does not take plgpu.CompilerParams.",
        ("pl.pallas_call",),
        10,
        parameters,
        "jax/_src/pallas/pallas_call.py, gpu_lowering",
        "Up to JAX 0.11.1 `pl.pallas_call` with `plgpu.CompilerParams` was lowered by Mosaic GPU, which made a "
        "pipeline of its grid and specs. Since 0.11.2 nothing is registered for it, and JAX stops at a bare assertion. "
        "`plgpu.kernel` launches the body once for each block of its grid; `plgpu.emit_pipeline` inside it brings the "
        "blocks of larger arrays, as `pallas_call` did.",
        since=JaxVersion(0, 11, 2),
    ),
)
