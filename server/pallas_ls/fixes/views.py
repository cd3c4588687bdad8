"""Fixes of views of buffers and barriers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import gcd

from ..domain.array import Array
from ..domain.python import Int
from ..domain.ref import Ds, Elsewhere, Indexed, Indexer, Permuted, Position, Ref
from ..rules.rule import Unsure
from ..rules.store_case import exact_transforms
from .candidate import Candidate, Repair, together
from .literals import set_number, set_shape
from .transforms import described, set_transforms


def _ref(repair: Repair, name: str = "ref") -> Ref | None:
    x = repair.view.value(name)
    return x if isinstance(x, Ref) else None


def _tiled_items(repair: Repair, of: Ref | None = None) -> list[tuple[Indexed, Indexer, int]]:
    """The first index of a tiled buffer, an entry a tiled dimension: (view, item, tile)."""
    ref = of or _ref(repair)
    first = ref.views[0] if ref is not None and ref.views else None
    if ref is None or not isinstance(first, Indexed) or not isinstance(first.items, tuple):
        return []
    transforms = exact_transforms(repair.view, ref.type)
    tiling = () if isinstance(transforms, Unsure) else transforms[0] or ()
    rows = zip(first.items[len(first.items) - len(tiling) :], tiling, strict=False)
    return [(first, item, tile) for item, tile in rows]


def elsewhere(repair: Repair) -> Iterator[Candidate]:
    """The buffer itself: the store addresses the other block."""
    ref = _ref(repair)
    if ref is None:
        return
    for view in ref.views:
        if isinstance(view, Elsewhere):
            name = _first_argument(repair.source(repair.view.site("ref")) or "", view.how)
            edits = repair.replace(repair.view.site("ref"), name) if name is not None else ()
            if edits:
                yield Candidate(f"Pass {name}: cluster_idx names the other block", True, edits)


def _first_argument(text: str, function: str) -> str | None:
    """The first argument of a call written at this place."""
    try:
        node = ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        return None
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rsplit(".", 1)[-1] == function:
        return ast.unparse(node.args[0])
    return None


def transposed(repair: Repair) -> Iterator[Candidate]:
    """The view without its transposition, where the shapes then agree."""
    ref = _ref(repair)
    if ref is None or not any(isinstance(v, Permuted) for v in ref.views):
        return
    site = repair.view.site("ref")
    try:
        node = ast.parse(repair.source(site) or "", mode="eval").body
    except SyntaxError:
        return
    base = node.func if isinstance(node, ast.Call) else node
    if isinstance(base, ast.Attribute) and base.attr in ("T", "transpose"):
        edits = repair.replace(site, ast.unparse(base.value))
        if edits:
            yield Candidate("Store to the buffer as it is allocated, not transposed", False, edits)


def strided(repair: Repair) -> Iterator[Candidate]:
    """The slice without its step: as many rows, side by side."""
    for view, item, _ in _tiled_items(repair):
        if isinstance(item, Ds) and isinstance(item.stride, Int) and repair.view.exact(item.stride) != 1:
            yield from _stepless(repair, view)


def _stepless(repair: Repair, view: Indexed) -> Iterator[Candidate]:
    site = view.made.site if view.made else None
    source = repair.source(site)
    src, ref = repair.view.value("src"), _ref(repair)
    if source is None or ref is None or not isinstance(src, Array):
        return
    shape = repair.view.exact_shape(src.shape)
    if shape is None or ".at[" not in source:
        return
    base = source[: source.rindex(".at[")]
    index = ", ".join(f"0:{n}" for n in shape)
    edits = repair.replace(site, f"{base}.at[{index}]")
    if edits:
        yield Candidate(f"Store to neighbouring rows, without a step (.at[{index}])", False, edits)


def whole_tiles(repair: Repair) -> Iterator[Candidate]:
    """A slice that starts and ends at whole tiles: the start moved, the size rounded up."""
    for view, item, tile in _tiled_items(repair):
        if not isinstance(item, Ds):
            continue
        start, size = repair.view.exact(item.start), repair.view.exact(item.size)
        if start is not None and start % tile:
            for new in (start // tile * tile, -(-start // tile) * tile):
                yield from _moved(repair, view, item, new)
        if size is not None and size % tile:
            yield from _longer(repair, item, -(-size // tile) * tile)


def finer_tiles(repair: Repair) -> Iterator[Candidate]:
    """Tiles of fewer rows, of which the slice is made."""
    ref = _ref(repair) or _ref(repair, "dst") or _ref(repair, "src")
    transforms = exact_transforms(repair.view, ref.type) if ref is not None else (None, None)
    if ref is None or isinstance(transforms, Unsure):
        return
    tiling, swizzle = transforms
    if tiling is None or swizzle is None:
        return
    items = [item for _, item, _ in _tiled_items(repair, ref)]
    if len(items) != len(tiling) or not all(isinstance(i, Ds) for i in items):
        return
    numbers = [(repair.view.exact(i.start), repair.view.exact(i.size)) for i in items if isinstance(i, Ds)]
    new = tuple(gcd(t, a or 0, b or 0) for t, (a, b) in zip(tiling, numbers, strict=True))
    if any(None in pair for pair in numbers) or new == tiling or new[-1] != tiling[-1]:
        return
    edits = set_transforms(repair, ref.type, new, swizzle)
    if edits:
        yield Candidate(f"Use {described(new, swizzle)}", True, edits)


def _moved(repair: Repair, view: Indexed, item: Ds, start: int) -> Iterator[Candidate]:
    """The slice, starting elsewhere with the same size."""
    size = repair.view.exact(item.size)
    source = repair.source(view.made.site if view.made else None)
    if view.made is None or source is None or size is None:
        return
    at = view.items.index(item) if isinstance(view.items, tuple) else 0
    text = _with_slice(source, at, f"{start}:{start + size}")
    edits = repair.replace(view.made.site, text) if text is not None else ()
    if edits:
        yield Candidate(f"Start the slice at {start}, a whole tile", False, edits)


def _with_slice(source: str, axis: int, slice_text: str) -> str | None:
    """`ref.at[a, b]` with another index at one axis."""
    try:
        node = ast.parse(f"({source}\n)", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if axis >= len(parts) or any(isinstance(p, ast.Constant) and p.value is Ellipsis for p in parts):
        return None
    texts = [slice_text if i == axis else ast.unparse(p) for i, p in enumerate(parts)]
    return f"{ast.unparse(node.value)}[{', '.join(texts)}]"


def _longer(repair: Repair, item: Ds, size: int) -> Iterator[Candidate]:
    src = repair.view.value("src")
    ref = _ref(repair)
    if not isinstance(item.size, Int) or ref is None or not isinstance(src, Array):
        return
    shape = repair.view.exact_shape(src.shape)
    old = repair.view.exact(item.size)
    new = tuple(size if n == old else n for n in shape) if shape is not None else None
    edits = together(set_number(repair, item.size, size), set_shape(repair, src.shape, new) if new else None)
    if edits:
        yield Candidate(f"Take whole tiles: {size} instead of {old}", False, edits)


def tile_index(repair: Repair) -> Iterator[Candidate]:
    """The buffer without an index, where the value has its shape."""
    ref = _ref(repair)
    if ref is None:
        return
    source = repair.source(repair.view.site("ref")) or ""
    for view, item, _ in _tiled_items(repair):
        if isinstance(item, Position) and view.made is not None and ".at[" in source:
            edits = repair.replace(repair.view.site("ref"), source[: source.rindex(".at[")])
            if edits:
                yield Candidate("Store to the whole buffer", False, edits)
            return


def barrier_index(repair: Repair) -> Iterator[Candidate]:
    """An integer index in place of a float, the first of a slice with a step."""
    barrier = _ref(repair, "barrier")
    site = repair.view.site("barrier")
    source = repair.source(site) or ""
    if barrier is None or ".at[" not in source:
        return
    base = source[: source.rindex(".at[")]
    for view in barrier.views:
        for item in view.items if isinstance(view, Indexed) and isinstance(view.items, tuple) else ():
            index = item.index if isinstance(item, Position) else None
            if isinstance(index, float) and index.is_integer():
                yield Candidate(f"Use the integer {int(index)}", True, repair.replace(site, f"{base}.at[{int(index)}]"))
            elif isinstance(item, Ds):
                start = repair.view.exact(item.start) or 0
                yield Candidate(f"Signal barrier {start}", False, repair.replace(site, f"{base}.at[{start}]"))
