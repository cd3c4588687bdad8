"""Edits of a buffer's transforms."""

from __future__ import annotations

from ..domain.array import element_bits
from ..domain.python import Int
from ..domain.ref import RefType, Swizzle, Tiling
from .candidate import Edits, Repair, some, together
from .literals import set_number

SWIZZLES = (128, 64, 32)


def set_transforms(repair: Repair, t: RefType, tiling: tuple[int, ...], swizzle: int) -> Edits:
    """Edits that give a buffer this tiling (elements) and swizzle (bytes); numbers change where they are defined."""
    if not isinstance(t.transforms, tuple) or t.made is None:
        return None
    tilings = [x for x in t.transforms if isinstance(x, Tiling)]
    swizzles = [x for x in t.transforms if isinstance(x, Swizzle)]
    if len(tilings) + len(swizzles) != len(t.transforms) or max(len(tilings), len(swizzles)) > 1:
        return None
    if tilings and swizzles:
        return together(set_tiling(repair, tilings[0], tiling), set_swizzle(repair, swizzles[0], swizzle))
    if tilings:
        return together(set_tiling(repair, tilings[0], tiling), _add_swizzle(repair, t, tilings[0], swizzle))
    if swizzles:
        return together(set_swizzle(repair, swizzles[0], swizzle), _add_tiling(repair, t, swizzles[0], tiling))
    return _add_both(repair, t, tiling, swizzle)


def set_tiling(repair: Repair, x: Tiling, tiling: tuple[int, ...]) -> Edits:
    """Edits of a tiling's numbers; of the whole tiling where its numbers come from elsewhere."""
    where = x.made.args.get("tiling") if x.made else None
    if isinstance(x.tiling, tuple) and len(x.tiling) == len(tiling):
        changed = [(e, n) for e, n in zip(x.tiling, tiling, strict=True) if repair.view.exact(e) != n]
        groups = [set_number(repair, e, n) if isinstance(e, Int) else None for e, n in changed]
        edits = together(*groups)
        if edits is not None:
            return edits
    return some(repair.replace(where, str(tiling)))


def set_swizzle(repair: Repair, x: Swizzle, swizzle: int) -> Edits:
    """Edits of a swizzle's number."""
    if repair.view.exact(x.swizzle) == swizzle:
        return ()
    edits = set_number(repair, x.swizzle, swizzle) if isinstance(x.swizzle, Int) else None
    where = x.made.args.get("swizzle") if x.made else None
    return edits if edits is not None else some(repair.replace(where, str(swizzle)))


def swizzle_alone(repair: Repair, t: RefType, swizzle: int) -> Edits:
    """Edits of a buffer's swizzle where it has one, in the constant behind it."""
    for x in t.transforms if isinstance(t.transforms, tuple) else ():
        if isinstance(x, Swizzle) and isinstance(x.swizzle, Int):
            return set_number(repair, x.swizzle, swizzle)
    return None


def _tiling_text(repair: Repair, t: RefType, tiling: tuple[int, ...]) -> str:
    return f"{repair.spelled('TilingTransform', t.made.site if t.made else None)}({tiling})"


def _swizzle_text(repair: Repair, t: RefType, swizzle: int) -> str:
    return f"{repair.spelled('SwizzleTransform', t.made.site if t.made else None)}({swizzle})"


def _add_swizzle(repair: Repair, t: RefType, x: Tiling, swizzle: int) -> Edits:
    return some(repair.insert_after(x.made.site if x.made else None, f", {_swizzle_text(repair, t, swizzle)}"))


def _add_tiling(repair: Repair, t: RefType, x: Swizzle, tiling: tuple[int, ...]) -> Edits:
    return some(repair.insert_before(x.made.site if x.made else None, f"{_tiling_text(repair, t, tiling)}, "))


def _add_both(repair: Repair, t: RefType, tiling: tuple[int, ...], swizzle: int) -> Edits:
    if t.made is None:
        return None
    both = f"({_tiling_text(repair, t, tiling)}, {_swizzle_text(repair, t, swizzle)})"
    where = t.made.args.get("transforms")
    if where is not None:
        return some(repair.replace(where, both))
    return some(repair.add_argument(t.made.site, f"transforms={both}"))


def drop_transforms(repair: Repair, t: RefType) -> Edits:
    """Edits that leave a buffer without transforms."""
    where = t.made.args.get("transforms") if t.made else None
    return some(repair.remove_argument(t.made.site, where)) if t.made and where is not None else None


def usual_tiling(rank: int, swizzle: int, bits: int, rows: int = 8) -> tuple[int, ...]:
    """The tiling that goes with a swizzle: rows as wide as it, eight of them where there are rows."""
    columns = 8 * swizzle // bits
    return (columns,) if rank == 1 else (rows, columns)


def bits_of(t: RefType) -> int | None:
    """Width of an element in bits, where it is known."""
    bits = element_bits(t.dtype)
    return bits if isinstance(bits, int) else None


def described(tiling: tuple[int, ...], swizzle: int) -> str:
    """Transforms for a title."""
    return f"TilingTransform({tiling}) with SwizzleTransform({swizzle})"
