"""Findings as LSP diagnostics: how one is rendered, and which ones each file shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types

from ..answers.report import SyntaxProblem
from ..domain.finding import Finding, JaxError, Related, Severity
from ..source.span import Span
from ..source.text import Text
from .abilities import Abilities
from .analysis import Shown
from .positions import Positions

SOURCE = "pallas"
#: The code of a statement that does not parse: it is no rule, and nobody can ignore it.
SYNTAX = "syntax"
#: Characters of JAX's own message that are quoted; some of them quote a whole module.
QUOTED = 600

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}
#: Codes whose text the editor may show faded.
TAGS: Mapping[str, types.DiagnosticTag] = {"unused-ignore": types.DiagnosticTag.Unnecessary}


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders for one client, in the analysis thread.

    Attributes:
      text: a file's text as the analysis sees it; uri: how the client names a file.
      page: where a rule is explained, by its id; None where nowhere.
    """

    positions: Positions
    abilities: Abilities
    text: Callable[[str], Text | None]
    uri: Callable[[str], str]
    page: Callable[[str], str | None]

    def shown(self, shown: Shown) -> list[types.Diagnostic]:
        return [*map(self.finding, shown.findings), *map(self.syntax, shown.syntax)]

    def finding(self, finding: Finding) -> types.Diagnostic:
        related = [place for each in finding.related if (place := self._related(each))]
        page = self.page(finding.code) if self.abilities.code_description else None
        tag = TAGS.get(finding.code)
        return types.Diagnostic(
            range=self.range(finding.span),
            severity=SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(page) if page else None,
            source=SOURCE,
            message=message_of(finding),
            related_information=related if related and self.abilities.related_information else None,
            tags=[tag] if tag and tag in self.abilities.diagnostic_tags else None,
            data={"finding": self.identity(finding)} if self.abilities.diagnostic_data else None,
        )

    def syntax(self, problem: SyntaxProblem) -> types.Diagnostic:
        return types.Diagnostic(
            range=self.range(problem.span),
            # Whatever checks Python in this editor says it in red; here it tells why a statement was not analysed.
            severity=types.DiagnosticSeverity.Information,
            code=SYNTAX,
            source=SOURCE,
            message=f"Not analysed, for it does not parse: {problem.message}",
        )

    def range(self, span: Span) -> types.Range:
        """Of a file that is gone by now, its very beginning."""
        return self.positions.range(self.text(span.path) or Text(""), span.start, span.end)

    def identity(self, finding: Finding) -> str:
        """What tells a finding again after lines above it came or went: its rule, its words and the text under it."""
        text = self.text(finding.span.path)
        under = text.content[finding.span.start : finding.span.end] if text else ""
        return hashlib.blake2b("\0".join((finding.code, finding.message, under)).encode(), digest_size=8).hexdigest()

    def _related(self, related: Related) -> types.DiagnosticRelatedInformation | None:
        if self.text(related.span.path) is None:
            return None
        location = types.Location(self.uri(related.span.path), self.range(related.span))
        return types.DiagnosticRelatedInformation(location, related.message)


def message_of(finding: Finding) -> str:
    return f"{finding.message}\n{raises(finding.jax)}" if finding.jax else finding.message


def raises(jax: JaxError) -> str:
    """What JAX raises, in one sentence."""
    text = jax.message.strip()
    if not text:
        return f"JAX raises a bare {jax.type}."
    return f"JAX raises {jax.type}: {text if len(text) <= QUOTED else text[:QUOTED].rstrip() + ' …'}"


class Board:
    """What each file shows at present: what the analysis says, then JAX's verdict."""

    def __init__(self) -> None:
        self._findings: dict[str, Sequence[types.Diagnostic]] = {}
        self._verdicts: dict[str, Sequence[types.Diagnostic]] = {}

    def put(self, path: str, diagnostics: Sequence[types.Diagnostic]) -> bool:
        """Whether it differs from what the file showed before."""
        return _put(self._findings, path, diagnostics)

    def put_verdict(self, path: str, diagnostics: Sequence[types.Diagnostic]) -> bool:
        """Whether it differs from the verdict before."""
        return _put(self._verdicts, path, diagnostics)

    def shown(self, path: str) -> list[types.Diagnostic]:
        return [*self._findings.get(path, ()), *self._verdicts.get(path, ())]


def _put(table: dict[str, Sequence[types.Diagnostic]], path: str, diagnostics: Sequence[types.Diagnostic]) -> bool:
    before = table.pop(path, ())
    if diagnostics:
        table[path] = diagnostics
    return list(before) != list(diagnostics)
