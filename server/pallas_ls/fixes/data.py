"""What a program works on is no part of a fix: extents of the arrays that its kernels are given stay as they are."""

from __future__ import annotations

from ..domain.array import Array
from ..domain.python import Value
from ..rules.view import origins
from ..source.span import Span
from .candidate import Candidate, Repair


def changes_data(repair: Repair, candidate: Candidate) -> bool:
    """Whether an edit changes the size of an array where it is made: `jnp.ones((100, 64))`.

    A constant with a name (`N = 48`) may be edited: it is the program's own, and the title names it.
    """
    numbers = {e.span for e in candidate.edits if e.text.isdecimal()}
    return bool(numbers) and not numbers.isdisjoint(_sizes_of_data(repair))


def _sizes_of_data(repair: Repair) -> set[Span]:
    found: set[Span] = set()
    for fact in repair.facts:
        for name, v in fact.operands.items() if fact.api == "kernel()" else ():
            found |= _literals(repair, v) if name != "kernel" else set()
    return found


def _literals(repair: Repair, v: Value) -> set[Span]:
    """Where the extents of an array are written, but for constants with names."""
    shape = v.shape if isinstance(v, Array) and isinstance(v.shape, tuple) else ()
    spans = [repair.locate(o.site) for extent in shape for o in origins(extent)]
    return {s for s in spans if s is not None and not _is_constant(repair.line_before(s))}


def _is_constant(before: str) -> bool:
    """Whether a line up to a number reads `NAME =` or `NAME: int =`."""
    name = before.split("=", maxsplit=1)[0].split(":", maxsplit=1)[0].strip()
    return before.rstrip().endswith("=") and name.isidentifier()
