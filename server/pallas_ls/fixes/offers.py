"""The fixes that are offered for a violation: the proven candidates, the best ones of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ..domain.finding import Edit
from .candidate import Candidate, Repair, apply_edits, edits_between
from .data import changes_data
from .proof import Attempt, Prover
from .registry import candidates

#: Offers for one finding.
MOST = 4
#: Offers of one kind: swizzles of a buffer, layouts of a value.
OF_A_KIND = 2
#: Changes that are tried as the first of two, and as the second one after each of them.
FIRST_STEPS = 2
SECOND_STEPS = 3


def offers(repair: Repair, prover: Prover, paths: Iterable[str]) -> Iterator[Candidate]:
    """Proven fixes, best first. What makes the data larger is offered only where nothing else helps.

    Where no single change does, a further one is added for what comes to light then.
    """
    every = tuple(paths)
    counts: dict[str, int] = {}
    unfinished: list[Attempt] = []
    for candidate in candidates(repair):
        if sum(counts.values()) >= MOST:
            return
        if _enough(candidate.kind, counts):
            continue
        found = prover.attempt(candidate, repair, every)
        if found is not None and changes_data(repair, found.candidate):
            continue
        if found is not None and found.left is None:
            counts[candidate.kind] = counts.get(candidate.kind, 0) + 1
            yield found.candidate
        elif found is not None:
            unfinished.append(found)
    if not counts:
        yield from _in_two_steps(unfinished[:FIRST_STEPS], repair, prover, every)


def _in_two_steps(
    unfinished: list[Attempt], repair: Repair, prover: Prover, paths: tuple[str, ...]
) -> Iterator[Candidate]:
    """Changes of which each repairs what the one before leaves; the first that is proven."""
    for first in unfinished:
        rest = first.next_repair()
        for second in islice(candidates(rest), SECOND_STEPS) if rest is not None else ():
            if first.candidate.kind in ("grow", "pad") and second.kind == "shrink":
                continue  # what would be made larger does not fit
            both = _joined(first.candidate, second, prover)
            found = prover.proven(both, repair, paths) if both is not None else None
            if found is not None and not changes_data(repair, found):
                yield found
                return


def _joined(first: Candidate, second: Candidate, prover: Prover) -> Candidate | None:
    """Two changes as one; the second one's edits are of the texts that the first one makes."""
    edits: list[Edit] = []
    for path in {e.span.path for e in (*first.edits, *second.edits)}:
        module = prover.files.base.module(path)
        if module is None:
            return None
        text = module.text.content
        for step in (first, second):
            text = apply_edits(text, [e for e in step.edits if e.span.path == path])
        edits += edits_between(path, module.text.content, text)
    then = second.title[:1].lower() + second.title[1:]
    return Candidate(f"{first.title}, {then}", first.safe and second.safe, tuple(edits), first.kind)


def _enough(kind: str, counts: dict[str, int]) -> bool:
    """Whether a further fix of a kind says nothing new: a part of it, or something smaller, helps already."""
    if kind in ("grow", "pad"):
        return bool(counts)
    if kind == "LAYOUT_AND_TRANSFORMS" and counts.keys() & {"LAYOUT", "TRANSFORMS"}:
        return True
    return counts.get(kind, 0) >= OF_A_KIND
