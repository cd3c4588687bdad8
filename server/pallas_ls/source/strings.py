"""Where a string literal ends, f-strings with nested quotes (PEP 701) included, on text that may be broken."""

from __future__ import annotations

import re
from typing import NamedTuple

_PREFIX = re.compile(r"(?:[bB][rR]?|[rR][bBfFtT]?|[fFtT][rR]?|[uU])\Z")
_SINGLE_BODY = {
    '"': re.compile(r'[^"\\\r\n]*+(?:\\(?:\r\n|[\s\S]|\Z)[^"\\\r\n]*+)*+'),
    "'": re.compile(r"[^'\\\r\n]*+(?:\\(?:\r\n|[\s\S]|\Z)[^'\\\r\n]*+)*+"),
}
_TRIPLE_BODY = {
    '"""': re.compile(r'(?:[^"\\]++|\\[\s\S]|"(?!""))*+'),
    "'''": re.compile(r"(?:[^'\\]++|\\[\s\S]|'(?!''))*+"),
}
_LITERAL_RUN = re.compile(r"""[^"'\\{}\r\n]*+""")
_FIELD_RUN = re.compile(r"""[^"'\\{}()\[\]:#\r\n]*+""")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_DEEPEST = 12

# A physical line inside brackets that starts so cannot belong to an expression: no valid program has it.
IMPOSSIBLE_IN_BRACKETS = re.compile(
    r"[ \t\f]*(?:(?:def|class|return|import|with|while|try|raise|assert|del|pass|break|continue|global|nonlocal"
    r"|except|finally|elif)\b|async[ \t]+(?:def|with)\b|from[ \t]+[\w.]+[ \t]+import\b)"
)


class StringExtent(NamedTuple):
    """A literal's end, and how far the text was read to find it."""

    end: int
    terminated: bool
    triple: bool
    reach: int


def string_extent(text: str, quote_at: int, depth: int = 0) -> StringExtent:
    """The extent of the literal whose opening quote stands at `quote_at` (its prefix stands before).

    An unterminated one ends at the end of its line (a triple-quoted one: of its first line).
    """
    prefix = _prefix_before(text, quote_at)
    quote = text[quote_at]
    triple = text.startswith(quote * 3, quote_at)
    delimiter = quote * 3 if triple else quote
    start = quote_at + len(delimiter)
    plain = (_TRIPLE_BODY[delimiter] if triple else _SINGLE_BODY[quote]).match(text, start)
    stop = plain.end() if plain else start
    reach = stop + len(delimiter)
    if not prefix.isdisjoint("ft") and text.find("{", start, stop) >= 0:
        end, reach_nested = _Formatted(text, delimiter, "r" in prefix, depth).literal(start)
        reach = max(reach, reach_nested)
        if end is not None:
            return StringExtent(end, True, triple, reach)
    if text.startswith(delimiter, stop):
        return StringExtent(stop + len(delimiter), True, triple, reach)
    return StringExtent(_line_end(text, start) if triple else stop, False, triple, reach)


def _prefix_before(text: str, quote_at: int) -> frozenset[str]:
    start = quote_at
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
        if quote_at - start > 2:
            return frozenset()
    word = text[start:quote_at]
    return frozenset(word.lower()) if _PREFIX.match(word) else frozenset()


def _line_end(text: str, start: int) -> int:
    match = _TO_LINE_END.match(text, start)
    return match.end() if match else len(text)


_TO_LINE_END = re.compile(r"[^\r\n]*")


class _Formatted:
    """Reads one f-string. Methods return the offset after what they read, or None where it does not close."""

    def __init__(self, text: str, delimiter: str, raw: bool, depth: int) -> None:
        self.text = text
        self.delimiter = delimiter
        self.raw = raw
        self.depth = depth
        self.reach = 0

    def literal(self, start: int) -> tuple[int | None, int]:
        end = self._literal(start, in_spec=False) if self.depth < _DEEPEST else None
        return end, self.reach

    def _literal(self, at: int, in_spec: bool) -> int | None:
        """From inside the literal part to behind the closing quote; in a format spec, to its closing brace."""
        text = self.text
        while True:
            match = _LITERAL_RUN.match(text, at)
            at = match.end() if match else at
            self.reach = max(self.reach, at + 4)
            character = text[at : at + 1]
            if character == "":
                return None
            if text.startswith(self.delimiter, at):
                return None if in_spec else at + len(self.delimiter)
            if character == "}" and in_spec:
                return at
            if character in "\r\n" and len(self.delimiter) == 1:
                return None
            following = self._after_special(at, character, in_spec)
            if following is None:
                return None
            at = following

    def _after_special(self, at: int, character: str, in_spec: bool) -> int | None:
        text = self.text
        if character == "\\":
            if not self.raw and text.startswith("N{", at + 1):
                close = text.find("}", at, at + 100)
                return close + 1 if close >= 0 else None
            if text.startswith("\r\n", at + 1):
                return at + 3
            # `\{` starts a field all the same: the backslash does not escape braces.
            return at + 1 if text[at + 1 : at + 2] in ("{", "}") else at + 2
        if character == "{":
            return at + 2 if text.startswith("{{", at) and not in_spec else self._field(at + 1)
        return at + 1

    def _field(self, at: int) -> int | None:
        """From behind a field's `{` to behind its `}`."""
        text = self.text
        closers: list[str] = []
        while True:
            match = _FIELD_RUN.match(text, at)
            at = match.end() if match else at
            self.reach = max(self.reach, at + 40)
            character = text[at : at + 1]
            if character == "":
                return None
            if character in "\"'":
                if text.startswith(self.delimiter, at) and len(self.delimiter) == 3:
                    return None
                nested = string_extent(text, at, self.depth + 1)
                self.reach = max(self.reach, nested.reach)
                if not nested.terminated:
                    return None
                at = nested.end
            elif character in _CLOSERS:
                closers.append(_CLOSERS[character])
                at += 1
            elif character in ")]}":
                if not closers:
                    return at + 1 if character == "}" else None
                if closers.pop() != character:
                    return None
                at += 1
            elif character == ":" and not closers:
                closed = self._literal(at + 1, in_spec=True)
                return None if closed is None else closed + 1
            elif character == "#":
                at = _line_end(text, at)
            elif character in "\r\n":
                at += 1
                impossible = IMPOSSIBLE_IN_BRACKETS.match(text, at)
                if impossible:
                    self.reach = max(self.reach, impossible.end() + 1)
                    return None
            else:
                at += 1
