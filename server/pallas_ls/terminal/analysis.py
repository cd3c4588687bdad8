"""Runs the analysis over many files: in this process where they are few, else in several."""

from __future__ import annotations

import os
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context

from ..answers.report import FileReport
from ..answers.session import Session
from ..domain.finding import Finding, Fix, Severity
from ..evaluate.garbage import collect_rarely
from ..rules.registry import all_rules
from ..workspace.files import UnreadableFile, WorkspaceFiles
from ..workspace.ignores import OWN_CODES, filtered, removal
from .inputs import Job
from .problem import REPORT
from .result import SYNTAX_ERROR, Checked, Reported

#: Files that one process does sooner than others have started.
FEW = 24
#: Files of one job: small enough that no process is left with all the work.
SHARE = 16
#: As python's option -P.
SAFE_PATH = "PYTHONSAFEPATH"


def rule_ids() -> list[str]:
    """Ids of all rules."""
    return [rule.id for rule in all_rules()]


def reportable() -> list[str]:
    """All codes that can be selected and ignored."""
    return [*rule_ids(), *OWN_CODES]


def open_session(job: Job) -> tuple[Session, WorkspaceFiles]:
    """A session over a job's project, with what came from standard input."""
    collect_rarely()
    files = job.project.files()
    for path, text in job.overlays:
        files.overlay(path, text)
    return Session(files, job.project.target, job.project.settings.examples_of), files


def check_all(jobs: Sequence[Job], fixes: bool, on_file: Callable[[], None]) -> list[Checked]:
    """Checks every file; `fixes`: with proven fixes, which cost an analysis each. Sorted by path."""
    count = sum(len(job.files) for job in jobs)
    processes = min(os.cpu_count() or 1, count // FEW + 1)
    run = _one_process(jobs, fixes) if processes == 1 else _many_processes(jobs, fixes, processes)
    checked: list[Checked] = []
    for file in run:
        checked.append(file)
        on_file()
    return sorted(checked, key=lambda file: file.path)


def _one_process(jobs: Iterable[Job], fixes: bool) -> Iterator[Checked]:
    for job in jobs:
        yield from check_job(job, fixes)


def _many_processes(jobs: Sequence[Job], fixes: bool, processes: int) -> Iterator[Checked]:
    # Not forked: a progress bar has a thread, and a forked process would inherit its locks in any state.
    with _safe_path(), ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        shares = sorted((share for job in jobs for share in _shares(job)), key=lambda job: -len(job.files))
        running = [pool.submit(check_job, share, fixes) for share in shares]
        for done in as_completed(running):
            yield from done.result()


@contextmanager
def _safe_path() -> Iterator[None]:
    """Python processes started meanwhile look for no modules in the working folder, where files of the user's lie."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


def _shares(job: Job) -> Iterator[Job]:
    for start in range(0, len(job.files), SHARE):
        yield replace(job, files=job.files[start : start + SHARE])


def check_job(job: Job, fixes: bool) -> list[Checked]:
    """Checks the files of one job."""
    checker = Checker(job, fixes)
    reports = [checker.report(path) for path in job.files]
    foreign: defaultdict[str, list[Finding]] = defaultdict(list)
    for report in reports:
        if isinstance(report, FileReport):
            for finding in report.findings:
                foreign[finding.span.path].append(finding)
    return [r if isinstance(r, Checked) else checker.checked(r, foreign[r.path]) for r in reports]


class Checker:
    """One session, and what is made of its reports.

    An exception of the analysis is a defect of ours: it is kept with the file that it came from, so that the other
    files are still answered, and printed as an internal error.
    """

    def __init__(self, job: Job, fixes: bool) -> None:
        self.job = job
        self.fixes = fixes
        self.session, self.files = open_session(job)

    def report(self, path: str) -> FileReport | Checked:
        try:
            self.files.read(path)
        except UnreadableFile as error:
            return Checked(path, self.job.project.target, trouble=str(error))
        try:
            return self.session.check(path)
        except Exception as error:
            return self.crashed(path, error)

    def checked(self, report: FileReport, findings: Sequence[Finding]) -> Checked:
        """A report with the fixes; `findings`: those of this file, wherever they were seen from."""
        try:
            kept = remaining(report, findings, self.files, self.job)
            reported = tuple(Reported(finding, self.fixes_of(finding)) for finding in kept)
        except Exception as error:
            return self.crashed(report.path, error)
        texts = {path: self.files.content(path) or "" for path in mentioned(report, reported)}
        return Checked(report.path, self.job.project.target, reported, report.summary, texts, report.notes)

    def fixes_of(self, finding: Finding) -> tuple[Fix, ...]:
        return fixes_of(finding, self.session, self.files) if self.fixes else ()

    def crashed(self, path: str, error: Exception) -> Checked:
        words = "".join(traceback.format_exception_only(error)).strip().splitlines()
        trouble = f"internal error: {words[-1] if words else type(error).__name__}; {REPORT}"
        return Checked(path, self.job.project.target, trouble=trouble, crash=traceback.format_exc())


def remaining(report: FileReport, findings: Sequence[Finding], files: WorkspaceFiles, job: Job) -> tuple[Finding, ...]:
    """What is reported of a file: the findings that nothing silences, and its statements that do not parse."""
    module = files.module(report.path)
    if module is None:
        return ()
    unique = list(dict.fromkeys(findings))
    doubtful = [problem.span for problem in report.syntax]
    kept = filtered(unique, module, job.project.settings, rule_ids, doubtful)
    syntax = [
        Finding(
            SYNTAX_ERROR, Severity.WARNING, problem.span, f"this does not parse and is passed over: {problem.message}"
        )
        for problem in report.syntax
    ]
    return tuple(sorted((*kept, *syntax), key=lambda f: (f.span.start, f.span.end)))


def fixes_of(finding: Finding, session: Session, files: WorkspaceFiles) -> tuple[Fix, ...]:
    """The proven fixes of a finding."""
    module = files.module(finding.span.path)
    own = removal(module, finding) if module is not None else None
    if own is not None:
        return (own,)
    if finding.code == SYNTAX_ERROR or finding.code in OWN_CODES:
        return ()
    return tuple(offer.fix for offer in session.fixes_of(finding))


def mentioned(report: FileReport, reported: Iterable[Reported]) -> set[str]:
    """Paths of all files whose text is needed to print a report."""
    paths = {report.path, *(site.span.path for site in report.summary.unknown)}
    for item in reported:
        paths |= {related.span.path for related in item.finding.related}
        paths |= {edit.span.path for fix in item.fixes for edit in fix.edits}
    return paths
