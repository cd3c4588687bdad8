"""Arrays as annotations describe them: `x: BFloat16[Array, "64 n"]` (jaxtyping)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..domain.dtype import DType, dtype_named

_ARRAY = re.compile(r"""(?:\w+\.)*(\w+)\s*\[\s*[\w.]+\s*,\s*(["'])(.*?)\2\s*\]""", re.DOTALL)
#: An extent that examples show where none is known.
USUAL = 4096


@dataclass(frozen=True, slots=True)
class AnnotatedArray:
    """An array's type as far as its annotation gives it.

    Attributes:
      dtype: None for `Float`, `Int`, `Num` and the like, which leave the width open.
      extents: elements a dimension, or the name of one that is open ("n", "*batch", "...").
    """

    dtype: DType | None
    extents: tuple[int | str, ...]

    @property
    def is_exact(self) -> bool:
        """Whether it says all that an array is made from."""
        return self.dtype is not None and all(isinstance(e, int) for e in self.extents)

    @property
    def expression(self) -> str:
        """The array's type as an expression of a module that knows `jax`."""
        inner = ", ".join(map(str, self.extents)) + ("," if len(self.extents) == 1 else "")
        return f"jax.ShapeDtypeStruct(({inner}), jax.numpy.{self.dtype})"

    @property
    def example(self) -> str:
        """The type as example comments write it, with a usual number for what is open: `bfloat16[64, 4096]`."""
        extents = (str(e if isinstance(e, int) else USUAL) for e in self.extents)
        return f"{self.dtype or 'bf16'}[{', '.join(extents)}]"


def annotated_array(annotation: str) -> AnnotatedArray | None:
    """What an annotation's text says of an array; None where it says nothing of shapes."""
    text = annotation.strip()
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        text = text[1:-1]
    found = _ARRAY.fullmatch(text)
    if found is None:
        return None
    return AnnotatedArray(_dtype(found[1]), tuple(_extent(word) for word in found[3].split()))


def _dtype(name: str) -> DType | None:
    """`BFloat16`, `Int8`, `Float8e4m3fn`; `Float` and `Int` leave the width open."""
    lower = name.lower()
    if lower != "bool" and not any(c.isdigit() for c in lower):
        return None
    return dtype_named(lower) or dtype_named(re.sub(r"^(float[48])", r"\1_", lower))


def _extent(word: str) -> int | str:
    """`64`, also under a name (`rows=64`) or where it broadcasts (`#64`); any other word is a name."""
    digits = word.rpartition("=")[2].lstrip("#")
    return int(digits) if digits.isdecimal() else word
