"""`pallas-ls explain FILE:LINE`: how each shape at a line came about."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ..answers.report import Step
from ..source.text import Text
from ..workspace.files import UnreadableFile, WorkspaceFiles
from ..workspace.settings import Layer
from .analysis import open_session, reportable
from .inputs import Projects, one_file
from .problem import FOUND_NOTHING, Refused, shown


def explain(place: str, layer: Layer) -> int:
    """Prints the steps; the exit code. Raises `Refused`."""
    path, line = split_place(place)
    job = one_file(path, Projects(layer, reportable()))
    session, files = open_session(job)
    file = job.files[0]
    try:
        text = Text(files.read(file))
    except UnreadableFile as error:
        raise Refused(f"{shown(file)}: {error}") from error
    if line > text.line_count:
        raise Refused(f"{shown(file)} has {text.line_count} lines; there is no line {line}")
    steps = session.explain(file, line - 1)
    sys.stdout.write(f"{shown(file)}:{line}: {text.line_text(line - 1).strip()}\n")
    lines = list(step_lines(steps, files)) or ["  no shapes at this line"]
    sys.stdout.write("\n".join(lines) + "\n")
    return FOUND_NOTHING


def split_place(place: str) -> tuple[str, int]:
    """FILE:LINE, the line counted from 1; a column behind it is passed over. Raises `Refused`."""
    path, _, line = place.rpartition(":")
    head, _, before = path.rpartition(":")
    if head and before.isdecimal() and line.isdecimal():  # FILE:LINE:COLUMN, as `check` prints it
        path, line = head, before
    if not path or not line.isdecimal() or int(line) < 1:
        raise Refused(f"{place!r} is no FILE:LINE, such as kernel.py:12")
    return path, int(line)


def step_lines(steps: Sequence[Step], files: WorkspaceFiles, depth: int = 1) -> Iterator[str]:
    """Each step with the steps that it rests on indented below."""
    for step in steps:
        head, *rest = step.text.splitlines() or [""]
        yield f"{'  ' * depth}{head}{_where(step, files)}"
        yield from (f"{'  ' * depth}  {line}" for line in rest)
        yield from step_lines(step.inner, files, depth + 1)


def _where(step: Step, files: WorkspaceFiles) -> str:
    """The place of a step and its source line."""
    if step.span is None:
        return ""
    text = Text(files.content(step.span.path) or "")
    line = text.line_of(step.span.start)
    return f"  [{shown(step.span.path)}:{line + 1}: {text.line_text(line).strip()}]"
