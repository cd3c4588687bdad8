"""Copies that TMA cannot do, done by the threads: loaded into registers and stored.

That takes longer, but has no rows of 16 bytes, no box and no strides. A load signals its barrier all the same, so that
whoever waits for it does as before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..domain.ref import Ref
from ..domain.target import JaxVersion
from ..rules.copying.read import sides
from ..rules.rule import Unsure
from .candidate import Candidate, Repair
from .text import statement

#: Elements that threads move together.
THREADS = 128


def registers(repair: Repair) -> Iterator[Candidate]:
    """`smem[...] = gmem[...]` with an arrival at the barrier; `gmem[...] = smem[...]`."""
    view, fact = repair.view, repair.view.fact
    pair = sides(view)
    found = statement(repair, fact.site)
    if isinstance(pair, Unsure) or found is None or not _is_plain(repair, *pair):
        return
    span, indent = found
    src, dst = repair.source(view.site("src")), repair.source(view.site("dst"))
    if src is None or dst is None:
        return
    lines = [f"{_whole(dst)} = {_whole(src)}"]
    if fact.api == "copy_gmem_to_smem":
        barrier = repair.source(view.site("barrier"))
        if barrier is None:
            return
        lines.append(f"{repair.spelled('barrier_arrive', fact.site)}({barrier})")
    text = f"{repair.line_break(span.path)}{indent}".join(lines)
    yield Candidate("Copy through registers, without TMA", False, (repair.edit(span, text),), "sync")


def _whole(ref: str) -> str:
    return f"{ref}[...]"


def _is_bit(repair: Repair, smem: Ref) -> bool:
    """Whether elements are truth values, which releases before 0.11 do not load."""
    return getattr(smem.dtype, "family", "") == "bool" and repair.view.version < JaxVersion(0, 11)


def _is_plain(repair: Repair, gmem: Ref, smem: Ref | None) -> bool:
    """A copy of all of a buffer without transforms, with no more arguments than any copy has."""
    given = set(repair.view.fact.arg_sites) - {"src", "dst", "barrier"}
    shape = repair.view.exact_shape(smem.shape) if smem is not None else None
    if (
        smem is None
        or given
        or _is_bit(repair, smem)
        or shape is None
        or math.prod(shape) % THREADS
        or smem.type.transforms != ()
    ):
        return False
    return not gmem.views and not smem.views and repair.view.shapes_differ(gmem.shape, smem.shape) is False
