"""A stretch of source with carets under it, in columns of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from ..source.text import Text

TAB = 4
#: Of a longer stretch, the first and the last lines are shown.
LINES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One line of source: its number from 1 (None: lines are left out here), and the columns that are marked."""

    number: int | None
    text: str = ""
    start: int = 0
    width: int = 0


def excerpt(text: Text, start: int, end: int) -> list[Line]:
    """The lines of text[start:end], tabs as blanks, with start and width of the marks in terminal cells."""
    first, last = text.line_of(start), text.line_of(max(start, end - 1))
    return [Line(None) if line is None else _marked(text, line, start, end) for line in _lines(first, last)]


def _lines(first: int, last: int) -> Iterator[int | None]:
    if last - first < LINES:
        yield from range(first, last + 1)
        return
    yield from range(first, first + LINES - 2)
    yield None
    yield last


def _marked(text: Text, line: int, start: int, end: int) -> Line:
    content = text.line_text(line)
    base = text.line_start(line)
    indent = len(content) - len(content.lstrip())
    # Where the stretch began further up, the indentation of a line is not part of what is meant.
    left = start - base if start >= base else indent
    right = min(len(content), end - base)
    before, marked = _expanded(content[:left]), _expanded(content[: max(left, right)])
    width = max(1, cell_len(marked) - cell_len(before))
    return Line(line + 1, _expanded(content), cell_len(before), width)


def _expanded(text: str) -> str:
    """With tabs as blanks up to the next stop (in cells, not in characters), and no control characters."""
    out: list[str] = []
    width = 0
    for character in text:
        shown = " " * (TAB - width % TAB) if character == "\t" else character if character.isprintable() else "\ufffd"
        out.append(shown)
        width += cell_len(shown)
    return "".join(out)
