"""Values in words: shapes, bytes, memory, transforms; and why something is not known."""

from __future__ import annotations

import re

from ..domain import dim as dims
from ..domain.array import Array, ArrayLayout, LayoutName, Shape, ShapeDtype, Splat, byte_count
from ..domain.dim import Dim
from ..domain.dtype import DType
from ..domain.facts import Facts
from ..domain.python import Choice, Int, Opaque, Unknown, Value
from ..domain.ref import Loaded, Ref, RefType, Swizzle, Tiling

#: Sizes of async_store_smem and of Lane's copies are multiples of this.
WARPGROUP = 128


def describe(v: Value, facts: Facts) -> str | None:
    """One line about a value that has a shape; None for others."""
    if isinstance(v, Choice):
        yes, no = describe(v.yes, facts), describe(v.no, facts)
        return f"{yes or '?'} or {no or '?'}" if yes or no else None
    if isinstance(v, Array):
        parts = [type_text(v.shape, v.dtype, facts), bytes_text(v.shape, v.dtype, facts), layout_text(v.layout)]
        return _joined(parts)
    if isinstance(v, Ref):
        return _joined([type_text(v.shape, v.dtype, facts), *_memory(v.type, v.shape, facts), _view_text(v, facts)])
    if isinstance(v, RefType):
        return _joined([type_text(v.shape, v.dtype, facts), *_memory(v, v.shape, facts)])
    if isinstance(v, ShapeDtype):
        return _joined([type_text(v.shape, v.dtype, facts), bytes_text(v.shape, v.dtype, facts)])
    if isinstance(v, Unknown):
        return f"not known: {v.why}"
    return None


def _joined(parts: list[str]) -> str:
    return " · ".join(p for p in parts if p)


def _memory(t: RefType, shape: Shape, facts: Facts) -> list[str]:
    if t.kind in ("barrier", "cluster_barrier"):
        return [{"barrier": "Barrier", "cluster_barrier": "ClusterBarrier"}[t.kind]]
    return [
        bytes_text(shape, t.dtype, facts),
        t.space.upper() if t.space != "regs" else "registers",
        transforms_text(t, facts),
    ]


def _view_text(v: Ref, facts: Facts) -> str:
    return f"view of {type_text(v.type.shape, v.type.dtype, facts)}" if v.views else ""


def type_text(shape: Shape, dtype: object, facts: Facts) -> str:
    """ "float16[64, tile_n]"."""
    if isinstance(dtype, DType) and dtype.family in ("barrier", "semaphore"):
        inner = ", ".join(_extent(e, facts) for e in shape) if isinstance(shape, tuple) else "?"
        return f"{dtype.name}[{inner}]"
    name = dtype.name if isinstance(dtype, (DType, Opaque)) else "?"
    if isinstance(shape, Opaque):
        return f"{name}[*{shape.name}]"
    if not isinstance(shape, tuple):
        return f"{name}[…]"
    return f"{name}[{', '.join(_extent(e, facts) for e in shape)}]"


def _extent(e: Value, facts: Facts) -> str:
    return dim_text(facts.simplify(e.dim)) if isinstance(e, Int) else "?"


def dim_text(d: Dim) -> str:
    """A Dim for a person: what a variable holds that is not known goes by the variable's name."""
    return _LABEL.sub(lambda found: found[1] or "?", dims.text(d))


#: A symbol for what an unknown value stands for (`evaluate/naming.py`): "?name#3"; "?#3f" for one of two such.
_LABEL = re.compile(r"\?(\w*)#[0-9a-f]+")


def bytes_text(shape: Shape, dtype: object, facts: Facts) -> str:
    """The size: "8,192 B", or a formula with what is known of it."""
    n = byte_count(shape, dtype)  # pyright: ignore[reportArgumentType]
    return size_text(facts.simplify(n), facts) if n is not None else ""


def size_text(n: Dim, facts: Facts) -> str:
    """A number of bytes, and of a formula what divides it."""
    if isinstance(n, int):
        return f"{n:,} B"
    known = facts.divisor(n)
    return f"{dim_text(n)} B" + (f", a multiple of {known}" if known > 1 else "")


def remainder_text(n: Dim, facts: Facts) -> str:
    """How a size relates to 128 bytes."""
    n = facts.simplify(n)
    if isinstance(n, int):
        rest = n % WARPGROUP
        return (
            f"{n:,} = {n // WARPGROUP} x 128"
            if rest == 0
            else f"{n:,} % 128 = {rest}; next multiple {-(-n // WARPGROUP) * WARPGROUP:,}"
        )
    known = facts.divisor(n)
    return "a multiple of 128" if known % WARPGROUP == 0 else "remainder to 128 not known"


def transforms_text(t: RefType, facts: Facts) -> str:
    """Tiling and swizzle."""
    if isinstance(t.transforms, Unknown):
        return "transforms not known"
    out: list[str] = []
    for x in t.transforms:
        if isinstance(x, Tiling):
            inner = ", ".join(_extent(e, facts) for e in x.tiling) if isinstance(x.tiling, tuple) else "?"
            out.append(f"tiling ({inner})")
        elif isinstance(x, Swizzle):
            out.append(f"swizzle {_extent(x.swizzle, facts)}")
        else:
            out.append(x.name)
    return ", ".join(out)


def layout_text(layout: ArrayLayout) -> str:
    """The register layout, where the program decides it."""
    if isinstance(layout, LayoutName):
        return f"layout {layout.short}"
    if isinstance(layout, Splat):
        return "splat"
    return "layout of a load" if isinstance(layout, Loaded) else ""
