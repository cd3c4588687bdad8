"""Where a chunk begins and ends: grouping logical lines by indentation into statements of a module or a class body."""

from __future__ import annotations

from dataclasses import dataclass

from pallas_ls.source.lines import BEYOND, LineReader, LogicalLine
from pallas_ls.source.probe import complaint

CLAUSES = frozenset({"elif", "else", "except", "finally"})
HEADERS = CLAUSES | {"def", "class", "if", "for", "while", "with", "try"}


@dataclass(frozen=True, slots=True)
class Region:
    """The lines of one chunk; a class header's region ends before its first member.

    members: indentation of the class's members in columns, 0 where the region is no class header.
    reach: the text up to here decided the region's extent.
    """

    lines: tuple[LogicalLine, ...]
    members: int
    reach: int

    @property
    def start(self) -> int:
        return self.lines[0].start

    @property
    def end(self) -> int:
        """Behind the line break of the last line; the next region is looked for from here."""
        return self.lines[-1].end

    @property
    def simple(self) -> bool:
        return len(self.lines) == 1 and not self.members


def region_from(reader: LineReader, first: LogicalLine, top: bool) -> Region:
    """The statement that begins with the line `first`; top: it is no member of a class, so may be a class itself."""
    return _Grouping(reader, first, top).run()


def opens_block(text: str, line: LogicalLine) -> bool:
    """Whether deeper lines may follow: it ends in a colon, or is a header that lacks it yet."""
    return line.word in HEADERS or line.opens(text)


class _Grouping:
    """Collects the lines of one region."""

    def __init__(self, reader: LineReader, first: LogicalLine, top: bool) -> None:
        self.reader = reader
        self.text = reader.text
        self.top = top
        self.level = first.indent
        self.lines = [first]
        self.levels: set[int] = set()
        self.reach = first.reach
        self.head = first  # the last line at the region's own level

    def run(self) -> Region:
        members = 0
        while (line := self._look(self.lines[-1])) is not None:
            if self.top and line.indent > self.level and self.head.word == "class":
                members = line.indent
                break
            if not self._takes(line):
                break
            self.lines.append(line)
        if members == 0 and line is None:
            self.reach = BEYOND
        return Region(tuple(self.lines), members, self.reach)

    def _look(self, line: LogicalLine) -> LogicalLine | None:
        """The line after `line`."""
        following = self.reader.line(line.end)
        self.reach = BEYOND if following is None else max(self.reach, following.code + 1 if following.code else 0)
        if following is not None:
            # Its first word is read as well, and whether it ends in a colon; the whole line is the simplest bound.
            self.reach = max(self.reach, following.reach)
        return following

    def _takes(self, line: LogicalLine) -> bool:
        if line.indent > self.level:
            self.levels.add(line.indent)
            return opens_block(self.text, self.head) or len(self.lines) > 1
        if line.indent == self.level and self._continues(line):
            self.head = line
            return True
        return self._misplaced(line)

    def _continues(self, line: LogicalLine) -> bool:
        """Whether a line at the region's own level belongs to it."""
        if self.head.word == "@":
            return line.word in ("@", "def", "class")
        return line.word in CLAUSES and opens_block(self.text, self.head)

    def _misplaced(self, line: LogicalLine) -> bool:
        """Whether a line left of the body only lost its indentation: the body goes on behind it.

        An indented line after one that opens no block is an error for sure. Which of the two is at fault? The left one,
        where the right one stands at a level of the body and the left one is no statement or touches the body.
        """
        if not self.levels or line.word in HEADERS or line.word == "@" or line.opens(self.text):
            return False
        following = self._look(line)
        if following is None or following.indent not in self.levels:
            return False
        return not line.spaced or complaint(self.text[line.code : line.stop]) is not None
