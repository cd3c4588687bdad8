"""Values that JAX traces: arrays and what describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from ..source.span import Site
from . import dim as dims
from .dim import Dim
from .dtype import DType
from .python import Int, Made, Opaque, Unknown, Value

#: One extent: known (`Int`, exact or symbolic) or not.
Extent = Union[Int, Unknown]
#: All extents, or only a name (`x.shape` of a parameter), or not even the rank.
Shape = Union[tuple[Extent, ...], Opaque, Unknown]
ElementType = Union[DType, Opaque, Unknown]


@dataclass(frozen=True, slots=True)
class LayoutName:
    """A register layout as the program names it: `plgpu.Layout.WGMMA.reduce(1)`.

    Attributes:
      name: the member of `plgpu.Layout`, or another constructor's name.
      args, options: arguments of a parametric layout (shape, vector length, swizzle) and its keywords, as values.
      reduced: axes removed by `.reduce`, each counted in the layout before its own removal.
    """

    name: str
    args: tuple[Value, ...] = ()
    reduced: tuple[int, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()

    @property
    def shown(self) -> str:
        """As the program writes it, its arguments left out: "plgpu.Layout.WGMMA.reduce(1)"."""
        return f"plgpu.Layout.{self.short}"

    @property
    def short(self) -> str:
        """The same without where the name comes from: "WGMMA.reduce(1)"."""
        return self.name + "".join(f".reduce({axis})" for axis in self.reduced)


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """What computed an array inside a kernel: the edges of the kernel's dataflow, for rules about register layouts.

    Attributes:
      name: the library's name of the function ("jax.numpy.sum", "operator.binary", "load", "ref.get").
      operands: values by parameter name.
      site: the expression.
      result: what it gave, which does not remember this operation.
      warp: in code of a single warp.
    """

    name: str
    operands: Mapping[str, Value]
    site: Site
    result: Value = None
    warp: bool = False


@dataclass(frozen=True, slots=True)
class Splat:
    """One value repeated: what `jnp.zeros`, `jnp.full` and broadcast scalars make inside a kernel."""


#: Where an array's layout comes from: named by the program, splat, a `ref.Loaded`, not known (Unknown), or left to
#: JAX (None).
ArrayLayout = Any


@dataclass(frozen=True, slots=True)
class Array:
    """A traced array (or a host array; the difference shows only where a kernel is running).

    Attributes:
      shape: extents in elements.
      weak: JAX's weak type (made from a Python scalar).
      layout: the register layout, where the program decides it; inside kernels only.
      index: the integer that a scalar stands for, where it is known (for offsets and slots).
      by: what computed it, inside kernels; None where that is not known.
      cast_from: the layout before the `layout_cast` that gave this one.
    """

    shape: Shape
    dtype: ElementType
    weak: bool = False
    layout: ArrayLayout = field(default=None, hash=False)
    index: Int | None = field(default=None, hash=False)
    made: Made | None = field(default=None, compare=False)
    cast_from: ArrayLayout = field(default=None, compare=False)
    by: Operation | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShapeDtype:
    """`jax.ShapeDtypeStruct`: the type of an argument or a result; with a `layout`, `plgpu.ShapeDtypeStruct`."""

    shape: Shape
    dtype: ElementType
    made: Made | None = field(default=None, compare=False)
    layout: Value = field(default=None, compare=False)


def label_extent(v: Unknown) -> Dim:
    """The extent that an unknown value with a label stands for: a symbol of its own."""
    return dims.symbol(v.label, low=0)


def extents(shape: Shape) -> tuple[Dim, ...] | None:
    """The shape as Dims; None where the rank or any extent is unknown."""
    if not isinstance(shape, tuple):
        return None
    out: list[Dim] = []
    for e in shape:
        if not isinstance(e, Int):
            return None
        out.append(e.dim)
    return tuple(out)


def element_count(shape: Shape) -> Dim | None:
    """Number of elements; None where unknown."""
    known = extents(shape)
    return None if known is None else dims.product(known)


def element_bits(dtype: ElementType) -> Dim | None:
    """Bits of an element; symbolic (`bits(x.dtype)`) for a type known by name only."""
    if isinstance(dtype, DType):
        return dtype.bits
    if isinstance(dtype, Opaque):
        return dims.of_atom(dims.Op("bits", (dims.symbol(dtype.name),)))
    return None


def byte_count(shape: Shape, dtype: ElementType) -> Dim | None:
    """Size in bytes, sub-byte elements packed; None where unknown or where it is no whole number of bytes."""
    count, bits = element_count(shape), element_bits(dtype)
    if count is None or bits is None:
        return None
    total = dims.mul(count, bits)
    if isinstance(total, int):
        return total // 8 if total % 8 == 0 else None
    return dims.floordiv(total, 8)


def shape_of(values: Sequence[Int | int]) -> tuple[Int, ...]:
    """A known shape from integers."""
    return tuple(v if isinstance(v, Int) else Int(v) for v in values)
