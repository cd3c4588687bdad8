"""Violations as findings: at the place that a person would change, with the places that belong to them."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.fact import CallFact
from ..domain.finding import Finding, Related, Severity
from ..evaluate.program import Memo
from ..rules.engine import Violation
from ..rules.rule import Note
from ..source.span import Site, Span
from .examples import PREFIX, Example

Locate = Callable[[Site], Span | None]


def finding_of(v: Violation, locate: Locate) -> Finding | None:
    """A violation's finding; None where its place is not in a known text."""
    problem = v.problem
    at = problem.at or v.fact.site
    notes = list(problem.notes)
    message = problem.message
    if v.chain:
        notes.insert(0, Note(at, f"{v.fact.api} refuses what it is given here"))
        at = v.chain[0]
        message = f"With these arguments: {message}"
    span = locate(at)
    if span is None:
        return None
    related: list[Related] = []
    for note in notes:
        where = locate(note.site)
        if where is not None and where != span:
            related.append(Related(where, note.message))
    severity = Severity.WARNING if v.chain and v.chain[0].chunk.startswith(PREFIX) else v.rule.severity
    return Finding(v.rule.id, severity, span, message, problem.jax, tuple(related))


def unread_examples(found: list[Example], memos: list[Memo]) -> list[Finding]:
    """Examples that cannot be read, or whose call does not fit the function."""
    out: list[Finding] = []
    for e in found:
        problem = e.problem
        for memo in memos:
            raised = [r for r in memo.raises if r.site is not None and r.site.chunk == e.site.chunk and not r.guards]
            if raised:
                problem = f"this example does not fit {e.function}: the call raises {raised[0].name}"
        if problem:
            out.append(Finding("example", Severity.WARNING, e.span, problem))
    return out


def context_hints(violations: list[Violation], facts: list[CallFact], locate: Locate) -> list[Finding]:
    """A quiet word at a kernel's line that some callers' arguments fail at."""
    failing: dict[tuple[str, Site], dict[tuple[Site, ...], Site]] = {}
    for v in violations:
        if v.chain and not v.chain[0].chunk.startswith(PREFIX):
            failing.setdefault((v.rule.id, v.problem.at or v.fact.site), {})[v.chain] = v.fact.site
    every: dict[Site, set[tuple[Site, ...]]] = {}
    for f in facts:
        if f.chain and not f.chain[0].chunk.startswith(PREFIX):
            every.setdefault(f.site, set()).add(f.chain)
    out: list[Finding] = []
    for (code, site), chains in failing.items():
        total = max(len(every.get(s, ())) for s in chains.values())
        span = locate(site)
        if span is not None:
            text = (
                f"Fails for {len(chains)} of {total} calling contexts."
                if total > 1
                else "Fails for the calling context that was found."
            )
            out.append(Finding(code, Severity.HINT, span, text))
    return out
