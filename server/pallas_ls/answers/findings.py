"""Violations as findings: at the place that a person would change, with the places that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..domain.fact import CallFact
from ..domain.finding import Finding, Related, Severity
from ..domain.python import Value
from ..evaluate.memo import Memo
from ..rules.engine import Violation
from ..rules.rule import Note
from ..rules.view import origins
from ..source.span import Site, Span
from .examples import PREFIX, Example

Locate = Callable[[Site], Span | None]


def finding_of(v: Violation, locate: Locate) -> Finding | None:
    """A violation's finding; None where its place is not in a known text."""
    problem = v.problem
    at = problem.at or v.fact.site
    notes = list(problem.notes)
    message = problem.message
    call = v.chain[0] if v.chain else at
    written = _written(problem.cause, call, locate)
    if v.chain:
        notes.insert(0, Note(at, f"{v.fact.api} refuses what it is given here"))
    if written is not None:
        notes.insert(0, Note(call, "called with it here" if v.chain else "JAX refuses it here"))
    elif v.chain:
        message = f"With these arguments: {message}"
    at = written or call
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


def merged(findings: Iterable[Finding | None]) -> list[Finding]:
    """Findings in the order of the text. What a rule says twice of one place is one finding, with the places of both:
    a number that several calls are refused for."""
    found: dict[tuple[object, ...], Finding] = {}
    for f in findings:
        if f is None:
            continue
        key = said(f)
        first = found.get(key, f)
        found[key] = replace(first, related=tuple(dict.fromkeys((*first.related, *f.related))))
    return sorted(found.values(), key=lambda f: (f.span.path, f.span.start, f.code, f.message))


def said(f: Finding) -> tuple[object, ...]:
    """What a finding says, and where."""
    return f.code, f.severity, f.span, f.message


def _written(cause: Value, call: Site, locate: Locate) -> Site | None:
    """Where the number at fault is written: the only literal behind it, where that stands in the same file as the call
    and not in the call itself."""
    sites = {o.site for o in origins(cause)}
    span = locate(call)
    if len(sites) != 1 or span is None:
        return None
    [site] = sites
    found = locate(site)
    if found is None or found.path != span.path or span.start <= found.start <= span.end:
        return None
    return site


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
