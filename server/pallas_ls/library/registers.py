"""Register layouts that operations on values give their results, inside kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..domain.array import Array, ArrayLayout, LayoutName, Shape, Splat
from ..domain.python import Unknown

MIXED = Unknown("layout of mixed operands")
MOVED = Unknown("layout after an operation that moves elements")
FREE = Unknown("layout that the operation leaves to JAX")


def created(m: Any) -> ArrayLayout:
    """Of a constant: one value repeated in registers; none on the host."""
    return Splat() if m.launch is not None else None


def moved(m: Any, *sources: Array) -> ArrayLayout:
    """Of an operation that moves elements about: a splat stays one, everything else is not known."""
    if m.launch is None:
        return None
    return Splat() if sources and all(is_splat(a) for a in sources) else MOVED


def generated(m: Any) -> ArrayLayout:
    """Of values made element by element (`iota`): not known."""
    return FREE if m.launch is not None else None


def is_splat(a: Array) -> bool:
    """Whether it is one value repeated; scalars are when they meet arrays."""
    return isinstance(a.layout, Splat) or a.shape == ()


def elementwise(m: Any, operands: Iterable[Array], shape: Shape) -> ArrayLayout:
    """Of an elementwise operation with this result shape: the layout that its operands that are no splats share."""
    if m.launch is None:
        return None
    rows = list(operands)
    others = [a for a in rows if not is_splat(a)]
    if not others:
        return Splat() if all(isinstance(a.layout, Splat) for a in rows) or shape != () else None
    if any(a.shape != shape for a in others):
        return MIXED
    first = others[0].layout
    return first if all(a.layout == first for a in others) else MIXED


def reduced(m: Any, a: Array, axes: Sequence[int] | None, keepdims: bool) -> ArrayLayout:
    """Of a reduction over axes (counted in `a`): the layout with these axes reduced."""
    if m.launch is None:
        return None
    if isinstance(a.layout, Splat):
        return Splat()
    if isinstance(a.shape, tuple) and axes is not None and len(axes) == len(a.shape) and not keepdims:
        return None  # a scalar
    if isinstance(a.layout, LayoutName) and axes is not None and len(axes) == 1 and not keepdims:
        return LayoutName(a.layout.name, a.layout.args, (*a.layout.reduced, axes[0]))
    return a.layout if isinstance(a.layout, Unknown) else MOVED
