"""Whether a reshaped view of a tiled buffer can be used: JAX moves the reshape to the untiled side of the tiling."""

from __future__ import annotations

from math import prod

from ..domain.array import Array
from ..domain.finding import JaxError
from ..domain.python import Int
from ..domain.ref import Ds, Indexed, Position, Ref, Reshaped, Tiling
from .buffers import transforms_are_sound
from .rule import Answer, Problem, Rule
from .view import CallView

#: The operand of each call that is used through its views.
_VIEWED = {
    "ref.get": "source",
    "ref.set": "target",
    "load": "src",
    "store": "dst",
    "copy_gmem_to_smem": "dst",
    "copy_smem_to_gmem": "src",
}
_UNFOLDS = "Unfolding dimensions is not supported when commuting an  `UntilingTransform` with a `ReshapeTransform`"
_FOLDS = "Folding tiled dimensions into untiled dimensions is not supported"


def reshaped(v: CallView) -> Answer:
    """A reshape that tears tiles apart."""
    ref = v.value(_VIEWED[v.fact.api])
    if not isinstance(ref, Ref) or ref.type.kind != "data" or not transforms_are_sound(v, ref.type):
        return None
    tiling = _tiling(v, ref)
    found = _before_reshape(v, ref, len(tiling)) if tiling else None
    if tiling is None or found is None:
        return None
    shape, view = found
    new = v.exact_shape(view.shape)
    if new is None or new == shape or prod(new) != prod(shape):
        return None
    jax = _refusal(shape, new, tiling)
    if jax is None:
        return None
    text = (
        f"{ref.name or 'The buffer'} is kept in tiles of {tiling}; seen as {new}, {shape} would have parts of tiles "
        "side by side. Fold only dimensions in front of the tiled ones, or allocate the buffer in the shape that is "
        "used."
    )
    return Problem(text, jax, view.made.site if view.made is not None else None)


def _tiling(v: CallView, ref: Ref) -> tuple[int, ...] | None:
    transforms = ref.type.transforms if isinstance(ref.type.transforms, tuple) else ()
    first = next((t for t in transforms if isinstance(t, Tiling)), None)
    return v.exact_shape(first.tiling) if first is not None and isinstance(first.tiling, tuple) else None


def _before_reshape(v: CallView, ref: Ref, tiled: int) -> tuple[tuple[int, ...], Reshaped] | None:
    """The shape that the first reshape is given, where nothing but indices of whole tiles stand before it."""
    shape = v.exact_shape(ref.type.shape)
    for view in ref.views:
        if shape is None:
            return None
        if isinstance(view, Reshaped):
            return shape, view
        if not isinstance(view, Indexed) or not isinstance(view.items, tuple) or len(view.items) != len(shape):
            return None
        shape = _indexed(v, view, tiled)
    return None


def _indexed(v: CallView, view: Indexed, tiled: int) -> tuple[int, ...] | None:
    """What is left of a shape; None where a tiled dimension is not sliced, or something is not known."""
    items = view.items if isinstance(view.items, tuple) else ()
    out: list[int] = []
    for i, item in enumerate(items):
        size = v.exact(item.size) if isinstance(item, Ds) else None
        if size is not None:
            out.append(size)
        elif i >= len(items) - tiled or not isinstance(item, Position) or not isinstance(item.index, (Int, Array)):
            return None
    return tuple(out)


def _refusal(shape: tuple[int, ...], new: tuple[int, ...], tiling: tuple[int, ...]) -> JaxError | None:
    """What JAX says when it moves the reshape before the tiling (UntilingTransform.commute_reshape); None: it can, or
    it fails in a way that is not known here."""
    if _unfolds(shape, new):
        return JaxError("NotImplementedError", _UNFOLDS)
    folded = _folded(shape, new)
    if folded is None:
        return None
    left, sizes = list(reversed(tiling)), list(reversed(shape[len(shape) - len(tiling) :]))
    for component in reversed(folded):
        n = len(component)
        if len(left) < n:
            return JaxError("NotImplementedError", _FOLDS)
        tiles, extents = left[:n], sizes[:n]
        if any(t != 1 for t in tiles[1:]):
            return JaxError("ValueError", _torn(tiles, extents))
        left, sizes = left[n:], sizes[n:]
        if not left:
            return None
    return None


def _folded(shape: tuple[int, ...], new: tuple[int, ...]) -> list[list[int]] | None:
    """The dimensions that each new one is made of, as far as they are; None: they do not come out even."""
    out: list[list[int]] = [[]]
    for d in shape:
        if len(out) > len(new):
            return None
        out[-1].append(d)
        if prod(out[-1]) == new[len(out) - 1]:
            out.append([])
    return out[:-1] if not out[-1] and len(out) - 1 == len(new) else None


def _unfolds(shape: tuple[int, ...], new: tuple[int, ...]) -> bool:
    """Whether a dimension, or several together, are more than the new one in their place."""
    at, size = 0, 1
    for d in shape:
        size *= d
        if at >= len(new) or size > new[at]:
            return at < len(new)
        if size == new[at]:
            at, size = at + 1, 1
    return False


def _torn(tiles: list[int], extents: list[int]) -> str:
    before = (*[s // t for s, t in zip(extents, tiles, strict=True)], *tiles)
    after = (prod(extents) // prod(tiles), prod(tiles))
    return (
        "Cannot commute `UntilingTransform` with `ReshapeTransform` when any of the dimensions being collapsed other "
        "than the minormost one has non-unit tiling. Attempted to reshape tiled slice of shape "
        f"{before} into shape {after}"
    )


RULES = (
    Rule(
        "tiled-reshape",
        "A reshape leaves the tiles of a buffer whole.",
        tuple(_VIEWED),
        133,
        reshaped,
        "jax/_src/pallas/mosaic_gpu/core.py, UntilingTransform.commute_reshape",
        "A tiled buffer is kept tile after tile: a reshape of it is one of its tiles. Only dimensions in front of the "
        "tiled ones can be folded together, and a tiled one with those before it whose tiles have the size 1.",
    ),
)
