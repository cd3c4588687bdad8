"""What a check found, ready to be printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..answers.report import Summary
from ..domain.finding import Finding, Fix, Severity
from ..domain.target import Target
from ..source.span import Span
from ..source.text import Text

SYNTAX_ERROR = "syntax-error"
NOTHING_SEEN = Summary(0, 0)


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding with its proven fixes."""

    finding: Finding
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A file, checked.

    Attributes:
      target: what the answers are for.
      texts: by path, of every file that a finding or fix speaks of.
      notes: what the analysis gave up, for --verbose.
      trouble: why it could not be checked, "" where it could; crash: the traceback where that is our own fault.
    """

    path: str
    target: Target
    reported: tuple[Reported, ...] = ()
    summary: Summary = NOTHING_SEEN
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()
    trouble: str = ""
    crash: str = ""


class Results:
    """All files of one check, and their texts with line tables."""

    def __init__(self, checked: Iterable[Checked]) -> None:
        self.checked = list(checked)
        self._texts: dict[str, Text] = {}

    def text(self, path: str) -> Text:
        """The text that the findings' offsets count in."""
        known = self._texts.get(path)
        if known is None:
            content = next((file.texts[path] for file in self.checked if path in file.texts), "")
            known = self._texts[path] = Text(content)
        return known

    def __iter__(self) -> Iterator[tuple[Checked, Reported]]:
        for file in self.checked:
            for reported in file.reported:
                yield file, reported

    def place(self, span: Span) -> tuple[int, int]:
        """Line and column in characters, both from 1, as people and most tools count."""
        line, column = self.text(span.path).position(span.start, "utf-32")
        return line + 1, column + 1

    def end(self, span: Span) -> tuple[int, int]:
        """Line and column of the end (behind the last character), both from 1."""
        line, column = self.text(span.path).position(span.end, "utf-32")
        return line + 1, column + 1

    def count(self, severity: Severity) -> int:
        """Findings of a severity."""
        return sum(reported.finding.severity is severity for _, reported in self)

    @property
    def summary(self) -> Summary:
        """Of all files together."""
        parts = [file.summary for file in self.checked]
        unknown = tuple(site for part in parts for site in part.unknown)
        return Summary(sum(p.sites for p in parts), sum(p.checked for p in parts), unknown)
