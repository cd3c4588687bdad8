"""Logical lines of a text that may be broken: where each begins, how deep it is indented, where it surely ends.

Only the text from a line's start on decides where that line ends, so a reader may start at any line; `reach` tells how
far it looked, so that a caller knows which edits can change the answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pallas_ls.source.evidence import annotated, embedded_code, follows_header, follows_like_prose, starts_statement
from pallas_ls.source.probe import complaint
from pallas_ls.source.strings import IMPOSSIBLE_IN_BRACKETS, string_extent

BEYOND = 1 << 60
"""A reach that no edit escapes: the end of the text was seen, or everything up to it counted."""

_BLANK_LINES = re.compile(r"(?:[ \t\f]*+(?:#[^\r\n]*+)?(?:\r\n|\r|\n))*+")
_INDENT = re.compile(r"[ \t\f]*+")
_WORD = re.compile(r"(?:async[ \t]+(?=def\b|for\b|with\b))?([^\W\d]\w*|@)?")
_TO_LINE_END = re.compile(r"[^\r\n]*+")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")

# Everything up to the next character that needs thought: runs without one, brackets and strings that close at once.
_INNER = r"""[^()\[\]{}"'#\\\r\n]*+"""
_PLAIN = re.compile(
    rf"""(?:[^\r\n"'#\\()\[\]{{}}]++|\({_INNER}\)|\[{_INNER}\]|\{{{_INNER}\}}"""
    r"""|"(?!"")[^"\\\r\n{]*+"|'(?!'')[^'\\\r\n{]*+')*+"""
)
_BLOCK_WORDS = frozenset({"class", "if", "elif", "else", "for", "while", "with", "try", "except", "finally", "case"})
_CLOSER = {"(": ")", "[": "]", "{": "}"}


class LogicalLine(NamedTuple):
    """One logical line. Offsets are characters of the text.

    start: of its first physical line; code: of its first character that is not indentation; stop: behind its last
    character of code; end: behind its line break (a comment stands between); indent: width in columns; word: its first
    word (`def` for `async def`, "@" for a decorator, "" for none); broken: it certainly does not parse as it stands;
    spaced: blank or comment lines stand before; reach: the text up to here decided all this.
    """

    start: int
    code: int
    stop: int
    end: int
    indent: int
    word: str
    broken: bool
    spaced: bool
    reach: int

    def opens(self, text: str) -> bool:
        """Whether it ends in a colon and so wants a block."""
        return text[self.stop - 1] == ":"


class LineReader:
    """Reads logical lines of one text, each once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines: dict[int, LogicalLine | None] = {}

    def line(self, at: int) -> LogicalLine | None:
        """The first logical line at or after `at`, a line's start; None where only blank lines and comments follow."""
        if at not in self._lines:
            self._lines[at] = _read(self.text, at)
        return self._lines[at]


def _read(text: str, at: int) -> LogicalLine | None:
    blank = _BLANK_LINES.match(text, at)
    start = blank.end() if blank else at
    margin = _INDENT.match(text, start)
    code = margin.end() if margin else start
    if code == len(text) or text[code] == "#":
        return None
    indent = _columns(text[start:code])
    match = _WORD.match(text, code)
    word = (match[1] if match else None) or ""
    scan = _Scan(text, start, code, indent, word)
    scan.run()
    return LogicalLine(start, code, scan.stop, scan.end, indent, word, scan.broken, start > at, scan.reach)


def _columns(margin: str) -> int:
    if "\f" in margin:
        margin = margin[margin.rindex("\f") + 1 :]
    return len(margin.expandtabs(8))


def comments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Extents of the comments in text[start:end], strings excepted; `start` is a line's start."""
    found: list[tuple[int, int]] = []
    at = start
    while at < end:
        blank = _BLANK_LINES.match(text, at)
        body = blank.end() if blank else at
        found += [(m.start(), m.end()) for m in _COMMENT.finditer(text, at, body)]
        line = _read(text, at)
        if line is None:
            found += [(m.start(), m.end()) for m in _COMMENT.finditer(text, body)]
            break
        scan = _Scan(text, line.start, line.code, line.indent, line.word)
        scan.run()
        found += [extent for extent in scan.comments if extent[0] < line.end]
        at = line.end
    return [extent for extent in found if extent[0] < end]


_COMMENT = re.compile(r"#[^\r\n]*")


class _Scan:
    """The walk over one logical line."""

    def __init__(self, text: str, start: int, code: int, indent: int, word: str) -> None:
        self.text = text
        self.start = start
        self.code = code
        self.indent = indent
        self.word = word
        self.stop = self.end = code
        self.broken = False
        self.reach = code
        self.comments: list[tuple[int, int]] = []
        self._open: list[str] = []
        # Starts of physical lines inside the logical one that look like statements of their own.
        self._suspects: list[int] = []
        # The first of them in a header whose bracket never closes: its body begins there, as likely as not.
        self._first_inside = 0

    def run(self) -> None:
        finished = self._walk()
        self.reach = max(self.reach, self.end + 2)
        if self.end >= len(self.text):
            self.reach = BEYOND
        if not finished and self._first_inside and self._open:
            self._cut(self._first_inside)
        elif self._suspects and (
            not finished or self.broken or complaint(self.text[self.code : self.stop]) is not None
        ):
            self._cut(self._suspects[0])
        elif not finished:
            self.broken = True

    def _walk(self) -> bool:
        """Runs to the line's end, or until it is certain that the line should have ended earlier: False."""
        text, at = self.text, self.code
        while True:
            plain = _PLAIN.match(text, at)
            at = plain.end() if plain else at
            if at >= len(text):
                self._close(at, at)
                return not self._open
            character = text[at]
            if character in "\r\n":
                following = at + (2 if text.startswith("\r\n", at) else 1)
                if not self._open:
                    self._close(self.comments[-1][0] if self._comment_ends_at(at) else at, following)
                    return True
                if not self._goes_on(at, following):
                    return False
                at = following
            elif character == "#":
                end = _end_of_line(text, at)
                self.comments.append((at, end))
                at = end
            elif character == "\\":
                following = self._after_backslash(at)
                if following is None:
                    return False
                at = following
            elif character in "\"'":
                at = self._string(at)
            else:
                self._bracket(character)
                at += 1

    def _comment_ends_at(self, at: int) -> bool:
        return bool(self.comments) and self.comments[-1][1] == at

    def _close(self, code_end: int, end: int) -> None:
        if self._comment_ends_at(code_end):
            code_end = self.comments[-1][0]
        while code_end > self.code and self.text[code_end - 1] in " \t\f\r\n":
            code_end -= 1
        self.stop, self.end = code_end, end

    def _goes_on(self, at: int, following: int) -> bool:
        """Whether the physical line at `following` may continue this logical one."""
        text = self.text
        self.reach = max(self.reach, _end_of_line(text, following) + 1)
        if self.reach >= len(text):
            self.reach = BEYOND
        if not self._first_inside and self.word in _BLOCK_WORDS:
            self._first_inside = following
        certain = IMPOSSIBLE_IN_BRACKETS.match(text, following)
        if (
            certain
            or starts_statement(text, following, self.indent, self.word)
            or follows_header(text, at, following, self.indent)
            or (self.word == "def" and annotated(text, following) and not self._parameter_may_follow(at))
        ):
            self._suspects.append(following)
        # Behind a backslash, outside brackets, `import` may well come (`from a \` `import b`): the parser is asked.
        if self._suspects and (self.broken or (certain and self._open)):
            return False
        self._close(at, following)
        return True

    def _parameter_may_follow(self, at: int) -> bool:
        """Whether the code before `at`, inside brackets, ends where another parameter may begin."""
        comments = list(self.comments)
        while True:
            code = self.text[self.code : at].rstrip()
            if not comments or comments[-1][1] != self.code + len(code):
                return code.endswith((",", "(", "*"))
            at = comments.pop()[0]

    def _after_backslash(self, at: int) -> int | None:
        line_break = _LINE_BREAK.match(self.text, at + 1)
        if line_break is None:
            if at + 1 >= len(self.text):
                self.broken = True
            return at + 1
        return line_break.end() if self._goes_on(at, line_break.end()) else None

    def _string(self, at: int) -> int:
        text = self.text
        extent = string_extent(text, at)
        self.reach = max(self.reach, extent.reach + 1)
        if not extent.terminated:
            self.broken = True
            if extent.triple:
                self.reach = BEYOND
            return extent.end
        if extent.triple and embedded_code(text, at, extent.end, self.indent):
            # The rest of the file is asked, so that anything in it may change the answer.
            self.reach = BEYOND
            odd = text.count(text[at] * 3, extent.end) % 2 == 1
            if odd or follows_like_prose(text, extent.end):
                self.broken = True
                return _end_of_line(text, at)
        return extent.end

    def _bracket(self, character: str) -> None:
        if character in _CLOSER:
            self._open.append(_CLOSER[character])
        elif character in self._open:
            while self._open.pop() != character:
                self.broken = True
        else:
            self.broken = True

    def _cut(self, at: int) -> None:
        """Ends the line before `at`, a physical line's start."""
        self.broken = True
        before = at
        if self.text.startswith("\r\n", before - 2):
            before -= 2
        else:
            before -= 1
        self.comments = [extent for extent in self.comments if extent[0] < at]
        self._close(before, at)


def _end_of_line(text: str, at: int) -> int:
    match = _TO_LINE_END.match(text, at)
    return match.end() if match else len(text)
