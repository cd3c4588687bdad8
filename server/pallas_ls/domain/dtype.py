"""JAX's element types: names, sizes in bits and families."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DType:
    """An element type.

    Attributes:
      name: JAX's name ("bfloat16").
      bits: size of one element in bits, as Mosaic GPU stores it (bool takes 8 in memory, 1 as a predicate).
      family: "bool", "int", "uint", "float", "complex" or "key".
    """

    name: str
    bits: int
    family: str

    @property
    def is_float(self) -> bool:
        """Whether it is a floating point type of any width."""
        return self.family == "float"

    @property
    def is_integer(self) -> bool:
        """Whether it is a signed or unsigned integer type (not bool)."""
        return self.family in ("int", "uint")

    def __str__(self) -> str:
        return self.name


def _table() -> dict[str, DType]:
    rows = [DType("bool", 8, "bool")]
    rows += [DType(f"int{n}", n, "int") for n in (2, 4, 8, 16, 32, 64)]
    rows += [DType(f"uint{n}", n, "uint") for n in (2, 4, 8, 16, 32, 64)]
    rows += [DType(f"float{n}", n, "float") for n in (16, 32, 64)]
    rows += [DType("bfloat16", 16, "float"), DType("complex64", 64, "complex"), DType("complex128", 128, "complex")]
    small = ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
    rows += [DType(f"float8_{s}", 8, "float") for s in small]
    rows += [DType("float4_e2m1fn", 4, "float")]
    return {d.name: d for d in rows}


#: Every element type by JAX's name.
DTYPES: dict[str, DType] = _table()
BARRIER = DType("barrier", 64, "barrier")
SEMAPHORE = DType("semaphore", 32, "semaphore")
#: Other spellings: Python's types, `bool_`, abbreviations of MLIR and of jaxtyping.
ALIASES: dict[str, str] = {
    "bool_": "bool",
    "int": "int32",
    "float": "float32",
    "complex": "complex64",
    "int_": "int32",
    "float_": "float32",
    "double": "float32",
    "single": "float32",
    "half": "float16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "bfloat16",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
}
_NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def dtype_named(name: str) -> DType | None:
    """The element type with this name or alias; None for any other text."""
    return DTYPES.get(ALIASES.get(name, name))


def canonical(d: DType) -> DType:
    """What JAX makes of it without x64: 64-bit types become 32-bit ones."""
    return DTYPES[_NARROW.get(d.name, d.name)]
