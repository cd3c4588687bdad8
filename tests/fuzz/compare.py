"""JAX's verdict beside ours."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from pallas_ls.answers.report import FileReport
from pallas_ls.domain.finding import Finding

from . import oracle
from .analysis import check, errors
from .oracle import Refusal

#: JAX's refusals that a check of types and stores answers; others are outside what is claimed.
CLAIMED = (
    "async_store_smem",
    "The stored value",
    "Expected a single barrier",
    "must be a SMEM reference",
    "on a `Ref`",
    "Swizzle",
    "Num arrivals",
    "Unknown cluster axis",
    "Unsupported index",
    "Transfer",
    "Scalars",
    "Strided slices",
    "Expected slice start",
    "Can't transpose",
    "remap_to_cluster",
    "async atomics",
    "AtomicOpType",
    "Unsupported element type for atomic",
    "Unsupported register bitwidth",
    "Replicated dimensions",
    "WGSplat",
    "WGStrided",
    "Failed to infer",
    "Tiling",
    "Tiled strides",
    "Failed to",
    "transfer_bytes",
    "not enough values to unpack",
    "Cannot cast",
    "Only swizzled",
    "unbound axis",
    "Unsupported layout",
    "is not a valid JAX type",
    "not subscriptable",
    "__jax_array__",
    "Error interpreting argument to async_store_smem",
)


class Outcome(Enum):
    """What comparing came to."""

    LOWERS = "lowers, no error"
    FOUND = "refused, found with JAX's exception type"
    FALSE_ERROR = "FALSE ERROR: lowers, but an error is reported"
    WRONG_TYPE = "WRONG TYPE: refused, but with another exception type"
    EARLIER = "refused first for something that no rule speaks of, and errors reported"
    MISSED = "missed: refused, no error"
    BEYOND = "refused for something that no rule speaks of, no error"
    CRASH = "CRASH of the analysis"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One file's verdicts."""

    outcome: Outcome
    refusal: Refusal | None
    report: FileReport | None
    errors: tuple[Finding, ...] = ()
    crash: str = ""

    def reason(self) -> str:
        """What groups comparisons of one cause."""
        if self.outcome is Outcome.CRASH:
            return self.crash.strip().splitlines()[-1]
        ours = ", ".join(sorted({f"{e.code}({e.jax.type if e.jax else '-'})" for e in self.errors}))
        theirs = f"{self.refusal.type}: {self.refusal.message[:90]}" if self.refusal is not None else "lowers"
        why = ""
        if not self.errors and self.report is not None and self.report.summary.unknown:
            why = f" [{self.report.summary.unknown[0].why}]"
        return f"JAX: {theirs} | ours: {ours or 'none'}{why}"


def is_claimed(r: Refusal) -> bool:
    """Whether JAX's refusal is of a kind that the rules speak of."""
    return any(x in r.message for x in CLAIMED) or (r.type == "AssertionError" and not r.message)


def compare(texts: Mapping[str, str]) -> Comparison:
    """Runs both."""
    refusal = oracle.run(texts)
    try:
        report = check(texts)
    except Exception as error:  # any crash is a defect to be shown
        return Comparison(Outcome.CRASH, refusal, None, (), "".join(traceback.format_exception(error)))
    found = tuple(errors(report))
    return Comparison(_outcome(refusal, found), refusal, report, found)


def _outcome(refusal: Refusal | None, found: tuple[Finding, ...]) -> Outcome:
    if refusal is None:
        return Outcome.FALSE_ERROR if found else Outcome.LOWERS
    if not found:
        return Outcome.MISSED if is_claimed(refusal) else Outcome.BEYOND
    types = {f.jax.type for f in found if f.jax is not None}
    if refusal.type in types:
        return Outcome.FOUND
    return Outcome.WRONG_TYPE if is_claimed(refusal) else Outcome.EARLIER
