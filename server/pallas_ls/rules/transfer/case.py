"""The question that this package answers: one `plgpu.async_store_smem` with concrete data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...domain.finding import JaxError
from ...domain.layout import RegisterLayout
from ...domain.target import NEWEST, JaxVersion, Semantics
from ...domain.tiling import Shape


class BarrierKind(Enum):
    """What is passed as the barrier."""

    BARRIER = "barrier"
    CLUSTER = "cluster"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class Sliced:
    """A dimension of a ref of which `size` elements are taken.

    `offset_multiple` divides the offset as far as is known: 0 for an offset of 0, 1 where nothing is known.
    """

    size: int
    offset_multiple: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """How the stored-to ref is taken from the one that was allocated: `.at[index]`, then a transposition.

    Attributes:
      parent: shape of the allocated ref.
      index: one entry a dimension of `parent`; None is an integer index, which drops the dimension.
      permutation: of what the index left, or None.
    """

    parent: Shape
    index: tuple[Sliced | None, ...]
    permutation: tuple[int, ...] | None = None

    @property
    def shape(self) -> Shape:
        """The view's shape."""
        sizes = tuple(i.size for i in self.index if i is not None)
        return sizes if self.permutation is None else tuple(sizes[p] for p in self.permutation)


@dataclass(frozen=True, slots=True)
class StoreCase:
    """All that decides what JAX says of an `async_store_smem`, from its check for scalars on.

    Attributes:
      shape: of the value, and of the ref (or view) it is stored to.
      bits: width of an element as JAX counts it (int4: 4, bool: 8).
      dtype: JAX's name ("float16", "int4").
      source: the value's register layout; None where it is not known (Lane) or left to the solver (Warpgroup).
        Under Warpgroup a `Splat` is a constant that the solver may still give any layout.
      tiling, swizzle: the allocated ref's TilingTransform and SwizzleTransform (bytes), None without.
      view: None where the ref is stored to as allocated.
      constant: the value is one number repeated, also where it is cast to `source`.
    """

    shape: Shape
    bits: int
    dtype: str
    source: RegisterLayout | None
    tiling: Shape | None
    swizzle: int | None
    semantics: Semantics
    version: JaxVersion = NEWEST
    optimized: bool = True
    atomic: str | None = None
    barrier: BarrierKind = BarrierKind.BARRIER
    barrier_orders_tensor_core: bool = False
    view: View | None = None
    arch: tuple[int, int] = (9, 0)
    constant: bool = False

    @property
    def register_bits(self) -> int:
        """Width of an element in registers and in the compiler's types: a bool, a byte for JAX, is one bit there."""
        return 1 if self.dtype == "bool" else self.bits

    @property
    def allocated(self) -> Shape:
        """Shape of the ref that carries the transforms."""
        return self.shape if self.view is None else self.view.parent


@dataclass(frozen=True, slots=True)
class Accepted:
    """JAX lowers the call. `layout` is the register layout it uses, where it is known."""

    layout: RegisterLayout | None = None


@dataclass(frozen=True, slots=True)
class Undecided:
    """The data given does not decide; nothing may be claimed. `reason` says what is missing."""

    reason: str


Outcome = JaxError | Accepted | Undecided
