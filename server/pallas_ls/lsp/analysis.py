"""The session and the texts that it reads, as the analysis thread has them.

Changes are handed over, not written: the texts that a job sees stay the same until it ends, whatever is typed
meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..answers.examples import Given
from ..answers.report import FileReport, Summary, SyntaxProblem
from ..answers.session import Session
from ..domain.finding import Finding
from ..domain.target import Target
from ..rules.registry import all_rules
from ..source.text import Text
from ..workspace.files import WorkspaceFiles
from ..workspace.ignores import apply_comments, filtered, is_selected
from ..workspace.settings import Settings
from .documents import Document, Documents

OpenSession = Callable[[WorkspaceFiles, Target, Callable[[str], Given]], Session]


@dataclass(frozen=True, slots=True)
class Ground:
    """What a session stands on.

    Attributes:
      roots: the folders that modules are imported from.
      site_paths: the site-packages of the user's environment.
      settings: which rules are reported where.
    """

    roots: tuple[str, ...] = ()
    site_paths: tuple[str, ...] = ()
    target: Target = field(default_factory=Target)
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True)
class Shown:
    """What one file is to show: findings of its own report and of others', without what the user silenced."""

    path: str
    findings: tuple[Finding, ...]
    syntax: tuple[SyntaxProblem, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of checking one file.

    Attributes:
      document: the version that was looked at; None for a file that is not open (any more).
      shown: of every file that may show something else than before; the checked one is among them.
    """

    path: str
    document: Document | None
    shown: tuple[Shown, ...]
    target: Target
    summary: Summary | None = None
    notes: tuple[str, ...] = ()


class Analysis:
    """Everything here runs in the analysis thread, but for `take_over` and `reread`."""

    def __init__(self, documents: Documents, open_session: OpenSession = Session) -> None:
        self.documents = documents
        self._open_session = open_session
        self._lock = threading.Lock()
        self._coming: dict[str, Document | None] = {}
        self._disk_changed = False
        self._taken: dict[str, Document] = {}
        self._current: dict[str, FileReport] = {}  # reports that hold for the texts as they are
        self._latest: dict[str, FileReport] = {}  # the last report of each open file
        self.stand_on(Ground())

    # -- what changes ------------------------------------------------------------------------------------------------

    def take_over(self, path: str, document: Document | None) -> None:
        """From any thread: a document's new state, or None where it was closed; it holds from the next job on."""
        with self._lock:
            self._coming[path] = document

    def reread(self) -> None:
        """From any thread: files on the disk may have changed."""
        with self._lock:
            self._disk_changed = True

    def update(self) -> None:
        """Lets the session see the changes that came since the last job."""
        with self._lock:
            coming, self._coming = self._coming, {}
            changed, self._disk_changed = self._disk_changed or bool(coming), False
        for path, document in coming.items():
            self._take(path, document)
        if changed:
            self._current.clear()
            self.session.changed()

    def stand_on(self, ground: Ground) -> None:
        """Begins anew, with the open documents as they are."""
        self.ground = ground
        self._current.clear()
        self.files = WorkspaceFiles(ground.roots, ground.site_paths)
        for path, document in self._taken.items():
            self.files.overlay(path, document.text.content)
        self.session = self._open_session(self.files, ground.target, ground.settings.examples_of)

    def _take(self, path: str, document: Document | None) -> None:
        if document is None or document.refused:
            self._taken.pop(path, None)
            self.files.overlay(path, None)
        else:
            self._taken[path] = document
            self.files.overlay(path, document.text.content)

    # -- what is asked -----------------------------------------------------------------------------------------------

    def report(self, path: str) -> FileReport:
        """The session's report of a file as it is now; the same object while nothing changed."""
        report = self._current.get(path)
        if report is None:
            report = self._current[path] = self.session.check(path)
        return report

    def check(self, path: str) -> Checked:
        """Brings what an open file's report says up to date, in all files that it speaks of."""
        if path not in self._taken:
            return self.forget(path)
        report = self.report(path)
        touched = _speaks_of(self._latest.get(path)) | _speaks_of(report) | {path}
        self._latest[path] = report
        shown = tuple(map(self.shown, sorted(touched)))
        return Checked(path, self._taken[path], shown, self.ground.target, report.summary, report.notes)

    def forget(self, path: str) -> Checked:
        """The file was closed: its report no longer speaks of any file."""
        touched = _speaks_of(self._latest.pop(path, None)) | {path}
        return Checked(path, None, tuple(map(self.shown, sorted(touched))), self.ground.target)

    def shown(self, path: str) -> Shown:
        """What the reports of the open files say of a file."""
        return self._said(path, self._latest)

    def findings(self, path: str) -> tuple[Finding, ...]:
        """What an open file shows once it is checked as it is now."""
        return self._said(path, {**self._latest, path: self.report(path)}).findings

    def _said(self, path: str, reports: Mapping[str, FileReport]) -> Shown:
        own = reports.get(path)
        said = dict.fromkeys(f for report in reports.values() for f in report.findings if f.span.path == path)
        return Shown(path, self._wanted(path, tuple(said), own), own.syntax if own else ())

    def document(self, path: str) -> Document | None:
        """The open document as the session sees it, which may be older than what the client has."""
        return self._taken.get(path)

    def text(self, path: str) -> Text | None:
        """A file's text as the session sees it; None where it cannot be read."""
        module = self.files.module(path)
        return module.text if module is not None else None

    def _wanted(self, path: str, findings: Sequence[Finding], own: FileReport | None) -> tuple[Finding, ...]:
        """Without what comments and settings silence. Whether a comment is of use, only the file's own report tells."""
        module = self.files.module(path)
        if module is None:
            return tuple(findings)
        if own is not None:
            doubtful = [problem.span for problem in own.syntax]
            return filtered(findings, module, self.ground.settings, rule_ids, doubtful)
        kept, _ = apply_comments(findings, module, rule_ids)
        return tuple(f for f in kept if is_selected(f.code, path, self.ground.settings))


def rule_ids() -> Iterable[str]:
    return (rule.id for rule in all_rules())


def _speaks_of(report: FileReport | None) -> set[str]:
    return {finding.span.path for finding in report.findings} if report else set()
