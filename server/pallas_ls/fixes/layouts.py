"""Edits of a stored value's register layout."""

from __future__ import annotations

from ..domain.array import Array, LayoutName
from ..domain.layout import Tiled
from ..rules.transfer.nearest import is_for_values
from .candidate import Edits, Repair, some


def give_layout(repair: Repair, layout: Tiled) -> Edits:
    """Edits that give the stored value a layout: in the cast or load that names one, else by a cast around it."""
    src = repair.view.value("src")
    if not isinstance(src, Array) or not is_for_values(layout):
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
