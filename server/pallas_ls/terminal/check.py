"""`pallas-ls check`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ..domain.finding import Severity
from ..workspace.settings import Layer
from .analysis import check_all, reportable
from .as_json import json_object
from .concise import concise_lines
from .fixing import Applied, Fixed, fix_job, with_fixed, write
from .full import print_full
from .github import github_lines
from .inputs import STDIN, Inputs, Job, Projects, gather
from .problem import COULD_NOT_RUN, FOUND_ERRORS, FOUND_NOTHING, complain, shown
from .result import Checked, Results
from .sarif import sarif_log
from .summary import plural, statistics_lines, summary_lines

#: A progress bar for fewer files would only flicker.
MANY = 8


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says.

    Attributes:
      layer: settings of the command line.
      unsafe: with fix: unsafe fixes too.
      diff: print what fixing would change, and change nothing.
      explain: list the call sites of which something is unknown.
    """

    format: str = "full"
    layer: Layer = field(default_factory=Layer)
    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    statistics: bool = False
    explain: bool = False
    stdin_name: str | None = None
    verbose: bool = False

    @property
    def fixes(self) -> bool:
        """Whether anything is to be fixed, or shown fixed."""
        return self.fix or self.unsafe or self.diff


def check(paths: tuple[str, ...], options: Options) -> int:
    """Checks, fixes where asked, prints; the exit code."""
    inputs = gather(paths, Projects(options.layer, reportable()), options.stdin_name)
    for problem in inputs.problems:
        complain(problem)
    if not inputs.jobs:
        return COULD_NOT_RUN
    _say_whose_rules(inputs.jobs)
    to_stdout = options.diff or (options.fixes and STDIN in paths)
    if options.fixes:
        _fix(inputs, options)
    results = Results(_checked(inputs, options))
    _print(results, options, console_for(sys.stderr if to_stdout else sys.stdout))
    return _exit_code(results, inputs, options)


def console_for(stream: TextIO) -> Console:
    """Colours on a terminal only, and no line broken or rewritten."""
    return Console(file=stream, soft_wrap=True, highlight=False, markup=False, emoji=False)


def _fix(inputs: Inputs, options: Options) -> None:
    """Fixes all files: on the disk, for standard input on standard output; with --diff only says what would change."""
    total = Fixed()
    from_stdin = {path for job in inputs.jobs for path, _ in job.overlays}
    for index, job in enumerate(inputs.jobs):
        fixed = fix_job(with_fixed(job, total), options.unsafe)
        total.add(fixed)
        if job.overlays and not options.diff:
            inputs.jobs[index] = with_fixed(job, fixed)
            sys.stdout.write("".join(fixed.after.get(path, text) for path, text in job.overlays))
    if options.diff:
        sys.stdout.write("".join(f"{line}\n" for line in total.differences()))
        complain(f"{plural(len(total.applied), 'finding')} would be fixed")
        return
    write(total, leave=from_stdin)
    for applied in total.applied:
        print(_applied_line(applied), file=sys.stderr)


def _applied_line(applied: Applied) -> str:
    kind = "" if applied.safe else " (unsafe)"
    return f"fixed{kind}: {shown(applied.path)}:{applied.line}: {applied.code}: {applied.title}"


def _say_whose_rules(jobs: Iterable[Job]) -> None:
    for note in dict.fromkeys(job.project.rules.note for job in jobs):
        if note:
            complain(note)


def _checked(inputs: Inputs, options: Options) -> list[Checked]:
    fixes = options.format in ("full", "json", "sarif")
    count = len(inputs.files)
    console = Console(file=sys.stderr)
    if not console.is_terminal or count < MANY:
        return check_all(inputs.jobs, fixes, lambda: None)
    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("checking", total=count)
        return check_all(inputs.jobs, fixes, lambda: progress.advance(task))


def _print(results: Results, options: Options, console: Console) -> None:
    if options.statistics:
        _print_lines(statistics_lines(results), console)
    elif not options.diff:
        FORMATS[options.format](results, console)
    for file in results.checked:
        if file.trouble:
            complain(f"{shown(file.path)}: {file.trouble}")
        if options.verbose:
            sys.stderr.write(file.crash)
            sys.stderr.write("".join(f"{shown(file.path)}: {note}\n" for note in file.notes))
    people = options.format in ("full", "concise")
    _print_lines(summary_lines(results, options.explain), console if people else console_for(sys.stderr))


def _print_lines(lines: Iterable[str], console: Console) -> None:
    for line in lines:
        console.print(line)


def _exit_code(results: Results, inputs: Inputs, options: Options) -> int:
    named = {path for job in inputs.jobs for path in job.named}
    failed = any(file.crash or (file.trouble and file.path in named) for file in results.checked)
    if failed or inputs.problems:
        return COULD_NOT_RUN
    return FOUND_ERRORS if results.count(Severity.ERROR) else FOUND_NOTHING


def _as_lines(lines: Callable[[Results], list[str]]) -> Callable[[Results, Console], None]:
    return lambda results, console: _print_lines(lines(results), console)


def _as_object(make: Callable[[Results], object]) -> Callable[[Results, Console], None]:
    return lambda results, console: _print_lines([json.dumps(make(results), indent=2)], console)


FORMATS: dict[str, Callable[[Results, Console], None]] = {
    "full": print_full,
    "concise": _as_lines(concise_lines),
    "json": _as_object(json_object),
    "github": _as_lines(github_lines),
    "sarif": _as_object(sarif_log),
}
