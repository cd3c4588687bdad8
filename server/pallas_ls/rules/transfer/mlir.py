"""How MLIR spells the types that JAX's messages quote."""

from __future__ import annotations

from ...domain.tiling import Shape

#: MLIR's spelling of JAX's dtypes, where it is not "i" or "f" and a width.
_MLIR_NAMES = {
    "bool": "i1",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float4_e2m1fn": "f4E2M1FN",
}


def mlir_type(dtype: str) -> str:
    """An element type as MLIR prints it: "uint8" -> "i8"."""
    if dtype in _MLIR_NAMES:
        return _MLIR_NAMES[dtype]
    return "i" + dtype.removeprefix("u").removeprefix("int") if "int" in dtype else "f" + dtype.removeprefix("float")


def smem_memref(shape: Shape, dtype: str) -> str:
    """The type of a ref in shared memory: "memref<64x64xf16, #gpu.address_space<workgroup>>"."""
    sizes = "".join(f"{size}x" for size in shape)
    return f"memref<{sizes}{mlir_type(dtype)}, #gpu.address_space<workgroup>>"
