"""Fixes of operations on values, and of register budgets."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..domain.array import Array
from ..domain.python import Int
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


def iota_layout(repair: Repair) -> Iterator[Candidate]:
    """A layout, named right where the numbers are made."""
    out = repair.view.fact.result
    shape = repair.view.exact_shape(out.shape) if isinstance(out, Array) else None
    if shape is None or len(shape) != 2 or shape[0] % 64 or shape[1] % 8:
        return
    cast, layout = _plgpu(repair, "layout_cast"), _plgpu(repair, "Layout.WGMMA")
    edits = repair.wrap(repair.view.fact.site, f"{cast}(", f", {layout})")
    yield Candidate("Give it the layout WGMMA", False, edits)


def _plgpu(repair: Repair, name: str) -> str:
    """A name of plgpu as the file spells it in the kernel's launch."""
    launch = repair.view.fact.launch
    made = launch.made if launch is not None else None
    source = repair.source(made.site) if made is not None else None
    head = source.partition("(")[0] if source is not None else ""
    return head[: head.rindex(".") + 1] + name if "." in head else f"plgpu.{name}"


FIXES: dict[str, tuple[Make, ...]] = {
    "max-registers": (registers,),
    "max-registers-range": (registers,),
    "max-registers-action": (action,),
    "iota-layout": (iota_layout,),
}
