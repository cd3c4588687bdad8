"""What both multiplications share: transforms that the tensor core reads, names of element types, verifier's errors."""

from __future__ import annotations

from ...domain.finding import JaxError
from ...domain.target import JaxVersion
from ..transfer.behaviour import INFER
from .case import Operand, Refused, Shape

#: Bytes, widest first: the order in which the layout solver tries them.
SWIZZLES = (128, 64, 32)
FP8 = ("float8_e4m3fn", "float8_e5m2")
#: MLIR's spelling, in JAX's messages.
MLIR = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int8": "i8",
    "uint8": "i8",
    "int16": "i16",
    "uint16": "i16",
    "int32": "i32",
    "uint32": "i32",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float4_e2m1fn": "f4E2M1FN",
}
_INTERNAL = (
    "Pallas encountered an internal verification error. Please file a bug at "
    "https://github.com/jax-ml/jax/issues/new/choose. Error details: "
)


def tile_of(swizzle: int, bits: int) -> Shape:
    """The tile that the tensor core reads: eight rows as wide as the swizzle (bytes), in elements."""
    return (8, 8 * swizzle // bits)


def divides(tile: Shape, shape: Shape) -> bool:
    """Whether whole tiles make up a matrix."""
    return all(size % t == 0 for size, t in zip(shape, tile, strict=True))


def candidates(x: Operand) -> list[int]:
    """Swizzles for which the layout solver has a tiling of a matrix, in the order in which it tries them."""
    return [s for s in SWIZZLES if divides(tile_of(s, x.bits), x.allocated)]


#: The layout solver's refusal; some releases go on with a hint.
UNSATISFIABLE = JaxError("ValueError", INFER)


def unverified(version: JaxVersion, details: str) -> JaxError:
    """The refusal of the MLIR verifier."""
    if version < JaxVersion(0, 11):
        return JaxError("MLIRError", "Verification failed:")
    return JaxError("VerificationError", _INTERNAL + details)


def no_tiling(x: Operand, version: JaxVersion) -> JaxError:
    """The solver's refusal of a matrix that no tiling divides."""
    if version < JaxVersion(0, 11):
        return UNSATISFIABLE
    narrow = tile_of(SWIZZLES[-1], x.bits)
    tile = narrow[::-1] if x.transposed else narrow
    return JaxError(
        "ValueError",
        f"No valid tiling found for SMEM reference. {x.shape} not divisible by candidate tiling {tile}",
    )


def refused(kind: str, error: str, text: str, operand: str = "") -> Refused:
    """A refusal in one of Python's exceptions."""
    return Refused(kind, JaxError(error, text), operand)
