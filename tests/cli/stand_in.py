"""The real command line over a stand-in for the analysis, so that what is printed does not change with the rules.

Words in a file decide what is found: SMALL (error, safe fix to LARGE), ODD (error, unsafe fix to EVEN), PLAIN
(warning), PING and PONG (errors whose safe fixes undo each other), SITE and HIDDEN (call sites: checked, unknown),
CRASH (a defect of the analysis).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from pallas_ls.answers import session
from pallas_ls.answers.report import FactRow, FileReport, KernelCall, Offer, Step, Summary, SyntaxProblem, UnknownSite
from pallas_ls.domain.finding import Edit, Finding, Fix, JaxError, Related, Severity
from pallas_ls.domain.target import Target
from pallas_ls.rules import registry
from pallas_ls.source.span import Span
from pallas_ls.workspace.files import WorkspaceFiles

TRANSFER = JaxError("NotImplementedError", "Transfer is not a multiple of 128 bytes")
#: word: rule, severity, message, what JAX raises, the word that repairs it, whether that is safe
WORDS: dict[str, tuple[str, Severity, str, JaxError | None, str, bool]] = {
    "SMALL": ("small-block", Severity.ERROR, "the block has 192 bytes", TRANSFER, "LARGE", True),
    "ODD": ("odd-block", Severity.ERROR, "the block is odd", JaxError("AssertionError", ""), "EVEN", False),
    "PLAIN": ("plain-block", Severity.WARNING, "the block is plain", None, "", True),
    "PING": ("ping", Severity.ERROR, "ping", None, "PONG", True),
    "PONG": ("ping", Severity.ERROR, "pong", None, "PING", True),
}


class StandIn:
    """The interface of `answers.session.Session`."""

    def __init__(self, files: WorkspaceFiles, target: Target, given: object = None) -> None:
        self.files = files
        self.target = target

    def changed(self) -> None:
        pass

    def check(self, path: str) -> FileReport:
        text = self.text(path)
        if "CRASH" in text:
            raise IndexError("tuple index out of range")
        module = self.files.module(path)
        assert module is not None
        syntax = tuple(SyntaxProblem(fault.span, fault.message) for fault in module.errors)
        findings = tuple(self.finding(path, match) for match in re.finditer("|".join(WORDS), text))
        hidden = tuple(UnknownSite(span, "copy", "n is a parameter") for span in self.spans(path, "HIDDEN"))
        seen = len(self.spans(path, "SITE"))
        return FileReport(path, findings, syntax, Summary(seen + len(hidden), seen, hidden), ("took too many steps",))

    def finding(self, path: str, match: re.Match[str]) -> Finding:
        code, severity, message, jax, _, _ = WORDS[match[0]]
        head = self.text(path).partition("\n")[0]
        related = (Related(Span(path, 0, len(head)), "the module begins here"),) if match[0] == "SMALL" else ()
        return Finding(code, severity, Span(path, match.start(), match.end()), message, jax, related)

    def fixes_of(self, finding: Finding) -> list[Offer]:
        span = finding.span
        word = self.text(span.path)[span.start : span.end]
        _, _, _, _, repaired, safe = WORDS[word]
        fix = Fix(f"Write {repaired}", safe, (Edit(span, repaired),))
        return [Offer(finding, fix)] if repaired else []

    def facts(self, path: str) -> list[FactRow]:
        if "CRASH" in self.text(path):
            raise IndexError("tuple index out of range")
        return [FactRow(path, 1, 0, "copy", "src", (64, "n"), "float32", "256*n") for _ in self.spans(path, "SITE")]

    def explain(self, path: str, line: int) -> list[Step]:
        spans = self.spans(path, "SITE")
        where = Step("64: written", spans[0] if spans else None)
        return [Step("src: float32[64, n]", None, (where, Step("n: a parameter")))] if spans else []

    def kernels(self, path: str, callers: Iterable[str] = ()) -> list[KernelCall]:
        return [
            KernelCall("matmul", span, "matmul", why="matmul cannot be called: give arguments")
            for span in self.spans(path, "SITE")
        ]

    def text(self, path: str) -> str:
        return self.files.content(path) or ""

    def spans(self, path: str, word: str) -> list[Span]:
        return [Span(path, m.start(), m.end()) for m in re.finditer(word, self.text(path))]


def all_rules() -> tuple[Any, ...]:
    rules = {code: (severity, message) for code, severity, message, *_ in WORDS.values()}
    return tuple(
        SimpleNamespace(id=code, severity=severity, summary=message, page=lambda code=code: f"# {code}\n")
        for code, (severity, message) in rules.items()
    )


# At the module's level, so that the processes that analyse many files, which import this module anew, have it too.
session.Session = StandIn  # type: ignore[misc, assignment]
registry.all_rules = all_rules

if __name__ == "__main__":
    from pallas_ls.cli import main

    main()
