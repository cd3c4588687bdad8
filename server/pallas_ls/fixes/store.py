"""Fixes for `plgpu.async_store_smem`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.finding import Edit
from ..domain.ref import Ref
from .arguments import exchanged
from .call_text import function_prefix
from .candidate import Candidate, Repair, together
from .literals import set_shape
from .transforms import SWIZZLES, bits_of, described, set_transforms, usual_tiling

#: What `red.async` can do.
ATOMICS = ("add", "max", "min", "and", "or", "xor")


def shape(repair: Repair) -> Iterator[Candidate]:
    """The part of the buffer that takes the value; one of the two with the other's shape."""
    src, ref = repair.view.value("src"), repair.view.value("ref")
    if not isinstance(src, Array) or not isinstance(ref, Ref):
        return
    if ref.type.kind != "data":
        yield from exchanged(repair)
        return
    yield from _part(repair, src, ref)
    for changed, wanted, what in ((ref, src, ref.name or "the buffer"), (src, ref, "the value")):
        new = repair.view.exact_shape(wanted.shape)
        edits = set_shape(repair, changed.shape, new) if new is not None else None
        if edits:
            yield Candidate(f"Give {what} the shape {_shown(repair, wanted.shape)}", False, edits)
            yield from _with_transforms(repair, ref, edits, new, what)


def _part(repair: Repair, src: Array, ref: Ref) -> Iterator[Candidate]:
    """The slot or the corner of the buffer that has the value's shape."""
    small, large = repair.view.exact_shape(src.shape), repair.view.exact_shape(ref.shape)
    if small is None or large is None:
        return
    if large[1:] == small and len(large) > 1:
        slot = slot_of(repair, "barrier") or "0"
        edits = repair.method(repair.view.site("ref"), f".at[{slot}]")
        yield Candidate(f"Store to one slot of the buffer (.at[{slot}])", slot != "0", edits)
        return
    index = part_of(repair, small, large)
    if index is not None:
        edits = repair.method(repair.view.site("ref"), f".at[{index}]")
        yield Candidate(f"Store to the first {small} of the buffer", False, edits)


def part_of(repair: Repair, small: tuple[int, ...], large: tuple[int, ...]) -> str | None:
    """The index of the first elements of something larger: "pl.ds(0, 64)"; None where they are no part of it."""
    if len(small) != len(large) or small == large or any(a > b for a, b in zip(small, large, strict=True)):
        return None
    module = pallas(repair)
    parts = [f"{module}ds(0, {a})" if a != b else ":" for a, b in zip(small, large, strict=True)]
    while parts[-1] == ":":
        parts.pop()
    return ", ".join(parts)


def pallas(repair: Repair) -> str:
    """How the file spells jax.experimental.pallas."""
    for fact in repair.facts:
        if fact.site.path == repair.view.fact.site.path and fact.api.startswith("pl."):
            prefix = function_prefix(repair.source(fact.site) or "")
            if prefix:
                return prefix
    return "pl."


def _with_transforms(
    repair: Repair, ref: Ref, edits: tuple[Edit, ...], new: tuple[int, ...] | None, what: str
) -> Iterator[Candidate]:
    """The same, with transforms for the new shape."""
    bits = bits_of(ref.type)
    if bits is None or not new or what == "the value":
        return
    for swizzle in SWIZZLES:
        tiling = usual_tiling(len(new), swizzle, bits)
        both = together(edits, set_transforms(repair, ref.type, tiling, swizzle))
        if both and new[-1] % tiling[-1] == 0:
            yield Candidate(f"Give {what} the shape {new} and {described(tiling, swizzle)}", False, both)


def slot_of(repair: Repair, other: str) -> str | None:
    """The index by which the call picks its other operand: `slot` where that is `x.at[slot]`."""
    source = (repair.source(repair.view.site(other)) or "").strip()
    at = source.rfind(".at[")
    return source[at + 4 : -1] if at >= 0 and source.endswith("]") and "," not in source[at:] else None


def _shown(repair: Repair, shape: object) -> str:
    return str(repair.view.exact_shape(shape)) if isinstance(shape, tuple) else "?"


def dtype(repair: Repair) -> Iterator[Candidate]:
    """Cast the value, or let the buffer hold its type."""
    src, ref = repair.view.value("src"), repair.view.value("ref")
    if (
        not isinstance(src, Array)
        or not isinstance(ref, Ref)
        or not isinstance(src.dtype, DType)
        or not isinstance(ref.dtype, DType)
    ):
        return
    made = ref.type.made
    where = made.args.get("dtype") if made else None
    name = repair.source(where)
    cast = repair.method(repair.view.site("src"), f".astype({name or f'jnp.{ref.dtype.name}'})")
    if cast:
        yield Candidate(f"Cast the value to {ref.dtype.name}", False, cast)
    if name is not None and name.endswith(ref.dtype.name):
        yield Candidate(
            f"Let {ref.name or 'the buffer'} hold {src.dtype.name}",
            False,
            repair.replace(where, name[: -len(ref.dtype.name)] + src.dtype.name),
        )


def one_barrier(repair: Repair) -> Iterator[Candidate]:
    """The barrier of the buffer's slot, else the first one."""
    barrier = repair.view.value("barrier")
    rank = len(barrier.shape) if isinstance(barrier, Ref) and isinstance(barrier.shape, tuple) else 1
    slot = slot_of(repair, "ref") if rank == 1 else None
    if slot is not None and slot.replace("_", "a").isalnum():
        edits = repair.method(repair.view.site("barrier"), f".at[{slot}]")
        yield Candidate(f"Signal the barrier of the same slot (.at[{slot}])", True, edits)
    edits = repair.method(repair.view.site("barrier"), ".at[" + ", ".join(["0"] * rank) + "]")
    yield Candidate("Signal the first of the barriers (.at[0])", False, edits)


def atomic(repair: Repair) -> Iterator[Candidate]:
    """The operation whose name is closest. A plain store is none: it would compute something else."""
    op, site = repair.view.value("atomic"), repair.view.site("atomic")
    if isinstance(op, str) and op not in ATOMICS:
        for close in difflib.get_close_matches(op, ATOMICS, 1, 0.5):
            yield Candidate(f'Use atomic="{close}"', False, repair.replace(site, f'"{close}"'))
