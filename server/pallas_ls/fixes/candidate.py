"""What a fix is made from: the violation, the texts, and ways to write edits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..domain.finding import Edit
from ..rules.engine import Violation
from ..rules.view import CallView
from ..source.span import Site, Span


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may repair the finding; the proof decides.

    Attributes:
      title: an imperative phrase.
      safe: it keeps the program's meaning.
      edits: all together.
    """

    title: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """One violation under repair.

    Attributes:
      view: the violated call, with its numbers.
      locate: a site's place in the present text, or None.
      text: the present text of a span.
    """

    violation: Violation
    view: CallView
    locate: Callable[[Site], Span | None]
    text: Callable[[Span], str]

    def source(self, site: Site | None) -> str | None:
        """The text of an expression."""
        span = self.locate(site) if site is not None else None
        return None if span is None else self.text(span)

    def replace(self, site: Site | None, text: str) -> tuple[Edit, ...]:
        """An edit that writes `text` in place of an expression; none where it cannot be found, or already reads so."""
        span = self.locate(site) if site is not None else None
        if span is None or self.text(span) == text:
            return ()
        return (Edit(span, text),)

    def wrap(self, site: Site | None, before: str, after: str) -> tuple[Edit, ...]:
        """An edit that puts text around an expression."""
        old = self.source(site)
        return () if old is None else self.replace(site, f"{before}{old}{after}")

    def method(self, site: Site | None, suffix: str) -> tuple[Edit, ...]:
        """An edit that appends `.at[0]`, `.astype(...)` to an expression, in brackets where it needs them."""
        old = self.source(site)
        if old is None:
            return ()
        return self.replace(site, (old if is_primary(old) else f"({old})") + suffix)

    def add_argument(self, site: Site | None, text: str) -> tuple[Edit, ...]:
        """An edit that adds an argument at the end of a call."""
        span = self.locate(site) if site is not None else None
        if span is None:
            return ()
        old = self.text(span)
        if not old.endswith(")"):
            return ()
        inside = old[:-1].rstrip()
        at = span.start + len(inside)
        comma = "" if inside.endswith(("(", ",")) else ","
        space = "" if inside.endswith("(") else " "
        return (Edit(Span(span.path, at, at), f"{comma}{space}{text}"),)


def is_primary(text: str) -> bool:
    """Whether a postfix (`.x`, `[...]`) may follow without brackets."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return False
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits done; raises ValueError where they overlap."""
    out = text
    last = len(text) + 1
    for e in sorted(edits, key=lambda e: (e.span.start, e.span.end), reverse=True):
        if e.span.end > last:
            raise ValueError("overlapping edits")
        out = out[: e.span.start] + e.text + out[e.span.end :]
        last = e.span.start
    return out


def moved(offset: int, edits: Sequence[Edit]) -> int:
    """Where a place of the old text is in the new one (the start of an edited stretch stays where it is)."""
    out = offset
    for e in edits:
        if e.span.end <= offset and not (e.span.start == e.span.end == offset):
            out += len(e.text) - (e.span.end - e.span.start)
    return out
