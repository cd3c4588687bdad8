"""JAX's checks of a copy in their order (jax/experimental/mosaic/gpu/launch_context.py, async_copy).

Under Warpgroup semantics the layout solver comes first (layout_inference.py): what it may still choose is not decided
here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from ...domain.finding import JaxError
from ...domain.target import Semantics
from .case import V11, V12, CopyCase, Kind, Oob, Outcome, Part, Refused, Undecided
from .tables import LONGEST, MOST_DIMENSIONS, REDUCTIONS, UNIT, stride_text
from .window import Window, contiguous, window

_INFER = "Failed to infer a possible set of layouts."
Check = Callable[[CopyCase, Window], Outcome]


def outcome(case: CopyCase) -> Outcome:
    """The first refusal; Undecided where some check cannot be told and no later one refuses; None: JAX lowers it."""
    unsure: Undecided | None = None
    for found in _answers(case):
        if isinstance(found, Refused):
            return found
        unsure = unsure or found
    return unsure


def _answers(case: CopyCase) -> Iterator[Outcome]:
    for early in (dynamic_step, transforms, divisible, reduction, strided, partition):
        yield early(case)
    w = window(case)
    if isinstance(w, Undecided):
        yield w
        return
    # The strides of the operand were looked at first before 0.12.
    first = (strides,) if case.version < V12 else ()
    for check in (*first, tiled_operand, rank, split, strides, row, contiguity, box, element, minor_stride):
        yield check(case, w)


# -- before the window -----------------------------------------------------------------------------


def strided(case: CopyCase) -> Outcome:
    """A slice with a step. Warpgroup semantics drop it without a word."""
    if case.semantics is Semantics.WARPGROUP or all(p.step == 1 for p in case.parts):
        return None
    if any(p.step != 1 and p.start is None for p in case.parts):
        return None
    return Refused("copy-step", JaxError("NotImplementedError", "Strided slices not implemented"))


def dynamic_step(case: CopyCase) -> Outcome:
    """A slice with a step from a start that is computed in the kernel."""
    if all(p.step == 1 or p.start is not None for p in case.parts):
        return None
    return Refused("copy-computed-step", JaxError("NotImplementedError", "Unsupported slice: Slice("))


def transforms(case: CopyCase) -> Outcome:
    """A swizzle without a tiling, which the first solver did not know."""
    b = case.buffer
    if (
        b is None
        or b.swizzle is None
        or b.tiling is not None
        or case.semantics is Semantics.LANE
        or case.version >= V11
    ):
        return None
    text = f"Unsupported transforms [<SwizzlingMode.k{b.swizzle}ByteSwizzle: {b.swizzle}>]"
    return Refused("copy-transforms", JaxError("NotImplementedError", text))


def divisible(case: CopyCase) -> Outcome:
    """Warpgroup's solver wants the offsets of both sides proved to be multiples of the tile."""
    b = case.buffer
    if b is None or b.tiling is None or case.semantics is Semantics.LANE:
        return None
    if b.permutation is not None:
        return Undecided("the offsets of a transposed view have no model")
    operand = [p for p in case.parts if not p.squeezed]
    first, second = _against(operand, b.tiling), _against(list(b.parts), b.tiling)
    if False in (*first, *second):
        return Refused("offset-divisible", _unsolved(case, False in first))
    rows = (*first, *second)
    return Undecided("whether an offset is a multiple of the tile is not known") if None in rows else None


def _unsolved(case: CopyCase, by_the_operand: bool) -> JaxError:
    """What the solver raises: it looks for the index at fault, and stumbles where one of them is a single position."""
    assert case.buffer is not None
    sliced = any(p.size != n or p.squeezed for p, n in zip(case.buffer.parts, case.buffer.shape, strict=True))
    looks = by_the_operand and any(p.squeezed for p in case.parts) and case.version >= V11
    return (
        JaxError("AssertionError", "")
        if looks and not (sliced and case.version >= V12)
        else JaxError("ValueError", _INFER)
    )


def _against(parts: list[Part], tiling: tuple[int, ...]) -> list[bool | None]:
    """Whether sizes and starts are multiples of the tile, from the last axis on."""
    if len(tiling) > len(parts):
        return [False]
    return [_multiple(p, t) for p, t in zip(parts[-len(tiling) :], tiling, strict=True)]


def _multiple(p: Part, tile: int) -> bool | None:
    if p.size is not None and p.size % tile:
        return False
    if p.divisor % tile == 0:
        return True
    return False if p.exact else None


def reduction(case: CopyCase) -> Outcome:
    """A reduction that TMA does not have for the element type."""
    op = case.reduction
    if op is None or case.element in REDUCTIONS.get(op, ()):
        return None
    if op not in REDUCTIONS and case.semantics is Semantics.WARPGROUP:
        text = f"type object 'TMAReduction' has no attribute '{op.capitalize()}'"
        return Refused("copy-reduction", JaxError("AttributeError", text))
    text = f"Reduction op {op} not supported by the TMA implementation for element type {case.element}"
    return Refused("copy-reduction", JaxError("ValueError", text))


def partition(case: CopyCase) -> Outcome:
    """A partitioned load whose axis the blocks do not divide."""
    c = case.collective
    if c.leader != "partitioned" or c.size == 1:
        return None
    kept = [p for p in case.parts if not p.squeezed]
    if c.size is None:
        return Undecided("how many blocks copy together is not known")
    if c.axis >= len(kept):
        words = "index 0 is out of bounds for axis 0 with size 0"
        return Refused("copy-partition", JaxError("IndexError", words), (0, c.size))
    size = kept[c.axis].size
    if size is None:
        return Undecided("the partitioned axis is not known")
    if size % c.size == 0:
        return None
    text = (
        f"The collective size ({c.size}) must divide the slice shape along the partitioned dimension, but it has size "
        f"{size}"
    )
    return Refused("copy-partition", JaxError("ValueError", text), (size, c.size))


# -- the window ------------------------------------------------------------------------------------


def strides(case: CopyCase, w: Window) -> Outcome:
    """Rows (planes, ...) of the operand that do not begin at multiples of 16 bytes."""
    product: int | None = 1
    unsure = False
    for n in reversed(case.gmem[1:]):
        product = None if n is None or product is None else product * n
        unsure = unsure or product is None
        if product is not None and product * case.bits % UNIT:
            return Refused("tma-strides", JaxError("ValueError", stride_text(case.version)), (product,))
    return Undecided("the operand's shape is not known") if unsure else None


def tiled_operand(case: CopyCase, w: Window) -> Outcome:
    """An axis of the operand that is longer than the tile, and not a multiple of it."""
    if w.uneven is not None:
        axis, size, tile = w.uneven
        text = (
            f"When no rounding mode is specified, dimension {axis} must have size smaller or a multiple of its "
            f"tiling {tile}, but got {size}"
        )
        return Refused("operand-tiling", JaxError("ValueError", text), (axis, size, tile))
    return Undecided("whether the tile divides the operand is not known") if w.unknown_operand else None


def rank(case: CopyCase, w: Window) -> Outcome:
    """A box of more than five dimensions."""
    if w.uneven is not None or w.free:
        return None
    least = w.least_rank
    if least > MOST_DIMENSIONS:
        text = "Async copies only support striding up to 5 dimensions"
        return Refused("tma-rank", JaxError("ValueError", text), (least,))
    return Undecided("how many dimensions the copy has is not known") if w.rank > MOST_DIMENSIONS else None


def split(case: CopyCase, w: Window) -> Outcome:
    """A collective copy whose leading dimensions the blocks cannot share."""
    if case.collective.size == 1 or case.collective.leader == "partitioned" or w.uneven is not None:
        return None
    if w.free or w.rest is None:
        return Undecided("how the blocks share the copy is not known")
    if w.rest == 1:
        return None
    text = (
        f"None of the leading dimensions in the transformed slice shape {list(w.box)} is divisible by the collective "
        f"size {case.collective.size}"
    )
    return Refused("collective-split", JaxError("ValueError", text), (case.collective.size or 0,))


def row(case: CopyCase, w: Window) -> Outcome:
    """Rows of the box that are no multiple of 16 bytes."""
    if w.uneven is not None:
        return None
    if not w.box:
        return _empty(case)
    last = w.box[-1]
    if last is None:
        return Undecided("the width of the copy is not known")
    if last * case.bits % UNIT:
        text = (
            "Async copies require the number of bits copied along the last dimension to be divisible by 128, but got "
            f"{last * case.bits}"
        )
        return Refused("tma-row", JaxError("ValueError", text), (last, last * case.bits))
    b = case.buffer
    if b is not None and b.swizzle is not None and last != 8 * b.swizzle // case.bits:
        return Refused("tma-row", JaxError("ValueError", "Async copies with swizzle="), (last,))
    return None


def _empty(case: CopyCase) -> Outcome:
    """Of a single element nothing is left, once dimensions of one are dropped."""
    if case.version < V12:
        return Refused("tma-row", JaxError("IndexError", "list index out of range"), (1, case.bits))
    text = (
        "Async copies require the number of bits copied along the last dimension to be divisible by 128, but got "
        f"{case.bits}"
    )
    return Refused("tma-row", JaxError("ValueError", text), (1, case.bits))


def contiguity(case: CopyCase, w: Window) -> Outcome:
    """A part of a buffer that does not lie in one piece."""
    if case.buffer is None or w.uneven is not None or w.free:
        return Undecided("the buffer's transforms are the solver's") if w.free else None
    shape, steps = w.smem_shape, w.smem_strides
    apart = any(s != c and n != 1 for s, c, n in zip(steps, contiguous(shape), shape, strict=True))
    if not apart:
        return None
    text = (
        f"async_copy needs the SMEM reference to be contiguous, but got strides {list(steps)} for shape {list(shape)}"
    )
    return Refused("smem-contiguous", JaxError("ValueError", text))


def box(case: CopyCase, w: Window) -> Outcome:
    """More than 256 elements along one dimension, where the copy is not one run of bytes."""
    if case.kind is Kind.PREFETCH or w.uneven is not None or w.free:
        return None
    known = [n for n in w.box if n is not None]
    if not known or max(known) <= LONGEST:
        return None if len(known) == len(w.box) else Undecided("the shape of the copy is not known")
    simple = is_simple(case, w)
    if simple is not False:
        return Undecided("whether the copy is one run of bytes is not known") if simple is None else None
    if len(known) < len(w.box):
        return Refused("tma-box", JaxError("ValueError", "Async copies only support copying <=256 elements along each"))
    shown = f"({known[0]},)" if len(known) == 1 else f"({', '.join(map(str, known))})"
    text = f"Async copies only support copying <=256 elements along each dimension, got {shown}"
    return Refused("tma-box", JaxError("ValueError", text), tuple(known))


def is_simple(case: CopyCase, w: Window) -> bool | None:
    """Whether the copy is one run of bytes, which needs no descriptor."""
    b = case.buffer
    fixed = case.oob is not Oob.ZEROS and case.reduction is None and not case.collective.leader
    if not fixed or (b is not None and b.swizzle is not None) or case.collective.size not in (1, None):
        return False
    if w.operand_strides and w.operand_strides[-1] not in (1, None):
        return False
    expected = 1
    for n, step in zip(reversed(w.box), reversed(w.operand_strides), strict=True):
        if n is None or (n != 1 and step is None):
            return None
        if n != 1 and step != expected:
            return False
        expected *= n
    return True if case.collective.size == 1 else None


def element(case: CopyCase, w: Window) -> Outcome:
    """Booleans, of which TMA has no type."""
    if case.element != "i1" or w.uneven is not None or w.free:
        return None
    simple = is_simple(case, w) if case.kind is not Kind.PREFETCH else False
    if simple is not False:
        return Undecided("whether the copy is one run of bytes is not known") if simple is None else None
    return Refused("tma-element", JaxError("ValueError", "Unsupported integer bitwidth: 1"))


def minor_stride(case: CopyCase, w: Window) -> Outcome:
    """A transposed copy: TMA reads the operand's last dimension in one piece."""
    if w.uneven is not None or w.free or not w.operand_strides:
        return None
    last = w.operand_strides[-1]
    if last is None or last == 1:
        return None
    if case.kind is not Kind.PREFETCH and is_simple(case, w) is not False:
        return None
    text = (
        "TMA requires the stride of the last dimension after transforming the GMEM reference to be 1, but it is "
        f"{last}."
    )
    return Refused("smem-transposed", JaxError("ValueError", text), (last,))


def elements(case: CopyCase) -> int | None:
    """How many elements are copied; None where it is not known."""
    sizes = [p.size for p in case.parts if not p.squeezed]
    return None if None in sizes else prod(n for n in sizes if n is not None)
