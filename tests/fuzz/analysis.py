"""What pallas-ls says of texts held in memory."""

from __future__ import annotations

from collections.abc import Mapping

import jax

from pallas_ls.answers.report import FileReport
from pallas_ls.answers.session import Session
from pallas_ls.domain.finding import Finding, Severity
from pallas_ls.domain.target import JaxVersion, Target
from pallas_ls.source.module import Module, parse_module

from .oracle import MAIN

TARGET = Target(JaxVersion.parse(jax.__version__))


class Texts:
    """Modules by name, in memory."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.modules = {f"{name}.py": parse_module(f"{name}.py", text, None) for name, text in texts.items()}

    def find(self, name: str, level: int, importer: str) -> str | None:
        """The path of a module, where there is one of that name."""
        return f"{name}.py" if f"{name}.py" in self.modules else None

    def module(self, path: str) -> Module | None:
        """The parsed text."""
        return self.modules.get(path)


def check(texts: Mapping[str, str]) -> FileReport:
    """The report of the main module."""
    return Session(Texts(texts), TARGET).check(f"{MAIN}.py")


def errors(report: FileReport) -> list[Finding]:
    """The findings that say that JAX refuses."""
    return [f for f in report.findings if f.severity is Severity.ERROR]
