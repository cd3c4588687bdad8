"""Violations as findings: at the place that a person would change, with the places that belong to them."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.finding import Finding, Related
from ..rules.engine import Violation
from ..rules.rule import Note
from ..source.span import Site, Span

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
    return Finding(v.rule.id, v.rule.severity, span, message, problem.jax, tuple(related))
