"""The real server over a session that does what the text says, run as a process of its own by the tests.

bad()            an error here                      slow FILE    the check waits until FILE can be read (a named pipe)
blame PATH       an error at the start of PATH      crash        whatever is asked raises
print TEXT       the check prints to standard output
kernel NAME(ARGS)   a kernel that can be confirmed; `kernel NAME` without arguments is one that cannot
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

from pallas_ls.answers.report import FileReport, Hover, KernelCall, MemoryLine, Offer, Summary, SyntaxProblem
from pallas_ls.domain.finding import Edit, Finding, Fix, JaxError, Related, Severity
from pallas_ls.domain.target import Target
from pallas_ls.lsp.server import build, serve
from pallas_ls.source.span import Span
from pallas_ls.workspace.files import WorkspaceFiles

CODE = "async-store-shape"


class ScriptedSession:
    """Has the interface of `answers.session.Session`, and finds what the text orders."""

    def __init__(self, files: WorkspaceFiles, target: Target, given: object = None) -> None:
        self.files = files
        self.target = target

    def changed(self) -> None:
        pass

    def check(self, path: str) -> FileReport:
        text = self.text(path)
        findings = tuple(self.findings(path, text))
        module = self.files.module(path)
        syntax = tuple(SyntaxProblem(error.span, error.message) for error in module.errors) if module else ()
        return FileReport(path, findings, syntax, Summary(len(findings) + 1, len(findings)))

    def findings(self, path: str, text: str) -> list[Finding]:
        found = [self.finding(Span(path, m.start(), m.end())) for m in re.finditer(r"bad\(\)", text)]
        for match in re.finditer(r"blame (\S+)", text):
            other = os.path.join(os.path.dirname(path), match[1])
            found.append(self.finding(Span(other, 0, 1), Related(Span(path, match.start(), match.end()), "for this")))
        return found

    def finding(self, span: Span, *related: Related) -> Finding:
        jax = JaxError("NotImplementedError", "Transfer is not a multiple of 128 bytes")
        return Finding(CODE, Severity.ERROR, span, "192 bytes are moved", jax, related)

    def fixes(self, path: str, span: Span) -> list[Offer]:
        text = self.text(path)
        offers = []
        for finding in self.findings(path, text):
            if finding.span.start <= span.end and span.start <= finding.span.end:
                offers.append(Offer(finding, Fix("Make it good", True, (Edit(finding.span, "good()"),))))
                offers.append(Offer(finding, Fix("Make it better", False, (Edit(finding.span, "better()"),))))
        return offers

    def pick(self, path: str, call: KernelCall | None) -> None:
        pass

    def hover(self, path: str, offset: int) -> Hover | None:
        match = next((m for m in re.finditer(r"\w+", self.text(path)) if m.start() <= offset <= m.end()), None)
        return Hover(Span(path, *match.span()), f"**{match[0]}**", None) if match else None

    def memory(self, path: str) -> list[MemoryLine]:
        return [
            MemoryLine(Span(path, m.start(), m.end()), m[1]) for m in re.finditer(r"# memory (.*)", self.text(path))
        ]

    def kernels(self, path: str, callers: Iterable[str] = ()) -> list[KernelCall]:
        found = []
        for match in re.finditer(r"# kernel (\w+)(?:\(([^)]*)\))?", self.text(path)):
            span = Span(path, match.start(), match.end())
            arguments = tuple(match[2].split("; ")) if match[2] else ()
            why = "" if match[2] is not None else "its arguments are not known: write an example comment"
            found.append(KernelCall(match[1], span, match[1], arguments, {}, why))
        return found

    def text(self, path: str) -> str:
        text = self.files.content(path) or ""
        for order in re.finditer(r"# (slow|print) (\S+)|# (crash)", text):
            self.obey(order)
        return text

    def obey(self, order: re.Match[str]) -> None:
        if order[3]:
            raise RuntimeError("the session crashed, as it was told to")
        if order[1] == "slow":
            with open(order[2], encoding="utf-8") as pipe:
                pipe.read()
        else:
            print(order[2])
            sys.stdout.flush()


if __name__ == "__main__":
    serve(build(ScriptedSession))  # type: ignore[arg-type]
