"""JAX's verdict on a copy beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pallas_ls.domain.finding import Finding, JaxError, Severity
from pallas_ls.domain.target import JaxVersion
from tests.oracle.answers import findings
from tests.oracle.verdict import quotes, show

#: Refusals that no rule of copies speaks of.
BEYOND = ("Mosaic GPU kernel exceeds available shared memory",)


class Outcome(Enum):
    """What comparing came to."""

    LOWERS = "lowers, no error"
    FOUND = "refused, found with JAX's words"
    FALSE_ERROR = "FALSE ERROR: lowers, but an error is reported"
    OTHER_WORDS = "OTHER WORDS: refused, but for another reason"
    MISSED = "missed: refused, no error"
    BEYOND = "refused for something that no rule of copies speaks of"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One copy's verdicts."""

    outcome: Outcome
    theirs: JaxError | None
    ours: tuple[Finding, ...]

    def __str__(self) -> str:
        said = "; ".join(f"{f.code} ({show(f.jax)})" for f in self.ours) or "nothing"
        return f"{self.outcome.value}: JAX: {show(self.theirs)[:160]} | ours: {said}"


def compare(text: str, theirs: JaxError | None, version: JaxVersion) -> Comparison:
    """Sets our errors beside a verdict of JAX."""
    ours = tuple(f for f in findings("kernel.py", text, version) if f.severity is Severity.ERROR)
    return Comparison(_outcome(theirs, ours), theirs, ours)


def _outcome(theirs: JaxError | None, ours: tuple[Finding, ...]) -> Outcome:
    if theirs is None:
        return Outcome.FALSE_ERROR if ours else Outcome.LOWERS
    if any(f.jax is not None and quotes(f.jax, theirs) for f in ours):
        return Outcome.FOUND
    if theirs.message.startswith(BEYOND):
        return Outcome.BEYOND
    return Outcome.OTHER_WORDS if ours else Outcome.MISSED
