"""Fixes for `plgpu.async_store_smem`."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.finding import Edit
from ..domain.python import Int
from ..domain.ref import Ref
from .candidate import Candidate, Repair
from .literals import set_number


def shape(repair: Repair) -> Iterator[Candidate]:
    """The buffer takes the value's shape, or the value the buffer's."""
    src, ref = repair.view.value("src"), repair.view.value("ref")
    if not isinstance(src, Array) or not isinstance(ref, Ref):
        return
    for changed, wanted, what in ((ref, src, ref.name or "the buffer"), (src, ref, "the value")):
        edits = _reshape(repair, changed.shape, wanted.shape)
        if edits:
            yield Candidate(f"Give {what} the shape {_shown(repair, wanted.shape)}", False, edits)


def _reshape(repair: Repair, old: object, new: object) -> tuple[Edit, ...]:
    if not isinstance(old, tuple) or not isinstance(new, tuple) or len(old) != len(new):
        return ()
    out: list[Edit] = []
    for a, b in zip(old, new, strict=True):
        x, y = repair.view.exact(a), repair.view.exact(b)
        if x is None or y is None or not isinstance(a, Int):
            return ()
        edits = set_number(repair, a, y)
        if edits is None:
            return ()
        out += edits
    return tuple(dict.fromkeys(out))


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
    """Pick the first barrier."""
    barrier = repair.view.value("barrier")
    rank = len(barrier.shape) if isinstance(barrier, Ref) and isinstance(barrier.shape, tuple) else 1
    edits = repair.method(repair.view.site("barrier"), ".at[" + ", ".join(["0"] * rank) + "]")
    if edits:
        yield Candidate("Signal the first of the barriers (.at[0])", False, edits)
