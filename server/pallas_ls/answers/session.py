"""One analysis that lives as long as the editor: the program, its target, and the questions asked of it."""

from __future__ import annotations

from ..domain.finding import Finding
from ..domain.target import Target
from ..evaluate.program import Files, Program
from ..library.library import Library
from ..source.span import Span
from .report import FactRow, FileReport, Hover, KernelCall, Offer, Step


class Session:
    """Answers about the files of a workspace.

    The texts come from `files`; call `changed()` after any of them changed. Every answer is brought up to date when it is asked for and
    costs what the change costs: units that the change does not reach keep their facts.
    """

    def __init__(self, files: Files, target: Target) -> None:
        self.files = files
        self.target = target
        self.program = Program(files, Library())

    def changed(self) -> None:
        """Texts may have changed since the last answer."""
        self.program.refresh()

    def check(self, path: str) -> FileReport:
        """Findings of a file."""
        raise NotImplementedError

    def fixes(self, path: str, span: Span) -> list[Offer]:
        """Proven fixes for the findings that touch a stretch of a file (its first to its last line). Slow: an analysis per candidate."""
        raise NotImplementedError

    def fixes_of(self, finding: Finding) -> list[Offer]:
        """Proven fixes for one finding."""
        raise NotImplementedError

    def hover(self, path: str, offset: int) -> Hover | None:
        """What is known at a place: offset in characters."""
        raise NotImplementedError

    def facts(self, path: str) -> list[FactRow]:
        """A row for each operand that has a shape, at each call site."""
        raise NotImplementedError

    def explain(self, path: str, line: int) -> list[Step]:
        """How the shapes at a line (0-based) came about."""
        raise NotImplementedError

    def kernels(self, path: str) -> list[KernelCall]:
        """What can be confirmed in a file, in order."""
        raise NotImplementedError
