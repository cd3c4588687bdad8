"""Warnings about what lowers and the GPU, or its compiler, does not take."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.dtype import DType
from ..domain.finding import Severity
from ..domain.python import Int
from ..domain.ref import Ref
from .rule import Answer, Note, Problem, Rule
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


#: What only GPUs with tensor memory have (compute capability 10 and 11).
_TENSOR_MEMORY = (
    "tcgen05_mma",
    "tcgen05_commit_arrive",
    "TMEM",
    "async_load_tmem",
    "async_store_tmem",
    "async_copy_smem_to_tmem",
)


def tensor_memory(v: CallView) -> Answer:
    """Tensor memory, or a barrier that orders it, for a GPU that has none."""
    if v.target.inferred or v.target.arch is None or v.capability[0] in (10, 11) or v.capability[0] > 12:
        return None
    if v.fact.api in ("Barrier", "ClusterBarrier") and v.value("orders_tensor_core") is not True:
        return None
    instead = " On Hopper: plgpu.wgmma, with its accumulator in registers (plgpu.ACC)." if v.capability[0] == 9 else ""
    text = (
        f"{v.fact.api} is for GPUs with tensor memory (sm_100a); this is for {v.target.arch}, for which the compiler "
        f"aborts.{instead}"
    )
    return Problem(text)


def warpgroup_product(v: CallView) -> Answer:
    """A `wgmma` for another GPU than Hopper, or in a kernel that uses tensor memory."""
    text = "wgmma is an instruction of Hopper (sm_90a) alone. "
    if not v.target.inferred and v.target.arch is not None and v.capability[0] != 9:
        text += f"This is for {v.target.arch}."
        if v.capability[0] in (10, 11):
            text += (
                " There: plgpu.tcgen05_mma into plgpu.TMEM of 128 or 64 rows, signalling a "
                "plgpu.Barrier(orders_tensor_core=True) that is waited for, then plgpu.async_load_tmem."
            )
        return Problem(text)
    other = next((f for f in v.kernel() if f.api == "tcgen05_mma"), None)
    if other is None or v.fact.launch is None:
        return None
    text += "The kernel multiplies with tcgen05_mma, too, which Hopper does not have: no GPU runs both."
    return Problem(text, notes=(Note(other.site, "tcgen05_mma"),))


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
    Rule(
        "tensor-memory-architecture",
        "Tensor memory is for GPUs that have it.",
        (*_TENSOR_MEMORY, "Barrier", "ClusterBarrier"),
        910,
        tensor_memory,
        "LLVM, the selection of instructions for NVPTX",
        "JAX lowers `tcgen05` for every GPU; the compiler that comes after it knows its instructions for compute "
        "capability 10 and 11 only, and aborts the whole process. The warning is given where the architecture is set, "
        "or written in the file (`# pallas: target sm_90a`).",
        severity=Severity.WARNING,
    ),
    Rule(
        "wgmma-architecture",
        "wgmma is for Hopper.",
        _WGMMA,
        910,
        warpgroup_product,
        "LLVM, the selection of instructions for NVPTX",
        "`wgmma` exists on sm_90a only: newer GPUs multiply with `tcgen05`, whose accumulator is in tensor memory. The "
        "warning is given where the architecture is set or written in the file, and where a kernel uses both.",
        severity=Severity.WARNING,
    ),
)
