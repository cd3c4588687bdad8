"""Rules about `plgpu.set_max_registers`."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.finding import JaxError, Severity
from ..domain.python import Int
from ..domain.target import JaxVersion
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView

API = ("set_max_registers",)
_EVAL = "jax/_src/pallas/mosaic_gpu/primitives.py, _set_max_registers_abstract_eval"
LEAST, MOST, STEP = 24, 256, 8
_OLD = JaxVersion(0, 10, 99)


def number(v: CallView) -> Answer:
    """A number of registers that is no positive multiple of 8; up to JAX 0.10, one out of range too."""
    n = v.value("n")
    if not isinstance(n, Int):
        return Unsure("the number of registers is not known")
    step = v.decide(conds.divides(STEP, n.dim))
    old = v.version <= _OLD
    low = v.decide(conds.less(n.dim, LEAST if old else 1))
    high = v.decide(conds.less(MOST, n.dim)) if old else False
    if step is not False and low is not True and high is not True:
        return None if step and low is False and high is False else Unsure("the number of registers is not known")
    shown = dims.text(v.simplify(n.dim))
    jax = JaxError("ValueError", f"n must be a positive multiple of 8, got {shown}")
    if old:
        jax = JaxError("MLIRError", "Verification failed:")
    exact = v.exact(n)
    best = f" {min(max(round(exact / STEP) * STEP, LEAST), MOST)} is the nearest." if exact is not None else ""
    text = f"set_max_registers({shown}): registers per thread are handed out in eights, from {LEAST} to {MOST}.{best}"
    return Problem(text, jax, v.site("n"))


def action(v: CallView) -> Answer:
    """An action that is neither of the two."""
    x = v.value("action")
    if not isinstance(x, str) or x in ("increase", "decrease"):
        return None
    jax = JaxError("ValueError", f"action must be 'increase' or 'decrease', got {x!r}")
    return Problem(f'action={x!r}: it is "increase" or "decrease".', jax, v.site("action"))


def range_of_hardware(v: CallView) -> Answer:
    """A number that JAX takes and the compiler does not."""
    n = v.value("n")
    if not isinstance(n, Int):
        return None
    low, high = v.decide(conds.less(n.dim, LEAST)), v.decide(conds.less(MOST, n.dim))
    if low is not True and high is not True:
        return None
    shown = dims.text(v.simplify(n.dim))
    text = (
        f"set_max_registers({shown}) lowers, but the GPU's compiler (ptxas) refuses it: {LEAST} to {MOST} registers "
        "per thread."
    )
    return Problem(text, None, v.site("n"))


RULES = (
    Rule(
        "max-registers",
        "Registers per thread are set to a positive multiple of 8.",
        API,
        10,
        number,
        _EVAL,
        "The register file is handed out to the threads of a warpgroup in eights. One warpgroup's `decrease` is "
        "another one's `increase`.",
    ),
    Rule(
        "max-registers-action",
        "Registers per thread are increased or decreased.",
        API,
        20,
        action,
        _EVAL,
        'The two instructions are different: `action="increase"` waits until registers are free, '
        '`action="decrease"` frees them.',
        since=JaxVersion(0, 11),
    ),
    Rule(
        "max-registers-range",
        "Registers per thread are 24 to 256.",
        API,
        30,
        range_of_hardware,
        "ptxas, setmaxnreg",
        "JAX checks only that the number is a multiple of 8 (up to 0.10 its verifier checked the range too); the GPU's "
        "compiler refuses what is out of range.",
        since=JaxVersion(0, 11),
        severity=Severity.WARNING,
    ),
)
