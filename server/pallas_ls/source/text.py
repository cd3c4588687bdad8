"""A file's text and its positions: character offsets, lines, and columns in the units that LSP and `ast` count in."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""The unit of a column: bytes of UTF-8, 16-bit units of UTF-16, or code points (UTF-32)."""

_END_OF_LINE = re.compile(r"\r\n|\n|\r")


class UndecodableFile(Exception):
    """The bytes of a file are not text in the encoding that they declare. The message is one line, fit for a user."""


def decode(data: bytes) -> str:
    """The text of a Python file: UTF-8, a byte order mark skipped, or what its PEP 263 comment declares.

    Line ends are kept as they are. Raises `UndecodableFile`.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        # detect_encoding reads two lines only, so both an unknown codec and a bad byte in those lines end here.
        raise UndecodableFile(_undecodable(data, str(error.msg))) from error
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = len(_END_OF_LINE.findall(data[: error.start].decode("latin-1"))) + 1
        name = "UTF-8" if encoding.startswith("utf-8") else encoding
        raise UndecodableFile(f"not {name}: byte 0x{data[error.start]:02x} on line {line} cannot be decoded") from error


def _undecodable(data: bytes, reason: str) -> str:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(_END_OF_LINE.findall(data[: error.start].decode("latin-1"))) + 1
        return f"not UTF-8: byte 0x{data[error.start]:02x} on line {line} cannot be decoded"
    return f"not readable as text: {reason.splitlines()[0]}"


@dataclass(frozen=True)
class Text:
    """Text with a table of its lines, built when first asked for. Lines end at \\n, \\r\\n or a lone \\r, as in LSP.

    Offsets count characters (code points); lines and columns count from 0. Positions outside the text are clamped
    as LSP asks: a column beyond the line's end means that end, a line beyond the last means the end of the text.
    """

    content: str

    @cached_property
    def _starts(self) -> list[int]:
        """Offset of the first character of each line."""
        if "\r" in self.content:
            return [0, *(match.end() for match in _END_OF_LINE.finditer(self.content))]
        lengths = [len(line) + 1 for line in self.content.split("\n")]
        return [0, *accumulate(lengths[:-1])]

    @cached_property
    def _ascii(self) -> bool:
        return self.content.isascii()

    @property
    def line_count(self) -> int:
        return len(self._starts)

    def line_start(self, line: int) -> int:
        """Offset of the line's first character."""
        if line < 0:
            return 0
        return self._starts[line] if line < len(self._starts) else len(self.content)

    def line_end(self, line: int) -> int:
        """Offset of the line's end, before its line break."""
        if line < 0:
            return 0
        end = self.line_start(line + 1)
        if line + 1 < len(self._starts):
            end -= 2 if self.content.endswith("\r\n", 0, end) else 1
        return end

    def line_text(self, line: int) -> str:
        """The line without its line break; empty for a line that does not exist."""
        return self.content[self.line_start(line) : self.line_end(line)]

    def line_of(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        return bisect_right(self._starts, max(offset, 0)) - 1

    def position(self, offset: int, encoding: Encoding = "utf-16") -> tuple[int, int]:
        """(line, column) of an offset. An offset inside a line break stands at the line's end."""
        offset = min(max(offset, 0), len(self.content))
        line = self.line_of(offset)
        start = self.line_start(line)
        offset = min(offset, self.line_end(line))
        if self._ascii or encoding == "utf-32":
            return line, offset - start
        return line, _width(self.content[start:offset], encoding)

    def offset(self, line: int, column: int, encoding: Encoding = "utf-16") -> int:
        """Offset of (line, column). A column inside a character means that character's start."""
        if line < 0:
            return 0
        start, end = self.line_start(line), self.line_end(line)
        if self._ascii or encoding == "utf-32":
            return min(start + max(column, 0), end)
        return start + _characters(self.content[start:end], max(column, 0), encoding)

    def ast_offset(self, lineno: int, col_offset: int) -> int:
        """Offset of a position as `ast` gives it: line from 1, column in bytes of UTF-8."""
        return self.offset(lineno - 1, col_offset, "utf-8")


def _width(text: str, encoding: Encoding) -> int:
    if text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def _characters(line: str, column: int, encoding: Encoding) -> int:
    """How many whole characters of the line fit in `column` units."""
    if line.isascii():
        return min(column, len(line))
    width = 0
    for index, character in enumerate(line):
        width += _width(character, encoding)
        if width > column:
            return index
    return len(line)
