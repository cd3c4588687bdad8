"""The format `json`: one object, version 1. Positions count from 0, columns in 16-bit units of UTF-16, as in LSP."""

from __future__ import annotations

from typing import Any

from ..domain.finding import Edit, Fix, Related
from ..source.span import Span
from .problem import shown
from .result import Reported, Results

VERSION = 1


def json_object(results: Results) -> dict[str, Any]:
    """All findings as one object."""
    return {"version": VERSION, "diagnostics": [_diagnostic(reported, results) for _, reported in results]}


def _diagnostic(reported: Reported, results: Results) -> dict[str, Any]:
    finding = reported.finding
    return {
        **_location(finding.span, results),
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "jax": {"type": finding.jax.type, "message": finding.jax.message} if finding.jax else None,
        "related": [_related(related, results) for related in finding.related],
        "fixes": [_fix(fix, results) for fix in reported.fixes],
    }


def _related(related: Related, results: Results) -> dict[str, Any]:
    return {**_location(related.span, results), "message": related.message}


def _fix(fix: Fix, results: Results) -> dict[str, Any]:
    return {"title": fix.title, "safe": fix.safe, "edits": [_edit(edit, results) for edit in fix.edits]}


def _edit(edit: Edit, results: Results) -> dict[str, Any]:
    return {**_location(edit.span, results), "newText": edit.text}


def _location(span: Span, results: Results) -> dict[str, Any]:
    text = results.text(span.path)
    ends = (text.position(offset, "utf-16") for offset in (span.start, span.end))
    start, end = ({"line": line, "character": character} for line, character in ends)
    return {"file": shown(span.path), "range": {"start": start, "end": end}}
