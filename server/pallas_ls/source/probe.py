"""Asking CPython whether a stretch of source is a statement, and what it says if not."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Generator
from contextlib import contextmanager

from pallas_ls.source.dialect import newer_syntax

_CLAUSE_CONTEXTS = {
    "elif": "if 1: pass\n",
    "else": "if 1: pass\n",
    "except": "try: pass\n",
    "finally": "try: pass\n",
}
_FIRST_WORD = re.compile(r"(?:async[ \t]+)?(\w+|@)?")


@contextmanager
def quiet() -> Generator[None, None, None]:
    """Around all parsing: an invalid escape in a string is a warning of the user's file, not one to print or raise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parse(source: str) -> list[ast.stmt]:
    """The statements of a source. Call it within `quiet`. Raises `SyntaxError` for all that CPython cannot read."""
    try:
        return ast.parse(source).body
    except (ValueError, RecursionError, MemoryError) as error:
        # A null character or half a surrogate pair; nesting too deep for the parser.
        raise SyntaxError(str(error) or "nested too deeply") from error


def complaint(code: str) -> str | None:
    """What is wrong with one logical line, taken by itself and without its indentation; None where nothing is.

    A line that opens a block (it ends in a colon) is judged as if the block were there.
    """
    try:
        parse(_completed(code))
    except SyntaxError as error:
        return newer_syntax(code) or plain_message(error)
    return None


def plain_message(error: SyntaxError) -> str:
    """The parser's message without advice that speaks of another line."""
    return error.msg.splitlines()[0] if error.msg else "invalid syntax"


def _completed(code: str) -> str:
    match = _FIRST_WORD.match(code)
    word = match[1] if match else None
    if word == "@":
        return f"{code}\ndef _(): pass"
    if not code.endswith(":"):
        return _CLAUSE_CONTEXTS.get(word or "", "") + code
    if word == "try":
        return f"{code} pass\nfinally: pass"
    if word == "case" and not code.startswith("case:"):
        return f"match _:\n {code} pass"
    if word == "match":
        return f"{code}\n case _: pass"
    return f"{_CLAUSE_CONTEXTS.get(word or '', '')}{code} pass"
