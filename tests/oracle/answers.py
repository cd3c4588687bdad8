"""What we say of a kernel file."""

from __future__ import annotations

from pathlib import Path

from pallas_ls.answers.session import Session
from pallas_ls.domain.finding import Finding
from pallas_ls.domain.target import JaxVersion, Target
from pallas_ls.source.module import Module, parse_module


class OneFile:
    """A workspace of one file, held in memory."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.parsed = parse_module(name, text, None)

    def find(self, name: str, level: int, importer: str) -> str | None:
        """No other module is there."""
        return None

    def module(self, path: str) -> Module | None:
        """The file, under its own name."""
        return self.parsed if path == self.name else None


def findings(name: str, text: str, version: JaxVersion) -> tuple[Finding, ...]:
    """All findings of a text for a version of JAX, in the order of the text."""
    return Session(OneFile(name, text), Target(version)).check(name).findings


def findings_of(path: Path, version: JaxVersion) -> tuple[Finding, ...]:
    """All findings of a file."""
    return findings(path.name, path.read_text("utf-8"), version)


def line_of(finding: Finding, text: str) -> int:
    """The 1-based line on which a finding begins."""
    return text.count("\n", 0, finding.span.start) + 1
