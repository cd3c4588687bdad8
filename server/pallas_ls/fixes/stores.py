"""Fixes of `ref[...] = x`, `plgpu.store` and `plgpu.async_store_tmem`: the value's element type and shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.python import Int
from ..domain.ref import Ref
from ..rules.references import reference
from ..source.span import Span
from .candidate import Candidate, Repair
from .literals import set_shape
from .store import part_of
from .text import assigned, parsed, subscript, with_method

Make = Callable[[Repair], Iterator[Candidate]]


def dtype(repair: Repair) -> Iterator[Candidate]:
    """The value converted to what the buffer holds; the buffer with the value's type."""
    ref, value = reference(repair.view), repair.view.value("value")
    if ref is None or not isinstance(value, Array) or not isinstance(ref.dtype, DType):
        return
    made = ref.type.made
    where = made.args.get("dtype") if made is not None else None
    written = repair.source(where)
    wanted = _dtype_of(repair, ref) or written
    span = _value(repair)
    if wanted and span is not None:
        yield Candidate(f"Cast the value to {ref.dtype}", False, (with_method(repair, span, f".astype({wanted})"),))
    if written is not None and written.endswith(f".{ref.dtype}") and isinstance(value.dtype, DType):
        new = f"{written.removesuffix(str(ref.dtype))}{value.dtype.name}"
        yield Candidate(f"Let {ref.name or 'the buffer'} hold {value.dtype}", False, repair.replace(where, new))


def _value(repair: Repair) -> Span | None:
    """Where the stored value is written."""
    site = repair.view.site("value")
    return repair.locate(site) if site is not None else assigned(repair, repair.view.fact.site)


def _dtype_of(repair: Repair, ref: Ref) -> str | None:
    """`out_gmem.dtype`, where the buffer stands in the statement by its name."""
    name = ref.name
    found = subscript(repair.source(repair.view.fact.site) or "")
    return f"{name}.dtype" if name and found is not None and found[0] == name else None


def shape(repair: Repair) -> Iterator[Candidate]:
    """The part of the buffer that takes the value; one of the two with the other's shape; a number spread over it."""
    ref, value = reference(repair.view), repair.view.value("value")
    if ref is None:
        return
    if isinstance(value, (Int, float, bool)) or (isinstance(value, Array) and value.shape == ()):
        yield from _spread(repair, ref)
        return
    if not isinstance(value, Array):
        return
    yield from _part(repair, ref, value)
    for changed, wanted, what in ((value, ref, "the value"), (ref, value, ref.name or "the buffer")):
        new = repair.view.exact_shape(wanted.shape)
        edits = set_shape(repair, changed.shape, new) if new is not None else None
        if edits:
            yield Candidate(f"Give {what} the shape {new}", False, edits)


def _spread(repair: Repair, ref: Ref) -> Iterator[Candidate]:
    span, name = _value(repair), ref.name
    if span is None or not name or subscript(repair.source(repair.view.fact.site) or "") != (name, ["..."]):
        return
    text = f"jnp.full({name}.shape, {repair.text(span)}, {name}.dtype)"
    yield Candidate(f"Fill {name} with the number", True, (repair.edit(span, text),))


def _part(repair: Repair, ref: Ref, value: Array) -> Iterator[Candidate]:
    """The first elements of a buffer that is stored to as a whole."""
    small, large = repair.view.exact_shape(value.shape), repair.view.exact_shape(ref.shape)
    index = part_of(repair, small, large) if small is not None and large is not None else None
    if index is None:
        return
    title = f"Store to the first {small} of {ref.name or 'the buffer'}"
    if repair.view.fact.api == "ref.set":
        site = repair.view.site("idx")
        whole = (repair.source(site) or "").strip() in ("...", ":")
        edits = repair.replace(site, index) if whole else ()
    else:
        site = repair.view.site("dst") or repair.view.site("ref")
        source = repair.source(site) or ""
        edits = repair.method(site, f".at[{index}]") if parsed(source) is not None and ".at" not in source else ()
    if edits:
        yield Candidate(title, False, edits)


FIXES: dict[str, tuple[Make, ...]] = {"store-dtype": (dtype,), "store-shape": (shape,)}
