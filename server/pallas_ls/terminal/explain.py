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

Line = tuple[str, int]  # a file and a line of it, counted from 0
WIDTH = 80  # characters of a source line beside a step


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
    here = (file, line - 1)
    lines = list(step_lines(steps, files, here)) or ["  no shapes at this line"]
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


def step_lines(steps: Sequence[Step], files: WorkspaceFiles, above: Line, depth: int = 1) -> Iterator[str]:
    """Each step, with those that it rests on indented below; `above`: the line that the reader sees already."""
    for step in steps:
        head, *rest = step.text.splitlines() or [""]
        at = _line(step, files) or above
        yield f"{'  ' * depth}{head}{_source(at, files) if at != above else ''}"
        yield from (f"{'  ' * depth}  {line}" for line in rest)
        yield from step_lines(step.inner, files, at, depth + 1)


def _line(step: Step, files: WorkspaceFiles) -> Line | None:
    if step.span is None:
        return None
    return step.span.path, Text(files.content(step.span.path) or "").line_of(step.span.start)


def _source(at: Line, files: WorkspaceFiles) -> str:
    """A place and its source line."""
    path, line = at
    source = Text(files.content(path) or "").line_text(line).strip()
    return f"  [{shown(path)}:{line + 1}: {source if len(source) <= WIDTH else source[: WIDTH - 3] + '...'}]"
