"""Fixes of register budgets and of loops."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..domain.python import Int
from ..rules.operations import trips
from ..rules.registers_per_thread import LEAST, MOST, STEP
from .candidate import Candidate, Repair, some
from .literals import set_number
from .multiplication import Make


def registers(repair: Repair) -> Iterator[Candidate]:
    """The nearest number of registers that the hardware hands out."""
    n = repair.view.value("n")
    exact = repair.view.exact(n)
    if exact is None or not isinstance(n, Int):
        return
    best = min(max(round(exact / STEP) * STEP, LEAST), MOST)
    edits = set_number(repair, n, best) or some(repair.replace(repair.view.site("n"), str(best)))
    if edits:
        yield Candidate(f"Use {best} registers per thread", False, edits)


def action(repair: Repair) -> Iterator[Candidate]:
    """The action that is spelled alike."""
    given, site = repair.view.value("action"), repair.view.site("action")
    if isinstance(given, str):
        for close in difflib.get_close_matches(given, ("increase", "decrease"), 1, 0.4):
            yield Candidate(f'Use action="{close}"', False, repair.replace(site, f'"{close}"'))


def unroll(repair: Repair) -> Iterator[Candidate]:
    """The largest unroll count below the given one that divides the number of rounds."""
    n, given = trips(repair.view), repair.view.exact(repair.view.value("unroll"))
    if n is None or given is None:
        return
    best = max((d for d in range(1, given) if n % d == 0), default=1)
    yield Candidate(f"Unroll {best} rounds", True, repair.replace(repair.view.site("unroll"), str(best)))


FIXES: dict[str, tuple[Make, ...]] = {
    "max-registers": (registers,),
    "max-registers-range": (registers,),
    "max-registers-action": (action,),
    "unroll-divides": (unroll,),
}
