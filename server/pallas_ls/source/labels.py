"""What a chunk is called, read from its text alone, so that a broken statement keeps its name."""

from __future__ import annotations

import re

from pallas_ls.source.chunk import text_digest

_DEFINITION = re.compile(r"(?:async\s+)?(def|class)\s+([^\W\d]\w*)")
_ASSIGNMENT = re.compile(
    r"([^\W\d][\w.]*(?:\[[^\]\r\n=]*\])?(?:[ \t]*,[ \t]*\*?[^\W\d][\w.]*)*,?)[ \t]*(?::(?!=)[^\r\n=]*)?"
    r"(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)"
)
_ANNOTATION = re.compile(r"([^\W\d][\w.]*)[ \t]*:(?!=)[ \t]*[^\s\r\n]")
_ALIAS = re.compile(r"type[ \t]+([^\W\d]\w*)[^\r\n=]*=")
_IMPORT = re.compile(r"import[ \t]+([\w.]+)|from[ \t]+([\w.]+)[ \t]+import")
_BLOCKS = frozenset({"if", "for", "while", "with", "try", "elif", "else", "except", "finally"})
_STATEMENTS = _BLOCKS | frozenset({"assert", "raise", "del", "return", "global", "nonlocal", "pass", "import", "from"})


def label(head: str, word: str, text: str) -> str:
    """The key of a chunk before its class and its ordinal are put around it.

    head: the statement from its first character on, decorators left out; word: its first word; text: the chunk's whole
    text, hashed where the statement has no name.
    """
    if match := _DEFINITION.match(head):
        return f"{match[1]} {match[2]}"
    if match := _IMPORT.match(head):
        return f"import {match[1]}" if match[1] else f"from {match[2]}"
    if word not in _STATEMENTS:
        if match := _ALIAS.match(head):
            return f"type {match[1]}"
        if match := _ASSIGNMENT.match(head) or _ANNOTATION.match(head):
            target = match[1].replace(" ", "").replace("\t", "")
            return f"{target} ="
    kind = word if word in _STATEMENTS else "expr"
    return f"{kind}:{text_digest(text, 4)}"
