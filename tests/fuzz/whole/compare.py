"""JAX's verdict on a kernel beside ours."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from enum import Enum

from pallas_ls.domain.finding import Finding, Severity
from pallas_ls.domain.target import JaxVersion
from tests.oracle.answers import findings

from .oracle import ABORTED, IDLE, Refusal
from .sites import is_decidable


class Outcome(Enum):
    """What comparing came to."""

    LOWERS = "lowers, no error"
    FOUND = "refused, and an error is reported"
    FALSE_ERROR = "FALSE ERROR: lowers, but an error is reported"
    MISSED = "MISSED: refused where the text decides, no error"
    BEYOND = "refused elsewhere, no error"
    ABORTED = "JAX's process ended"
    IDLE = "nothing was lowered"
    CRASH = "CRASH of the analysis"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One kernel's verdicts."""

    outcome: Outcome
    refusal: Refusal | None
    errors: tuple[Finding, ...] = ()
    crash: str = ""

    @property
    def site(self) -> str:
        """Where JAX raised; empty where it did not."""
        r = self.refusal
        return f"{r.file.rpartition('/')[2] or 'python'}:{r.line} {r.function}" if r is not None else ""

    def reason(self) -> str:
        """What groups comparisons of one cause."""
        if self.outcome is Outcome.CRASH:
            return self.crash.strip().splitlines()[-1]
        ours = ", ".join(sorted({e.code for e in self.errors})) or "nothing"
        r = self.refusal
        theirs = f"{r.type}: {re.sub(r'[0-9]+', 'N', r.head)[:100]} @ {self.site}" if r is not None else "lowers"
        return f"JAX: {theirs} | ours: {ours}"


def compare(text: str, refusal: Refusal | None, version: JaxVersion) -> Comparison:
    """Sets our errors beside JAX's verdict."""
    try:
        found = tuple(f for f in findings("kernel.py", text, version) if f.severity is Severity.ERROR)
    except Exception as error:  # any crash is a defect to be shown
        return Comparison(Outcome.CRASH, refusal, (), "".join(traceback.format_exception(error)))
    return Comparison(_outcome(refusal, found), refusal, found)


def _outcome(refusal: Refusal | None, found: tuple[Finding, ...]) -> Outcome:
    if refusal is None:
        return Outcome.FALSE_ERROR if found else Outcome.LOWERS
    if refusal in (ABORTED, IDLE):
        return Outcome.ABORTED if refusal == ABORTED else Outcome.IDLE
    if found:
        return Outcome.FOUND
    return Outcome.MISSED if is_decidable(refusal) else Outcome.BEYOND
