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

_LLVM = "LLVM, NVPTX instruction selection"
#: Registers that a thread can have, and threads of a warpgroup.
REGISTERS, THREADS = 255, 128


def _target(v: CallView) -> int | None:
    """The generation that the target names."""
    return v.capability[0] if v.target.arch is not None else None


def before_blackwell(v: CallView) -> Answer:
    """tcgen05 for a GPU without it."""
    generation = _target(v)
    if generation is None or generation >= 10 or v.fact.launch is None:
        return None
    instead = " Hopper multiplies with plgpu.wgmma." if v.fact.api == "tcgen05_mma" else ""
    return Problem(
        f"{v.fact.api} is for Blackwell (sm_100a); this is compiled for {v.target.arch}: it lowers, and then the "
        f"compiler aborts the process.{instead}",
        None,
    )


def after_hopper(v: CallView) -> Answer:
    """wgmma for a GPU without it."""
    generation = _target(v)
    if generation is None or generation == 9 or v.fact.launch is None:
        return None
    instead = (
        " Blackwell multiplies with plgpu.tcgen05_mma, into plgpu.TMEM, and signals a "
        "plgpu.Barrier(orders_tensor_core=True)."
        if generation >= 10
        else ""
    )
    return Problem(
        f"wgmma is an instruction of Hopper alone (sm_90a); this is compiled for {v.target.arch}.{instead}", None
    )


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
_TCGEN05 = (
    "tcgen05_mma",
    "tcgen05_commit_arrive",
    "async_load_tmem",
    "async_store_tmem",
    "async_copy_smem_to_tmem",
    "async_copy_scales_to_tmem",
    "async_copy_sparse_metadata_to_tmem",
)

RULES = (
    Rule(
        "tcgen05-architecture",
        "`tcgen05` and tensor memory are for Blackwell.",
        _TCGEN05,
        500,
        before_blackwell,
        _LLVM,
        "JAX lowers `tcgen05` for any GPU; on an older one the compiler stops with `LLVM ERROR: Cannot select`, which "
        "ends the Python process. The target is the one of the settings, or a comment `# pallas: target sm_100a`.",
        severity=Severity.WARNING,
    ),
    Rule(
        "wgmma-architecture",
        "`wgmma` is for Hopper.",
        _WGMMA,
        500,
        after_hopper,
        _LLVM,
        "`wgmma` exists on sm_90a only. Blackwell's tensor cores are used by `plgpu.tcgen05_mma`: the accumulator is a "
        "`plgpu.TMEM` buffer, one thread issues the instruction, and a `plgpu.Barrier(orders_tensor_core=True)` tells "
        "when it is done.",
        severity=Severity.WARNING,
    ),
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
