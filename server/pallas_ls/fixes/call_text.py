"""Calls as text: where an argument is added, taken away, and how a name is spelled there."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass

_QUIET = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT})


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its offsets in characters."""

    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The tokens of an expression, comments and line breaks left out; none where it cannot be read.

    The text is put in brackets, so that it may span lines as it does in its file.
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    out: list[Token] = []
    try:
        for t in tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline):
            if t.type in _QUIET or not t.string:
                continue
            rows = [(t.start, 0), (t.end, 0)]
            begin, end = (starts[r - 1] + c - (r == 1) if r <= len(starts) else -1 for (r, c), _ in rows)
            out.append(Token(t.string, begin, end))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []
    return out[1:-1]


def insertion(text: str, argument: str) -> tuple[int, str] | None:
    """(offset, text) that adds an argument at the end of a call, in the call's own manner; None where it is no call."""
    found = tokens(text)
    if len(found) < 3 or found[-1].text != ")":
        return None
    first = _last_argument(found)
    last, close = found[-2], found[-1]
    if first is None:
        return last.end, argument
    comma = last.text == ","
    if "\n" not in text[last.end : close.start]:
        return last.end, f" {argument}" if comma else f", {argument}"
    line_start = text.rfind("\n", 0, first.start) + 1
    line = text[line_start : first.start + 1]
    indent = line[: len(line) - len(line.lstrip())]
    end = "\r\n" if "\r\n" in text else "\n"
    return last.end, f"{'' if comma else ','}{end}{indent}{argument}{',' if comma else ''}"


def _last_argument(found: list[Token]) -> Token | None:
    """The first token of a call's last argument; None where it has none."""
    depth = 0
    for i in range(len(found) - 1, 0, -1):
        depth += (found[i].text in ")]}") - (found[i].text in "([{")
        before = found[i - 1]
        if depth == 1 and i < len(found) - 1 and found[i].text != "," and before.text in ("(", ","):
            return found[i]
        if depth == 1 and before.text == "(" and i == len(found) - 1:
            return None
    return None


def removal(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch to delete so that the argument at [start, end) is gone with its keyword and its comma."""
    found = tokens(text)
    inside = [i for i, t in enumerate(found) if start <= t.start and t.end <= end]
    if not inside:
        return start, end
    first, last = inside[0], inside[-1]
    if first >= 2 and found[first - 1].text == "=":
        first -= 2
    if first and found[first - 1].text == ",":
        return found[first - 1].start, found[last].end
    if last + 1 < len(found) and found[last + 1].text == ",":
        after = found[last + 2].start if last + 2 < len(found) else found[last + 1].end
        return found[first].start, after
    return found[first].start, found[last].end


def keyword(text: str, name: str) -> tuple[Token, Token] | None:
    """A keyword of a call, and the first token of what it is given."""
    found = tokens(text)
    depth = 0
    for i, t in enumerate(found[:-2]):
        depth += (t.text in "([{") - (t.text in ")]}")
        if depth == 1 and t.text == name and found[i + 1].text == "=" and found[i - 1].text in ("(", ","):
            return t, found[i + 2]
    return None


def argument_end(text: str, start: int) -> int:
    """Where the argument that starts at an offset ends: before the comma or the bracket that closes the call."""
    depth, end = 0, start
    for t in tokens(text):
        if t.start < start:
            continue
        if depth == 0 and t.text in (",", ")"):
            return end
        depth += (t.text in "([{") - (t.text in ")]}")
        end = t.end
    return end


def function_prefix(text: str) -> str | None:
    """What stands before the last name of a call's function: "plgpu." of `plgpu.SMEM(...)`, "" of `SMEM(...)`."""
    try:
        node = ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute):
        return f"{ast.unparse(node.func.value)}."
    return "" if isinstance(node.func, ast.Name) else None


def is_display(text: str) -> bool:
    """Whether an expression is a tuple or a list written out."""
    try:
        return isinstance(ast.parse(f"({text}\n)", mode="eval").body, (ast.Tuple, ast.List))
    except (SyntaxError, ValueError):
        return False
