"""`--fix`: applies fixes one after the other, each to the text that the ones before have left, until none applies.

A fix is proven for one text. So nothing is merged: after each fix the file is checked anew, and the next fix is one
that is proven for what stands there then.
"""

from __future__ import annotations

import io
import os
import tokenize
from dataclasses import dataclass, field, replace

from ..answers.session import Session
from ..domain.finding import Finding, Fix
from ..workspace.files import WorkspaceFiles
from .analysis import fixes_of, open_session, remaining
from .edits import Overlapping, apply, by_file, difference
from .inputs import Job
from .problem import Refused, shown

#: Fixes in one file; more means that two of them undo each other.
BOUND = 200


@dataclass(frozen=True, slots=True)
class Applied:
    """A fix that was applied, and where its finding stood then."""

    path: str
    line: int
    code: str
    title: str
    safe: bool


@dataclass(slots=True)
class Fixed:
    """What came of fixing: old and new text by path, of each file that changed."""

    applied: list[Applied] = field(default_factory=list[Applied])
    before: dict[str, str] = field(default_factory=dict[str, str])
    after: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, other: Fixed) -> None:
        """What came of fixing further files, which saw the texts of these."""
        self.applied += other.applied
        self.before = {**other.before, **self.before}
        self.after |= other.after

    def changed(self) -> list[str]:
        """Paths whose text is another now, sorted."""
        return sorted(path for path, text in self.after.items() if text != self.before[path])

    def differences(self) -> list[str]:
        """Unified diffs of all that changed."""
        return [line for p in self.changed() for line in difference(self.before[p], self.after[p], shown(p))]


def fix_job(job: Job, unsafe: bool) -> Fixed:
    """Fixes a job's files in memory; `unsafe`: also with fixes that change tiles, grid or numbers."""
    session, files = open_session(job)
    fixer = Fixer(job, session, files, unsafe)
    for path in job.files:
        if files.content(path) is not None:
            fixer.fix(path)
    return fixer.fixed


def with_fixed(job: Job, fixed: Fixed) -> Job:
    """The job with the fixed texts in place of what is on the disk."""
    texts = {**dict(job.overlays), **fixed.after}
    return replace(job, overlays=tuple(texts.items()))


class Fixer:
    """Fixes file after file in one session."""

    def __init__(self, job: Job, session: Session, files: WorkspaceFiles, unsafe: bool) -> None:
        self.job = job
        self.session = session
        self.files = files
        self.unsafe = unsafe
        self.fixed = Fixed()

    def fix(self, path: str) -> None:
        """Until a pass over the file's findings applies nothing, or a text comes back that was there before."""
        seen = {self.files.content(path)}
        steps = 0
        while steps < BOUND:
            done = self.one_pass(path)
            steps += done
            text = self.files.content(path)
            if not done or text in seen:
                return
            seen.add(text)

    def one_pass(self, path: str) -> int:
        """From the first finding to the last; how many fixes were applied."""
        done = 0
        after = (-1, -1, "")
        while done < BOUND:
            later = [f for f in self.findings(path) if _key(f) > after]
            if not later:
                break
            after = _key(later[0])
            done += self.repair(later[0])
        return done

    def findings(self, path: str) -> list[Finding]:
        report = self.session.check(path)
        own = [finding for finding in report.findings if finding.span.path == path]
        return sorted(remaining(report, own, self.files, self.job), key=_key)

    def repair(self, finding: Finding) -> bool:
        """Applies the first fix of a finding that may be applied."""
        offered = fixes_of(finding, self.session, self.files)
        allowed = [fix for fix in offered if fix.safe or self.unsafe]
        return any(self.apply(fix, finding) for fix in sorted(allowed, key=lambda fix: not fix.safe))

    def apply(self, fix: Fix, finding: Finding) -> bool:
        """False where the fix would change a file outside the project, or contradicts itself."""
        edits = by_file(fix.edits)
        if not all(path in self.job.files or self.inside(path) for path in edits):
            return False
        old = {path: self.files.content(path) or "" for path in edits}
        try:
            new = {path: apply(old[path], own) for path, own in edits.items()}
        except Overlapping:
            return False
        if new == old:
            return False
        module = self.files.module(finding.span.path)
        line = module.text.line_of(finding.span.start) + 1 if module else 1
        for path, text in new.items():
            self.fixed.before.setdefault(path, old[path])
            self.fixed.after[path] = text
            self.files.overlay(path, text)
        self.session.changed()
        self.fixed.applied.append(Applied(finding.span.path, line, finding.code, fix.title, fix.safe))
        return True

    def inside(self, path: str) -> bool:
        root = self.job.project.root.rstrip(os.sep) + os.sep
        return path.startswith(root) and not any(
            path.startswith(site.rstrip(os.sep) + os.sep) for site in self.job.project.environment.site_paths
        )


def _key(finding: Finding) -> tuple[int, int, str]:
    return finding.span.start, finding.span.end, finding.code


def write(fixed: Fixed, leave: set[str]) -> None:
    """Writes the changed files, but for those to leave, in the encoding that each has. Raises `Refused`."""
    for path in sorted(set(fixed.changed()) - leave):
        try:
            with open(path, "rb") as file:
                old = file.read()
            data = encoded(fixed.after[path], old)
            with open(path, "wb") as file:
                file.write(data)
        except (OSError, UnicodeEncodeError) as error:
            raise Refused(f"{shown(path)}: the fixed text cannot be written: {error}") from error


def encoded(text: str, old: bytes) -> bytes:
    """A text in the encoding of the old bytes, with their byte order mark. Raises `UnicodeEncodeError`."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(old).readline)
    return text.encode(encoding)
