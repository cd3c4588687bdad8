"""What the hardware takes, as JAX's tables have it, and the words in which releases refuse."""

from __future__ import annotations

from ...domain.dtype import DType
from ...domain.target import JaxVersion
from .case import V12

#: Extent of a box of TMA along one dimension, dimensions of a box, and the unit of its rows and strides in bits.
LONGEST, MOST_DIMENSIONS, UNIT = 256, 5, 128
#: Bytes: copies under Lane semantics are counted by the 128 threads of a warpgroup.
WARPGROUP = 128
#: Columns that one row of a gather takes.
GATHER_COLUMNS = 256

_FLOATS = {"float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "float4_e2m1fn": "f4E2M1FN"}
_WIDE = frozenset(("i32", "i64"))
#: Element types of each reduction of `copy_smem_to_gmem` (launch_context.py, _is_tma_reduction_op_supported).
REDUCTIONS: dict[str, frozenset[str]] = {
    "add": frozenset(("f16", "f32", "bf16", "i32", "i64")),
    "min": frozenset(("f16", "bf16")),
    "max": frozenset(("f16", "bf16")),
    **dict.fromkeys(("umin", "umax", "smin", "smax", "and", "or", "xor"), _WIDE),
    **dict.fromkeys(("inc", "dec"), frozenset(("i32",))),
}


def element_name(d: DType) -> str:
    """MLIR's name of an element type: "f32", "i8", "f8E4M3FN"."""
    if d.name == "bool":
        return "i1"
    if d.is_integer:
        return f"i{d.bits}"
    return _FLOATS.get(d.name) or d.name.replace("float8_", "f8").replace("fnuz", "FNUZ").upper().replace("F8", "f8")


def element_bits(d: DType) -> int:
    """Width of an element in MLIR's types."""
    return 1 if d.name == "bool" else d.bits


def stride_text(version: JaxVersion) -> str:
    """JAX's refusal of an operand whose rows do not begin at multiples of 16 bytes."""
    what = "async_copy requires" if version < V12 else "Async copies require"
    return f"{what} all GMEM strides except the last one to be a multiple of 16 bytes"
