"""What differs between JAX releases, as a table. Each entry was measured on the release that it names."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.finding import JaxError
from ...domain.target import MEASURED, JaxVersion

INFER = (
    "Failed to infer a possible set of layouts. This should only happen if "
    "user-provided layout casts are unsatisfiable."
)
DUMP = " To dump the constraint system for debugging, use `MOSAIC_GPU_DUMP_CONSTRAINT_SYSTEM=1`."


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One release's solver, planner and messages.

    Attributes:
      unsatisfiable: the layout solver's general refusal.
      names_conflict: the solver's message names the register layout and the ref's transforms where it can.
      stride_error, vector_error: raised by `transfer_tiled` for strides that the vector does not fit.
      solver_checks_strides: the solver rejects transfers of those strides; before, only the lowering noticed.
      bytes_in_bits: Warpgroup's message of the byte rule counts bits.
      swizzle_from_tiling: Warpgroup ignores the given swizzle and takes the one that the tiling's minor size implies.
      op_result: Python's name of the class that stands for a data ref.
      checks_architecture: barriers are refused before Hopper.
      splat_from_front: a splat's dimensions are compared with the base tile's from the first, not from the last.
      transposes_in_layouts: under Lane, only a transposed reference is loaded or stored in a transposed layout.
      matrix_instructions: loads and stores try ldmatrix and stmatrix.
      stores_read_first: under Lane, a store loads what it replaces, and an untiled one is never optimized.
      plans_gmem: optimized transfers with global memory are planned; before, they are refused.
    """

    unsatisfiable: JaxError
    names_conflict: bool
    stride_error: JaxError
    vector_error: JaxError
    solver_checks_strides: bool
    bytes_in_bits: bool
    swizzle_from_tiling: bool
    splat_from_front: bool
    op_result: str
    checks_architecture: bool
    transposes_in_layouts: bool = False
    matrix_instructions: bool = True
    stores_read_first: bool = True
    plans_gmem: bool = False


_VECTOR_TEXT = "Vectorized dimension should not require further tiling and have a stride of 1"
_STRIDE_TEXT = "Tiled strides must be a multiple of the vector length, except for the load vectorized dimension"
_OLD_STRIDE_TEXT = "Tiled strides must be a multiple of the vector length, except for the vector dimension"

_TABLE: dict[JaxVersion, Behaviour] = {
    JaxVersion(0, 10, 2): Behaviour(
        unsatisfiable=JaxError("ValueError", INFER),
        names_conflict=False,
        stride_error=JaxError("ValueError", _OLD_STRIDE_TEXT),
        vector_error=JaxError("ValueError", _VECTOR_TEXT),
        solver_checks_strides=False,
        bytes_in_bits=True,
        swizzle_from_tiling=True,
        splat_from_front=True,
        op_result="OpResult",
        checks_architecture=False,
        transposes_in_layouts=True,
        matrix_instructions=False,
    ),
    JaxVersion(0, 11, 2): Behaviour(
        unsatisfiable=JaxError("ValueError", INFER + DUMP),
        names_conflict=False,
        stride_error=JaxError("UnsupportedTransferError", _STRIDE_TEXT),
        vector_error=JaxError("UnsupportedTransferError", _VECTOR_TEXT),
        solver_checks_strides=True,
        bytes_in_bits=True,
        swizzle_from_tiling=False,
        splat_from_front=False,
        op_result="jaxlib.mlir._mlir_libs._mlir.ir.OpResult",
        checks_architecture=True,
    ),
    JaxVersion(0, 12, 0): Behaviour(
        unsatisfiable=JaxError("ValueError", INFER + DUMP),
        names_conflict=True,
        stride_error=JaxError("UnsupportedTransferError", _STRIDE_TEXT),
        vector_error=JaxError("UnsupportedTransferError", _VECTOR_TEXT),
        solver_checks_strides=True,
        bytes_in_bits=False,
        swizzle_from_tiling=False,
        splat_from_front=False,
        op_result="jaxlib.mlir._mlir_libs._mlir.ir.OpResult",
        checks_architecture=True,
        stores_read_first=False,
        plans_gmem=True,
    ),
}


def behaviour(version: JaxVersion) -> Behaviour:
    """The behaviour of the newest measured release that is not newer than `version` (else of the oldest)."""
    known = [measured for measured in MEASURED if measured <= version]
    return _TABLE[known[-1] if known else MEASURED[0]]
