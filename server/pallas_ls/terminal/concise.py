"""The format `concise`: one line a finding, which editors and terminals make clickable."""

from __future__ import annotations

from .problem import shown
from .result import Results


def concise_lines(results: Results) -> list[str]:
    """file:line:column: severity[code] message (JAX raises ...). Lines and columns (in characters) count from 1."""
    lines: list[str] = []
    for _, reported in results:
        finding = reported.finding
        row, column = results.place(finding.span)
        jax = f" (JAX raises {finding.jax.type})" if finding.jax else ""
        message = " ".join(finding.message.split())
        lines.append(
            f"{shown(finding.span.path)}:{row}:{column}: {finding.severity.value}[{finding.code}] {message}{jax}"
        )
    return lines
