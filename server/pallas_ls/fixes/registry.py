"""Which fixes a rule has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import store
from .candidate import Candidate, Repair

FIXES: dict[str, tuple[Callable[[Repair], Iterator[Candidate]], ...]] = {
    "async-store-shape": (store.shape,),
    "async-store-dtype": (store.dtype,),
    "async-store-barrier-count": (store.one_barrier,),
}


def candidates(repair: Repair) -> Iterator[Candidate]:
    """Changes that may repair a violation, best first."""
    for make in FIXES.get(repair.violation.rule.id, ()):
        for candidate in make(repair):
            if candidate.edits:
                yield candidate
