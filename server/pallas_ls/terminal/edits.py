"""Edits applied to texts, and the difference that they make."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from ..domain.finding import Edit


class Overlapping(ValueError):
    """Edits touch the same text."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap. Raises `Overlapping`. Line breaks become those of the text."""
    ordered = sorted(set(edits), key=lambda edit: (edit.span.start, edit.span.end))
    for one, other in pairwise(ordered):
        if other.span.start < one.span.end or one.span == other.span:
            raise Overlapping(f"edits overlap at offset {other.span.start}")
    newline = "\r\n" if "\r\n" in text else "\n"
    for edit in reversed(ordered):
        inserted = edit.text.replace("\r\n", "\n").replace("\n", newline)
        text = text[: edit.span.start] + inserted + text[edit.span.end :]
    return text


def by_file(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    """The edits of each file."""
    files: defaultdict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        files[edit.span.path].append(edit)
    return dict(files)


def difference(before: str, after: str, name: str) -> list[str]:
    """A unified diff as lines without line breaks."""
    old, new = (_lines(text) for text in (before, after))
    return list(difflib.unified_diff(old, new, name, name, lineterm="", n=2))


def _lines(text: str) -> list[str]:
    """Split where Python splits; `str.splitlines` also splits at form feeds."""
    lines = re.split(r"\r\n|\n|\r", text)
    return lines[:-1] if lines[-1] == "" else lines


def fix_difference(edits: Sequence[Edit], content: Callable[[str], str], name: Callable[[str], str]) -> list[str]:
    """The diff of a fix over all files that it changes."""
    lines: list[str] = []
    for path, own in by_file(edits).items():
        text = content(path)
        lines += difference(text, apply(text, own), name(path))
    return lines
