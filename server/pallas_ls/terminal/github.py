"""The format `github`: workflow commands, which GitHub shows at the lines of a pull request."""

from __future__ import annotations

import os

from ..domain.finding import Finding, Severity
from .problem import shown
from .result import Results

LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def github_lines(results: Results) -> list[str]:
    """::error file=...,line=...::message"""
    return [_command(reported.finding, results) for _, reported in results]


def _command(finding: Finding, results: Results) -> str:
    row, column = results.place(finding.span)
    end_row, end_column = results.end(finding.span)
    properties = {
        "title": f"pallas-ls ({finding.code})",
        "file": shown(finding.span.path).replace(os.sep, "/"),
        "line": row,
        "endLine": end_row,
    }
    if row == end_row:  # GitHub takes columns for one line only
        properties |= {"col": column, "endColumn": end_column}
    jax = f"\nJAX raises {finding.jax.type}: {finding.jax.message}".rstrip(": ") if finding.jax else ""
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{LEVELS[finding.severity]} {written}::{_data(finding.message + jax)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
