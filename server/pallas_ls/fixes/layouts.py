"""Edits of a stored value's register layout."""

from __future__ import annotations

from ..domain.array import Array, LayoutName
from ..domain.layout import Tiled
from .candidate import Edits, Repair, some

#: Layouts that are no answer: they belong to copies and to operands of matrix multiplications, or are private.
NEVER = ("_", "SMEM_GMEM_COPY", "MMA_", "TMA_INDICES", "TCGEN05_M64")


def can_be_named(layout: object) -> bool:
    """Whether a layout may be written into a program."""
    return isinstance(layout, Tiled) and bool(layout.name) and not layout.name.startswith(NEVER)


def give_layout(repair: Repair, layout: Tiled) -> Edits:
    """Edits that give the stored value a layout: in the cast or load that names one, else by a cast around it."""
    src = repair.view.value("src")
    if not isinstance(src, Array) or not can_be_named(layout):
        return None
    named = _named_by(src)
    if named is not None:
        text = repair.source(named)
        prefix = text.split("Layout.")[0] if text is not None and "Layout." in text else None
        if prefix is not None:
            return some(repair.replace(named, f"{prefix}Layout.{layout.name}"))
    cast, full = repair.spelled("layout_cast"), repair.spelled(f"Layout.{layout.name}")
    return some(repair.wrap(repair.view.site("src"), f"{cast}(", f", {full})"))


def _named_by(src: Array):
    """The expression that names the value's layout."""
    if src.made is None or not isinstance(src.layout, LayoutName):
        return None
    return src.made.args.get("new_layout") or src.made.args.get("layout")
