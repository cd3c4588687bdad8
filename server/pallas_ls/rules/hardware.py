"""Warnings about what lowers and the GPU, or its compiler, does not take."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.dtype import DType
from ..domain.finding import Severity
from ..domain.python import Int
from ..domain.ref import Ref
from .rule import Answer, Problem, Rule
from .view import CallView, show_array

#: Registers that a thread can have, and threads of a warpgroup.
REGISTERS, THREADS = 255, 128


def too_many_registers(v: CallView) -> Answer:
    """An accumulator that does not fit the registers of a warpgroup."""
    acc = v.value("acc")
    if not isinstance(acc, Ref) or acc.type.kind != "acc" or not isinstance(acc.type.shape, tuple):
        return None
    if len(acc.type.shape) != 2 or not isinstance(acc.type.dtype, DType):
        return None
    m, n = acc.type.shape
    if not isinstance(m, Int) or not isinstance(n, Int):
        return None
    bits = dims.mul(dims.mul(m.dim, n.dim), acc.type.dtype.bits)
    if v.decide(conds.less(REGISTERS * 32 * THREADS, bits)) is not True:
        return None
    total = v.simplify(dims.floordiv(bits, 32 * THREADS))
    text = (
        f"The accumulator, {show_array(acc.type.shape, acc.type.dtype)}, takes {dims.text(total)} of the {REGISTERS} "
        "registers that a thread can have: it is spilled to memory and the multiplications wait for each other. Give "
        "each warpgroup a smaller part."
    )
    return Problem(text, None, v.site("acc"))


_WGMMA = ("wgmma",)

RULES = (
    Rule(
        "accumulator-registers",
        "An accumulator fits the registers of its warpgroup.",
        _WGMMA,
        510,
        too_many_registers,
        "ptxas, C7511",
        "A thread has at most 255 registers. The accumulator of a `wgmma` takes `m * n / 128` of them in float32; "
        "where that is more than there are, it is spilled to memory around every instruction. 64 x 256 takes 128.",
        severity=Severity.WARNING,
    ),
)
