"""Syntax newer than the Python that runs pallas-ls: recognised by its look, so that the message can say so."""

from __future__ import annotations

import re
import sys

_NEWER: tuple[tuple[tuple[int, int], re.Pattern[str]], ...] = (
    ((3, 12), re.compile(r"type\s+[^\W\d]\w*\s*(?:\[.*\])?\s*=", re.DOTALL)),
    ((3, 12), re.compile(r"(?:async\s+)?def\s+\w+\s*\[")),
    ((3, 12), re.compile(r"class\s+\w+\s*\[")),
    ((3, 14), re.compile(r"except\s+[\w.]+\s*,\s*[\w., ]+:")),
    ((3, 14), re.compile(r"""(?s:.*)(?<!\w)(?:[tT][rR]?|[rR][tT])["']""")),
)
_TYPE_PARAMETERS = re.compile(r"((?:async\s+)?(?:def|class)\s+\w+\s*)\[")
# f-strings that reuse their own quote, or hold a backslash or a comment, inside a replacement field (PEP 701).
_NESTED_QUOTE = re.compile(
    r"""(?<!\w)[fF][rR]?(["'])(?!\1\1)[^"'\n{}]*\{[^"'\n}]*\1[^\n]*\}[^\n]*\1|[fF]["'][^{\n]*\{[^}\n]*\\"""
)


def newer_syntax(code: str) -> str | None:
    """The message for a statement in newer syntax than this Python reads, None if it does not look like one."""
    running = sys.version_info[:2]
    for version, pattern in _NEWER:
        if running < version and pattern.match(code):
            return _message(version)
    if running < (3, 12) and _NESTED_QUOTE.search(code):
        return _message((3, 12))
    return None


def _message(version: tuple[int, int]) -> str:
    running = sys.version_info[:2]
    return f"this is Python {version[0]}.{version[1]} syntax; pallas-ls runs on {running[0]}.{running[1]}"


def without_type_parameters(code: str) -> str | None:
    """The header with its type parameters (`def f[T](...)`) blanked in place, None if it has none."""
    match = _TYPE_PARAMETERS.match(code)
    if match is None:
        return None
    depth = 0
    for end in range(match.end() - 1, len(code)):
        depth += {"[": 1, "]": -1}.get(code[end], 0)
        if depth == 0:
            blanked = re.sub(r"[^\r\n]", " ", code[match.end() - 1 : end + 1])
            # A header that spans lines inside its type parameters cannot be blanked: its line breaks would end it.
            return None if "\n" in blanked or "\r" in blanked else code[: match.end() - 1] + blanked + code[end + 1 :]
    return None
