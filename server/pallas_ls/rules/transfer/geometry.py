"""Where a stored-to ref lies in shared memory: its strides, through tiling, slices and transpositions."""

from __future__ import annotations

from ...domain.tiling import Shape, contiguous_strides, stored_strides
from .case import StoreCase, View
from .plan import SmemRef


def allocated_ref(case: StoreCase, tiling: Shape) -> SmemRef:
    """The ref as Lane semantics sees it: memory tiled at allocation, then sliced, then transposed.

    Needs slices whose tiled dimensions are multiples of the tile and that index no tiled dimension by an integer.
    """
    parent, rank = case.allocated, len(tiling)
    outer, inner = parent[:-rank], parent[-rank:]
    # zip is as lenient as JAX about a tiling of higher rank than the ref.
    counts = tuple(size // tile for size, tile in zip(inner, tiling, strict=False))
    shape = (*outer, *counts, *tiling)
    strides = contiguous_strides(shape)
    if case.view is not None:
        shape, strides = _through_view(case.view, tiling, shape, strides)
    return SmemRef(shape, strides, rank, case.register_bits)


def _through_view(view: View, tiling: Shape, shape: Shape, strides: Shape) -> tuple[Shape, Shape]:
    rank = len(view.parent)
    first = rank - len(tiling)
    kept: list[tuple[int, int]] = []
    for i, part in enumerate(view.index):
        if part is not None:
            tile = tiling[i - first] if i >= first else 1
            kept.append((part.size // tile, strides[i]))
    inside = list(zip(shape[rank:], strides[rank:], strict=True))
    if view.permutation is not None:
        offset = len(view.permutation) - len(tiling)
        inside = [inside[p - offset] for p in view.permutation[-len(tiling) :]]
        kept = [kept[p] for p in view.permutation]
    pairs = kept + inside
    return tuple(size for size, _ in pairs), tuple(stride for _, stride in pairs)


def logical_strides(case: StoreCase) -> Shape:
    """The strides of the ref as Warpgroup semantics sees it: not tiled yet, but sliced and transposed."""
    strides = contiguous_strides(case.allocated)
    if case.view is None:
        return strides
    kept = tuple(s for s, part in zip(strides, case.view.index, strict=True) if part is not None)
    permutation = case.view.permutation
    return kept if permutation is None else tuple(kept[p] for p in permutation)


def tiled_ref(shape: Shape, strides: Shape, tiling: Shape, bits: int) -> SmemRef | str:
    """A logical ref tiled after the fact, as the layout solver does; JAX's ValueError text where it cannot."""
    tiled = stored_strides(strides, tiling)
    if isinstance(tiled, str):
        return tiled
    outer, inner = shape[: -len(tiling)], shape[-len(tiling) :]
    counts = (size // tile for size, tile in zip(inner, tiling, strict=True))
    return SmemRef((*outer, *counts, *tiling), tiled, len(tiling), bits)
