"""A chunk's source while it is made to parse: logical lines that can be re-indented, blanked or replaced in place.

Nothing that stays moves: line breaks and the columns of the code that is kept are those of the file. A line is
re-indented by a form feed in its margin, at which CPython's tokenizer begins to count columns anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pallas_ls.source.chunk import Fault
from pallas_ls.source.lines import LogicalLine

LINE_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True)
class Row:
    """One logical line of a draft.

    code: its source without indentation, as it will be parsed; margin: its indentation; tail: what stands between it
    and the next line (a comment, line breaks); depth: how many blocks it stands in; fault: what was wrong with it.
    """

    line: LogicalLine
    margin: str
    code: str
    tail: str
    opens: bool
    depth: int = 0
    fault: str | None = None

    @property
    def word(self) -> str:
        return self.line.word

    def blank(self, fault: str) -> None:
        self.replace("pass", fault)

    def replace(self, code: str, fault: str) -> None:
        """Puts `code`, without line breaks, where the statement was."""
        self.code = code + "".join(LINE_BREAK.findall(self.code))
        self.opens = code.endswith(":")
        self.fault = self.fault or fault

    def append(self, code: str, fault: str) -> None:
        self.code += code
        self.opens = False
        self.fault = self.fault or fault

    def rendered(self) -> str:
        return _margin(self.margin, self.depth) + self.code + self.tail


def rows_of(text: str, lines: Sequence[LogicalLine]) -> list[Row]:
    ends = [line.start for line in lines[1:]] + [lines[-1].end]
    return [
        Row(
            line,
            text[line.start : line.code],
            text[line.code : line.stop],
            text[line.stop : end],
            line.opens(text) and line.word != "@",
        )
        for line, end in zip(lines, ends, strict=True)
    ]


def render(rows: Sequence[Row]) -> str:
    return "".join(row.rendered() for row in rows)


def faults_of(rows: Sequence[Row], start: int) -> tuple[Fault, ...]:
    """The rows' faults, with offsets from `start`."""
    return tuple(
        Fault(row.line.code - start, row.line.stop - start, row.fault) for row in rows if row.fault is not None
    )


def _margin(margin: str, depth: int) -> str:
    """A margin of as many characters whose indentation is `depth` columns.

    Only a blanked line may stand left of its depth; it gets a longer margin, as nothing in it needs its column.
    """
    if len(margin) <= depth:
        return " " * depth
    return " " * (len(margin) - depth - 1) + "\f" + " " * depth


def dedented(text: str, lines: Sequence[LogicalLine]) -> str:
    """The source of lines that are indented as a whole, such that it parses by itself, columns kept."""
    base = lines[0].indent
    if base == 0:
        return text[lines[0].start : lines[-1].stop]
    parts: list[str] = []
    at = lines[0].start
    for line in lines:
        if line.indent == base:
            parts += (text[at : line.start], _margin(text[line.start : line.code], 0))
            at = line.code
    parts.append(text[at : lines[-1].stop])
    return "".join(parts)
