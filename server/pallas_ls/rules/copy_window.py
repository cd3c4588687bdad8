"""What is wrong with the window of a copy, as the model in `copying` finds it, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.python import Value
from ..domain.ref import Ds, Indexed, Ref, Tiling
from ..source.span import Site
from .advice import fitting_transforms, show_transforms
from .async_store_operands import buffer_note
from .copying.case import CopyCase, Kind, Oob, Refused
from .copying.model import outcome as outcome_of
from .copying.proof import proves_nothing
from .copying.read import SIDES, copy_case, kind_of, outcome, sides
from .copying.tables import LONGEST, MOST_DIMENSIONS, REDUCTIONS, UNIT
from .rule import Answer, Note, Problem, Unsure
from .view import CallView, show_array, show_shape


def refused(check: str) -> Callable[[CallView], Answer]:
    """A check that reports one of the model's refusals."""

    def answer(v: CallView) -> Answer:
        found = outcome(v)
        if isinstance(found, Unsure):
            return found
        if not isinstance(found, Refused) or found.check != check:
            return None
        case, pair = copy_case(v), sides(v)
        assert isinstance(case, CopyCase) and not isinstance(pair, Unsure)
        text, at, notes = _TEXTS[check](Shown(v, case, found, *pair))
        return Problem(text, found.jax, at, notes, _cause(check, v, pair[1]))

    return answer


def _cause(check: str, v: CallView, smem: Ref | None) -> Value:
    """The extent of the buffer that alone is too long."""
    shape = smem.shape if smem is not None and isinstance(smem.shape, tuple) else ()
    if check != "tma-box":
        return None
    long = [n for n in shape if (v.exact(n) or 0) > LONGEST]
    return long[0] if len(long) == 1 else None


class Shown:
    """A refusal with what its message speaks of."""

    def __init__(self, v: CallView, case: CopyCase, found: Refused, gmem: Ref, smem: Ref | None) -> None:
        self.v, self.case, self.found, self.gmem, self.smem = v, case, found, gmem, smem
        first, second = SIDES[kind_of(v)]
        self.gmem_site, self.smem_site = v.site(first), v.site(second) if second else v.site(first)
        self.operand = gmem.name or "the operand"
        self.buffer = smem.name if smem is not None and smem.name else "the buffer"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Where the buffer and its numbers come from."""
        return buffer_note(self.smem) if self.smem is not None else ()

    def index_site(self, wanted: Callable[[Ds], bool]) -> Site | None:
        """The index of the operand one of whose slices is meant, else the operand."""
        for ref in (self.gmem, self.smem):
            for x in ref.views if ref is not None else ():
                if not isinstance(x, Indexed) or not isinstance(x.items, tuple) or x.made is None:
                    continue
                if any(isinstance(i, Ds) and wanted(i) for i in x.items):
                    return x.made.site
        return self.gmem_site


Text = tuple[str, Site | None, tuple[Note, ...]]


def _step(s: Shown) -> Text:
    text = (
        "A copy takes neighbouring elements: copy rows one by one, or pick them from a buffer that holds all of them."
    )
    return text, s.index_site(lambda i: s.v.exact(i.stride) != 1), ()


def _transforms(s: Shown) -> Text:
    text = f"Warpgroup semantics of this release know no swizzle without a tiling.{_fitting(s)}"
    return text, s.smem_site, s.notes


def _offset(s: Shown) -> Text:
    tiling = show_shape(_tiling(s))
    text = (
        f"{s.buffer} is tiled by {tiling}; under Warpgroup semantics both sides of a copy must start at whole tiles, "
        "and "
        "what is computed must be proved to: pl.multiple_of(start, tile), or an index times the tile."
    )
    at = unproved_start(s.v, s.gmem) or s.index_site(lambda i: not isinstance(s.v.exact(i.start), int))
    return text, at, s.notes


def unproved_start(v: CallView, ref: Ref) -> Site | None:
    """The operation that made the first start of which JAX can prove nothing."""
    for x in ref.views:
        for item in x.items if isinstance(x, Indexed) and isinstance(x.items, tuple) else ():
            start = item.start if isinstance(item, Ds) else None
            if isinstance(start, Array) and start.by is not None and proves_nothing(v, start):
                return start.by.site
    return None


def _tiling(s: Shown):
    transforms = s.smem.type.transforms if s.smem is not None else ()
    return next((t.tiling for t in transforms if isinstance(t, Tiling)), ()) if isinstance(transforms, tuple) else ()


def _reduction(s: Shown) -> Text:
    op = s.case.reduction or ""
    taking = [o for o, types in REDUCTIONS.items() if s.case.element in types]
    has = f"it has {', '.join(taking)}" if taking else "it has none"
    return f"TMA cannot {op!r} into {s.gmem.dtype}: for this type {has}.", s.v.site("reduction_op"), ()


def _partition(s: Shown) -> Text:
    size, blocks = s.found.numbers
    if not size:
        return "The axis that the blocks are to share is none of the copy's.", s.v.site("leader_tracked"), s.notes
    return (
        f"{blocks} blocks share an axis of {size} elements: it is not divisible.",
        s.v.site("leader_tracked"),
        s.notes,
    )


def _strides(s: Shown) -> Text:
    [step] = s.found.numbers
    nbytes = step * s.case.bits / 8
    whole = UNIT // s.case.bits if s.case.bits <= UNIT else 1
    text = (
        f"{show_array(s.gmem.type.shape, s.gmem.type.dtype)}: a row or plane of {s.operand} begins every {nbytes:g} "
        "B; TMA "
        f"wants multiples of 16 B ({whole} x {s.gmem.type.dtype}). Pad the last dimension of the operand outside of "
        "the "
        "kernel, or bring it into another order."
    )
    return text, s.gmem_site, ()


def _operand_tiling(s: Shown) -> Text:
    axis, size, tile = s.found.numbers
    text = (
        f"{s.buffer} is tiled, and so is what it is copied from or to: {size} (dimension {axis}) of {s.operand} is "
        "longer "
        f"than a tile of {tile} and leaves {size % tile}. Pad the operand outside of the kernel, or take a tile that "
        f"divides {size}."
    )
    return text, s.gmem_site, s.notes


def _rank(s: Shown) -> Text:
    [n] = s.found.numbers
    text = (
        f"TMA copies boxes of at most {MOST_DIMENSIONS} dimensions; this one has {n}, tiles counted, those of one "
        "element not, indexed ones as one. Merge dimensions outside of the kernel, or copy a part of fewer dimensions."
    )
    return text, s.gmem_site, s.notes


def _split(s: Shown) -> Text:
    [blocks] = s.found.numbers
    text = (
        f"{blocks} blocks copy {show_array(s.gmem.shape, s.gmem.dtype)} together, each an equal part of its leading "
        "dimensions (of tiles, where the buffer is tiled): these are not divisible."
    )
    return text, s.smem_site, s.notes


def _row(s: Shown) -> Text:
    n = s.found.numbers[0]
    bits = n * s.case.bits
    whole = max(1, UNIT // s.case.bits)
    up = -(-n // whole) * whole
    text = (
        f"A copy by TMA has rows of whole 16 B; here a row is {n} x {s.gmem.dtype}, {bits / 8:g} B. "
        f"{up} x {s.gmem.dtype} are {up * s.case.bits // 8} B."
    )
    return text, s.smem_site, s.notes


def _contiguous(s: Shown) -> Text:
    text = (
        f"This part of {s.buffer} does not lie in one piece. Copy whole rows, give the part a buffer of its own, or "
        "tile "
        f"{s.buffer} so that the part is made of whole tiles."
    )
    return text, s.smem_site, s.notes


def _transposed(s: Shown) -> Text:
    text = f"A copy by TMA does not transpose: copy {s.buffer} as it is, and take its transpose where it is read."
    return text, s.smem_site, s.notes


def _box(s: Shown) -> Text:
    box = "x".join(map(str, s.found.numbers)) or "?"
    text = f"The copy is a box of {box} elements; TMA takes at most {LONGEST} in each dimension.{_fitting(s)}"
    if s.case.kind is Kind.LOAD and s.case.oob is Oob.ZEROS and _would_be_simple(s):
        text += " Where nothing is out of bounds, oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS copies it in one run."
    return text, s.smem_site, s.notes


def _would_be_simple(s: Shown) -> bool:
    return outcome_of(replace(s.case, oob=Oob.PROMISE_IN_BOUNDS)) is None


def _element(s: Shown) -> Text:
    return "TMA has no type for booleans: hold them as int8.", s.smem_site, s.notes


def _fitting(s: Shown) -> str:
    """Transforms that the buffer can have, where it has none."""
    if s.smem is None or s.smem.type.transforms:
        return ""
    shape, dtype = s.v.exact_shape(s.smem.type.shape), s.smem.type.dtype
    fitting = fitting_transforms(shape, dtype.bits) if shape and isinstance(dtype, DType) else None
    return f" {s.buffer} can have {show_transforms(*fitting)}." if fitting is not None else ""


_TEXTS: dict[str, Callable[[Shown], Text]] = {
    "copy-step": _step,
    "copy-computed-step": _step,
    "copy-transforms": _transforms,
    "offset-divisible": _offset,
    "copy-reduction": _reduction,
    "copy-partition": _partition,
    "tma-strides": _strides,
    "operand-tiling": _operand_tiling,
    "tma-rank": _rank,
    "collective-split": _split,
    "tma-row": _row,
    "smem-contiguous": _contiguous,
    "smem-transposed": _transposed,
    "tma-box": _box,
    "tma-element": _element,
}
