"""The questions that this package answers: one matrix multiplication with concrete operands."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.dtype import DTYPES
from ...domain.finding import JaxError
from ...domain.target import NEWEST, JaxVersion, Semantics

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """A matrix as it is passed.

    Attributes:
      shape: rows and columns, after its views.
      dtype: JAX's name.
      space: "smem", "tmem", "gmem", or "regs" for an array.
      tiling, swizzle: of the buffer as allocated, without the leading dimensions that the views have dropped.
      transposed: the view is `ref.T`.
      packed: of TMEM: several elements narrower than 32 bits share a column; None: not given.
      collective: of TMEM: allocated for two blocks.
    """

    shape: Shape
    dtype: str
    space: str = "smem"
    tiling: Shape | None = None
    swizzle: int | None = None
    transposed: bool = False
    packed: bool | None = None
    collective: bool = False

    @property
    def bits(self) -> int:
        """Width of an element."""
        return DTYPES[self.dtype].bits

    @property
    def allocated(self) -> Shape:
        """The shape before the transposition."""
        return self.shape[::-1] if self.transposed else self.shape

    @property
    def plain(self) -> bool:
        """Neither tiled nor swizzled."""
        return self.tiling is None and self.swizzle is None


@dataclass(frozen=True, slots=True)
class WgmmaCase:
    """All that decides what JAX says of `plgpu.wgmma(acc, a, b)`."""

    acc: Shape
    acc_dtype: str
    a: Operand
    b: Operand
    semantics: Semantics
    version: JaxVersion = NEWEST


@dataclass(frozen=True, slots=True)
class MmaCase:
    """All that decides what JAX says of a `plgpu.tcgen05_mma` that is neither scaled nor sparse.

    Attributes:
      collective_axis: the axis named, or None.
      cluster: axis names and extents.
      barrier: the number of barriers passed, or None where none is; `orders`: they order the tensor core.
    """

    acc: Operand
    a: Operand
    b: Operand
    semantics: Semantics
    version: JaxVersion = NEWEST
    collective_axis: str | None = None
    cluster_names: tuple[str, ...] = ()
    cluster: Shape = ()
    barrier: int | None = 1
    orders: bool = True


@dataclass(frozen=True, slots=True)
class Refused:
    """JAX refuses the call.

    Attributes:
      kind: what is wrong, as `rules/wgmma.py` and `rules/tcgen05.py` name it.
      jax: what it raises.
      operand: the operand at fault: "acc", "a", "b", "barrier" or "collective_axis".
    """

    kind: str
    jax: JaxError
    operand: str = ""


@dataclass(frozen=True, slots=True)
class Open:
    """The data given does not decide."""

    why: str


#: None: JAX lowers it, as far as this call is concerned.
Outcome = Refused | Open | None
