"""Copies and generations of GPUs: TMA with a barrier since Hopper, `cp.async` without one before."""

from __future__ import annotations

from collections.abc import Iterable

from ..domain.fact import CallFact
from ..domain.finding import JaxError
from ..domain.python import External
from .copying.case import V11
from .rule import Answer, Problem, Unsure
from .view import CallView

HOPPER = (9, 0)
LOAD, WAIT = "copy_gmem_to_smem", "wait_gmem_to_smem"
_ADVICE = (
    "Before Hopper a copy takes no barrier: it promises to stay in bounds "
    "(oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS) "
    "and is waited for with plgpu.wait_gmem_to_smem."
)


def is_for_older_gpus(facts: Iterable[CallFact]) -> bool:
    """Whether a kernel's calls are those of `cp.async`: a copy without a barrier that promises to stay in bounds, or a
    wait for such, and no copy with a barrier."""
    copies = [f for f in facts if f.api in (LOAD, WAIT)]
    return any(_is_old(f) for f in copies) and not any(
        f.api == LOAD and f.operands.get("barrier") is not None for f in copies
    )


def _is_old(f: CallFact) -> bool:
    return f.api == WAIT or (f.operands.get("barrier") is None and _promises(f.operands.get("oob_mode")))


def _promises(mode: object) -> bool:
    return isinstance(mode, External) and mode.name.endswith(".PROMISE_IN_BOUNDS")


def barrier(v: CallView) -> Answer:
    """A barrier where the GPU has no use for one, or none where it needs one."""
    given = v.value("barrier")
    if v.fact.open or "barrier" in v.fact.missing:
        return Unsure("the call's arguments are not known")
    if v.version < V11:
        return _always(v) if given is None else None
    if v.capability >= HOPPER:
        return _missing(v) if given is None else None
    if given is not None:
        words = (
            "copy_gmem_to_smem with a barrier is only supported Hopper and newer GPUs, which use the TMA implementation"
        )
        return Problem(f"{_arch(v)} has no TMA. {_ADVICE}", JaxError("ValueError", words), v.site("barrier"))
    return _without_tma(v)


def _arch(v: CallView) -> str:
    return f"The kernel is for {v.target.arch or 'sm_90a'}, which"


def _always(v: CallView) -> Answer:
    """Up to 0.10 the barrier was a required argument."""
    words = "copy_gmem_to_smem() missing 1 required positional argument: 'barrier'"
    return Problem("copy_gmem_to_smem also needs barrier, which counts the bytes.", JaxError("TypeError", words))


def _missing(v: CallView) -> Answer:
    words = (
        "copy_gmem_to_smem without a barrier is only supported on pre-Hopper GPUs, which use the cp.async "
        "implementation"
    )
    text = "Since Hopper a copy signals a barrier when its bytes have arrived: allocate plgpu.Barrier() and pass it."
    return Problem(f"{text} {_ADVICE}", JaxError("ValueError", words))


def _without_tma(v: CallView) -> Answer:
    if v.value("collective_axes") is not None:
        words = "Only the TMA implementation supports collective copies"
        return Problem(f"{_arch(v)} has no clusters.", JaxError("ValueError", words), v.site("collective_axes"))
    mode = v.value("oob_mode")
    if mode is not None and not isinstance(mode, External):
        return Unsure("oob_mode is not known")
    if not _promises(mode):
        words = "The cp.async implementation only supports oob_mode=OOBFillMode.PROMISE_IN_BOUNDS"
        return Problem(_ADVICE, JaxError("ValueError", words), v.site("oob_mode"))
    if v.value("predicate") is not None:
        words = "The cp.async implementation does not support user-defined predicates"
        text = "Before Hopper a copy takes no predicate: put it under pl.when."
        return Problem(text, JaxError("NotImplementedError", words), v.site("predicate"))
    return None


def wait(v: CallView) -> Answer:
    """A wait for copies of older GPUs."""
    if v.version < V11:
        words = "module 'jax.experimental.pallas.mosaic_gpu' has no attribute 'wait_gmem_to_smem'"
        return Problem(
            "This release has no copies without a barrier: wait with plgpu.barrier_wait.",
            JaxError("AttributeError", words),
        )
    if v.capability < HOPPER:
        return None
    words = "wait_gmem_to_smem is only supported on pre-Hopper GPUs, which use cp.async for GMEM->SMEM copies."
    text = "Since Hopper a copy is waited for at its barrier: plgpu.barrier_wait(barrier)."
    return Problem(text, JaxError("ValueError", words))
