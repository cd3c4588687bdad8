"""The format `sarif`: SARIF 2.1.0, which code hosts import."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..domain.finding import Edit, Finding, Fix, Severity
from ..rules.registry import all_rules
from ..source.span import Span
from ..workspace.ignores import OWN_CODES
from .edits import by_file
from .problem import shown
from .result import SYNTAX_ERROR, Reported, Results

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}


def sarif_log(results: Results) -> dict[str, Any]:
    """A log of one run."""
    rules = _rules({reported.finding.code for _, reported in results})
    index = {rule["id"]: place for place, rule in enumerate(rules)}
    driver = {"name": "pallas-ls", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "results": [_result(reported, index, results) for _, reported in results],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rules(codes: Iterable[str]) -> list[dict[str, Any]]:
    """Those that the results name."""
    summaries = {rule.id: rule.summary for rule in all_rules()}
    summaries |= {**OWN_CODES, SYNTAX_ERROR: "a statement that does not parse"}
    return [{"id": code, "shortDescription": {"text": summaries.get(code, code)}} for code in sorted(codes)]


def _result(reported: Reported, index: dict[str, int], results: Results) -> dict[str, Any]:
    finding = reported.finding
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [_location(finding.span, results)],
    }
    if finding.related:
        result["relatedLocations"] = [
            {**_location(related.span, results), "id": place, "message": {"text": related.message}}
            for place, related in enumerate(finding.related)
        ]
    if reported.fixes:
        result["fixes"] = [_fix(fix, results) for fix in reported.fixes]
    return result


def _message(finding: Finding) -> str:
    if finding.jax is None:
        return finding.message
    text = f": {finding.jax.message}" if finding.jax.message else ""
    return f"{finding.message}\nJAX raises {finding.jax.type}{text}"


def _fix(fix: Fix, results: Results) -> dict[str, Any]:
    changes = [
        {"artifactLocation": _artifact(path), "replacements": [_replacement(edit, results) for edit in edits]}
        for path, edits in by_file(fix.edits).items()
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _replacement(edit: Edit, results: Results) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span, results), "insertedContent": {"text": edit.text}}


def _location(span: Span, results: Results) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(span.path), "region": _region(span, results)}}


def _artifact(path: str) -> dict[str, Any]:
    """Relative paths are resolved against the repository by whoever imports the log."""
    name = shown(path)
    uri = quote(name.replace(os.sep, "/"), safe="/:" if os.name == "nt" else "/")
    return {"uri": f"file://{uri if uri.startswith('/') else '/' + uri}" if os.path.isabs(name) else uri}


def _region(span: Span, results: Results) -> dict[str, int]:
    text = results.text(span.path)
    (row, column), (end_row, end_column) = (text.position(offset, "utf-16") for offset in (span.start, span.end))
    return {"startLine": row + 1, "startColumn": column + 1, "endLine": end_row + 1, "endColumn": end_column + 1}
