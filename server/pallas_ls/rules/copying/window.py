"""The window of a copy after transforms, as TMA sees it: the box, the operand behind it, and the buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .case import Buffer, CopyCase, Extents, Part, Undecided


@dataclass(frozen=True, slots=True)
class Window:
    """What is copied, dimensions of one dropped.

    Attributes:
      box: extents; operand_strides: of the operand in GMEM (elements), an entry for each.
      rank: the number of dimensions, as far as is known; least_rank: at least so many.
      smem_shape, smem_strides: of the buffer's part, shared out where blocks copy together.
      rest: of the number of blocks, what the leading dimensions could not share (1: all of it); None: not known.
      uneven: (axis, extent, tile) where the tile leaves a rest of the operand.
      unknown_operand: whether it does is not known.
      free: the transforms are not those that the buffer was given.
    """

    box: Extents
    operand_strides: Extents
    rank: int
    least_rank: int
    smem_shape: tuple[int, ...] = ()
    smem_strides: tuple[int, ...] = ()
    rest: int | None = 1
    uneven: tuple[int, int, int] | None = None
    unknown_operand: bool = False
    free: bool = False


@dataclass(slots=True)
class _Axes:
    """Axes in the making: extents of the slice and of the operand, strides of the operand."""

    sizes: list[int | None]
    operand: list[int | None]
    steps: list[int | None]
    squeezed: int
    uneven: tuple[int, int, int] | None = None
    unknown: bool = False
    smem: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides."""
    out: list[int] = []
    step = 1
    for n in reversed(shape):
        out.append(step)
        step *= n
    return tuple(reversed(out))


def window(case: CopyCase) -> Window | Undecided:
    """The window, or what is missing to know it."""
    b = case.buffer
    axes = _squeezed_first(case)
    if b is not None:
        if b.permutation is not None:
            _permute(axes, b.permutation)
        if b.tiling is not None:
            _tile(axes, b.tiling)
        axes.smem = _placed(b)
        if len(axes.smem) != len(axes.sizes) - axes.squeezed:
            return Undecided("the two sides have different ranks")
    if axes.uneven is not None:
        n = len(axes.sizes)
        return Window(tuple(axes.sizes), tuple(axes.steps), n, n, uneven=axes.uneven)
    return _finished(case, axes)


def _squeezed_first(case: CopyCase) -> _Axes:
    """The operand's axes, those that are indexed by one position in front."""
    steps = _operand_strides(case.gmem)
    order = sorted(range(len(case.parts)), key=lambda i: not case.parts[i].squeezed)
    sizes = [1 if case.parts[i].squeezed else case.parts[i].size for i in order]
    squeezed = sum(p.squeezed for p in case.parts)
    c = case.collective
    if c.leader == "partitioned" and c.size is not None and squeezed + c.axis < len(sizes):
        n = sizes[squeezed + c.axis]
        sizes[squeezed + c.axis] = None if n is None else n // c.size
    return _Axes(sizes, [case.gmem[i] for i in order], [steps[i] for i in order], squeezed)


def _operand_strides(shape: Extents) -> list[int | None]:
    out: list[int | None] = []
    step: int | None = 1
    for n in reversed(shape):
        out.append(step)
        step = None if n is None or step is None else step * n
    return out[::-1]


def _permute(axes: _Axes, permutation: tuple[int, ...]) -> None:
    """Puts the axes in the order of the buffer, which is seen through a permutation."""
    k = axes.squeezed
    inverse = [permutation.index(i) for i in range(len(permutation))]
    for rows in (axes.sizes, axes.operand, axes.steps):
        rows[k:] = [rows[k + i] for i in inverse]


def _tile(axes: _Axes, tiling: tuple[int, ...]) -> None:
    """Cuts the last axes into tiles, in place."""
    k = len(axes.sizes) - len(tiling)
    sizes, operand, steps = axes.sizes[k:], axes.operand[k:], axes.steps[k:]
    outer: list[int | None] = []
    inner: list[int | None] = []
    for i in reversed(range(len(tiling))):
        t, s = tiling[i], operand[i]
        if s is None:
            axes.unknown = True
            outer.insert(0, None)
            inner.insert(0, None)
            continue
        if s > t and s % t and axes.uneven is None:
            axes.uneven = (k + i, s, t)
        t = min(s, t)
        outer.insert(0, s // t if t else 0)
        inner.insert(0, t)
    axes.operand[k:] = [*outer, *inner]
    axes.sizes[k:] = [*(None if n is None else n // t for n, t in zip(sizes, tiling, strict=True)), *tiling]
    axes.steps[k:] = [*(None if s is None else s * t for s, t in zip(steps, tiling, strict=True)), *steps]


def _placed(b: Buffer) -> list[tuple[int, int]]:
    """(extent, stride) of each dimension of the buffer's part in memory."""
    rank, tiling = len(b.shape), b.tiling or ()
    k = rank - len(tiling)
    counts = [n // t for n, t in zip(b.shape[k:], tiling, strict=True)]
    steps = contiguous((*b.shape[:k], *counts, *tiling))
    out = [(p.size or 0, steps[i]) for i, p in enumerate(b.parts[:k]) if not p.squeezed]
    out += [((p.size or 0) // t, steps[k + i]) for i, (p, t) in enumerate(zip(b.parts[k:], tiling, strict=True))]
    return [*out, *zip(tiling, steps[rank:], strict=True)]


def _finished(case: CopyCase, axes: _Axes) -> Window:
    """Drops dimensions of one, folds indexed axes into one where there are too many, and shares among blocks."""
    droppable = [n == 1 and s == 1 for n, s in zip(axes.operand, axes.sizes, strict=True)]
    doubtful = [
        s in (1, None) and n in (1, None) and not d for n, s, d in zip(axes.operand, axes.sizes, droppable, strict=True)
    ]
    kept = [i for i, d in enumerate(droppable) if not d]
    squeezed = sum(1 for i in kept if i < axes.squeezed)
    sizes = [axes.sizes[i] for i in kept]
    steps = [axes.steps[i] for i in kept]
    smem = [axes.smem[i - axes.squeezed] for i in kept if i >= axes.squeezed and axes.smem]
    folded = len(sizes) - max(0, squeezed - 1) if len(sizes) > 5 else len(sizes)
    if len(sizes) > 5 and squeezed:
        sizes, steps, squeezed = [1, *sizes[squeezed:]], [None, *steps[squeezed:]], 1
    rest = _share(case, sizes, squeezed, smem)
    free = case.buffer is not None and case.buffer.free
    least = folded - sum(1 for i in kept if doubtful[i] and i >= axes.squeezed)
    return Window(
        tuple(sizes),
        tuple(steps),
        folded,
        least,
        tuple(n for n, _ in smem),
        tuple(s for _, s in smem),
        rest,
        unknown_operand=axes.unknown,
        free=free,
    )


def _share(case: CopyCase, sizes: list[int | None], squeezed: int, smem: list[tuple[int, int]]) -> int | None:
    """Shares the leading dimensions among the blocks, in place; what could not be shared (1: nothing)."""
    rest = case.collective.size
    if rest is None or case.collective.leader == "partitioned":
        return rest if rest is None else 1
    swizzled = case.buffer is not None and case.buffer.swizzle is not None
    for i in range(len(sizes) - swizzled):
        n = sizes[i]
        if rest == 1:
            break
        if n is None:
            return None
        if n % rest == 0:
            chunks, rest = rest, 1
        elif rest % n == 0:
            chunks, rest = n, rest // n
        else:
            break
        if chunks > 1:
            sizes[i] = n // chunks
            if smem:
                smem[i - squeezed] = (n // chunks, smem[i - squeezed][1])
    return rest


def whole(shape: tuple[int, ...]) -> tuple[Part, ...]:
    """All of a shape."""
    return tuple(Part(n) for n in shape)
