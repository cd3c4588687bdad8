"""Fixes of a store that JAX's lowering refuses: the nearest variants that the transfer model accepts, as edits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..domain.array import Array
from ..domain.layout import Tiled
from ..domain.ref import Ds, Indexed, Position, Ref
from ..rules.rule import Unsure
from ..rules.store_case import store_case
from ..rules.transfer.case import StoreCase
from ..rules.transfer.nearest import Candidate as Variant
from ..rules.transfer.nearest import Change, is_for_values, nearest
from ..rules.view import CallView, origins
from .candidate import Candidate, Edits, Repair, some, together
from .layouts import give_layout
from .literals import set_shape
from .padding import padded
from .transforms import described, set_transforms

#: Variants looked at; most of them differ in the layout alone.
LOOKED_AT = 40
#: Variants of one kind of change that are tried: the nearest ones.
OF_A_KIND = 2


def lowering(repair: Repair) -> Iterator[Candidate]:
    """Variants of the refused store, those that change least first."""
    case = store_case(repair.view)
    if isinstance(case, Unsure):
        return
    tried: dict[Change, int] = {}
    for variant in _variants(repair.view, case):
        kind = "grow" if variant.case.shape != case.shape else variant.change.name
        if tried.get(variant.change, 0) >= OF_A_KIND:
            continue
        edits = _edits(repair, case, variant.case)
        if kind == "grow":
            tried[variant.change] = tried.get(variant.change, 0) + (not edits)
            yield from _padded(repair, case, variant.case, edits)
        if edits:
            tried[variant.change] = tried.get(variant.change, 0) + 1
            yield Candidate(_title(repair, case, variant.case), variant.change < Change.SHAPE, edits, kind)


def _variants(view: CallView, case: StoreCase) -> Iterator[Variant]:
    """As the model lists them; of a slot of a buffer (`ref.at[slot]`), those of the slot alone, too."""
    seen: set[StoreCase] = set()
    whole = replace(case, view=None)
    for asked in (case, whole) if case.view is not None and is_slot(view.value("ref")) else (case,):
        for variant in nearest(asked, LOOKED_AT):
            source = variant.case.source
            plain = replace(variant.case, view=None)
            named = source == case.source or not isinstance(source, Tiled) or is_for_values(source)
            if named and plain not in seen and plain != whole:
                seen.add(plain)
                yield variant


def is_slot(ref: object) -> bool:
    """Whether a reference is a buffer, or one slot of several: leading positions, and the whole of the rest."""
    if not isinstance(ref, Ref) or not isinstance(ref.type.shape, tuple):
        return False
    shape = ref.type.shape
    for view in ref.views:
        if not isinstance(view, Indexed) or not isinstance(view.items, tuple):
            return False
        rest = list(zip(view.items, shape, strict=True))
        while rest and isinstance(rest[0][0], Position):
            rest.pop(0)
        if not all(isinstance(i, Ds) and i.size == e for i, e in rest):
            return False
        shape = tuple(e for _, e in rest)
    return True


def _edits(repair: Repair, old: StoreCase, new: StoreCase) -> Edits:
    groups: list[Edits] = []
    if new.optimized != old.optimized:
        groups.append(_unoptimized(repair))
    if isinstance(new.source, Tiled) and new.source != old.source:
        groups.append(give_layout(repair, new.source))
    if (new.tiling, new.swizzle) != (old.tiling, old.swizzle):
        groups.append(_transformed(repair, new))
    if new.shape != old.shape:
        groups.append(resized(repair, new.shape))
    return together(*groups)


def _padded(repair: Repair, old: StoreCase, new: StoreCase, edits: Edits) -> Iterator[Candidate]:
    """The same for data from outside of the kernel: its tiles follow the padded operands, or are edited with them."""
    same_shape = replace(new, shape=old.shape)
    kept = _edits(repair, old, same_shape)
    words = _title(repair, old, same_shape)
    yield from padded(repair, old.shape, new.shape, kept, words[:1].lower() + words[1:])
    if edits:
        words = _title(repair, old, new)
        yield from padded(repair, old.shape, new.shape, edits, words[:1].lower() + words[1:])


def _unoptimized(repair: Repair) -> Edits:
    where = repair.view.site("optimized")
    if where is not None:
        return some(repair.replace(where, "False"))
    return some(repair.add_argument(repair.view.fact.site, "optimized=False"))


def _transformed(repair: Repair, new: StoreCase) -> Edits:
    ref = repair.view.value("ref")
    if not isinstance(ref, Ref) or new.tiling is None or new.swizzle is None:
        return None
    return set_transforms(repair, ref.type, new.tiling, new.swizzle)


def resized(repair: Repair, shape: tuple[int, ...]) -> Edits:
    """Edits that give the value and the buffer another shape."""
    src, ref = repair.view.value("src"), repair.view.value("ref")
    if not isinstance(src, Array) or not isinstance(ref, Ref) or not is_slot(ref):
        return None
    return together(set_shape(repair, src.shape, shape), set_shape(repair, ref.shape, shape))


# -- titles ----------------------------------------------------------------------------------------


def _title(repair: Repair, old: StoreCase, new: StoreCase) -> str:
    parts: list[str] = []
    if new.shape != old.shape:
        parts.append(_growth(repair, old, new))
    if isinstance(new.source, Tiled) and new.source != old.source:
        parts.append(f"give the value the layout {new.source.name}")
    if (new.tiling, new.swizzle) != (old.tiling, old.swizzle) and new.tiling is not None and new.swizzle is not None:
        parts.append(f"{_verb(old)} {described(new.tiling, new.swizzle)}")
    if new.optimized != old.optimized:
        parts.append("store with optimized=False, with bank conflicts")
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _verb(old: StoreCase) -> str:
    return "add" if old.tiling is None and old.swizzle is None else "use"


def _growth(repair: Repair, old: StoreCase, new: StoreCase) -> str:
    """ "round BLOCK up to 64: bfloat16[64, 64], 8,192 B"."""
    ref = repair.view.value("ref")
    extents = ref.shape if isinstance(ref, Ref) and isinstance(ref.shape, tuple) else ()
    changed = [(e, n) for e, o, n in zip(extents, old.shape, new.shape, strict=True) if o != n]
    names = [f"{_name(repair, e, o) or o} up to {n}" for (e, n), o in zip(changed, _changed(old, new), strict=True)]
    total = new.bits
    for n in new.shape:
        total *= n
    shape = ", ".join(map(str, new.shape))
    return f"round {' and '.join(names)}: {old.dtype}[{shape}], {total // 8:,} B"


def _changed(old: StoreCase, new: StoreCase) -> list[int]:
    return [o for o, n in zip(old.shape, new.shape, strict=True) if o != n]


def _name(repair: Repair, extent: object, size: int) -> str | None:
    """The constant that an extent is: the name on the left of `BLOCK = 48`."""
    for origin in origins(extent):
        if repair.source(origin.site) != str(size):
            continue
        span = repair.locate(origin.site)
        line = repair.line_before(span) if span is not None else ""
        name = line.split("=")[0].split(":")[0].strip()
        if line.rstrip().endswith("=") and name.isidentifier():
            return name
    return None
