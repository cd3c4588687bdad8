"""The fixes that are offered for a violation: the proven candidates, the best ones of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .candidate import Candidate, Repair
from .proof import Prover
from .registry import candidates

#: Offers for one finding.
MOST = 4
#: Offers of one kind: swizzles of a buffer, layouts of a value.
OF_A_KIND = 2


def offers(repair: Repair, prover: Prover, paths: Iterable[str]) -> Iterator[Candidate]:
    """Proven fixes, best first. What makes the data larger is offered only where nothing else helps."""
    every = tuple(paths)
    counts: dict[str, int] = {}
    for candidate in candidates(repair):
        if sum(counts.values()) >= MOST:
            return
        if _enough(candidate.kind, counts):
            continue
        found = prover.proven(candidate, repair, every)
        if found is not None:
            counts[candidate.kind] = counts.get(candidate.kind, 0) + 1
            yield found


def _enough(kind: str, counts: dict[str, int]) -> bool:
    """Whether a further fix of a kind says nothing new: a part of it, or something smaller, helps already."""
    if kind == "grow":
        return bool(counts)
    if kind == "LAYOUT_AND_TRANSFORMS" and counts.keys() & {"LAYOUT", "TRANSFORMS"}:
        return True
    return counts.get(kind, 0) >= OF_A_KIND
