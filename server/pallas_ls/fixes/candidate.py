"""What a fix is made from: the violation, the texts, and ways to write edits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from ..domain.fact import CallFact
from ..domain.finding import Edit
from ..rules.engine import Violation
from ..rules.view import CallView
from ..source.span import Site, Span
from .call_text import function_prefix, insertion, is_display, removal

#: Edits that belong together; None where they cannot be made. Nothing to do is ().
Edits = tuple[Edit, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a kernel's call must return once a change is done: an array of this shape."""

    call: CallFact
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may repair the finding; the proof decides.

    Attributes:
      title: an imperative phrase.
      safe: it keeps the program's meaning.
      edits: all together.
      kind: of several that change the same thing only the best are offered; "grow" makes the data larger.
      result: what a kernel must return then, where the edits count upon it.
      local: only what the rule looks at changes; what could not be told of the call before, behind the error, may
        stay unknown.
    """

    title: str
    safe: bool
    edits: tuple[Edit, ...]
    kind: str = ""
    result: Result | None = None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Repair:
    """One violation under repair.

    Attributes:
      view: the violated call, with its numbers.
      locate: a site's place in the present text, or None.
      text: the present text of a span.
      facts: every call that the analysis has seen, in all files.
    """

    violation: Violation
    view: CallView
    locate: Callable[[Site], Span | None]
    text: Callable[[Span], str]
    facts: tuple[CallFact, ...] = ()

    def line_break(self, path: str) -> str:
        """What ends the lines of a file."""
        return "\r\n" if "\r\n" in self.text(Span(path, 0, 1 << 60)) else "\n"

    def chunk_span(self, site: Site) -> Span | None:
        """The place of the statement of the module (or the member of a class) in which a site is."""
        inside = self.locate(Site(site.path, site.chunk, 0, 0))
        if inside is None:
            return None
        rest = self.text(Span(site.path, inside.start, 1 << 60))
        return Span(site.path, inside.start, inside.start + len(_first_statement(rest)))

    def chunk(self, site: Site) -> str | None:
        """The text of the statement of the module in which a site is."""
        span = self.chunk_span(site)
        return None if span is None else self.text(span)

    def made_by(self, site: Site) -> list[CallFact]:
        """What is known of the call at a site."""
        return [f for f in self.facts if f.site == site]

    def source(self, site: Site | None) -> str | None:
        """The text of an expression."""
        span = self.locate(site) if site is not None else None
        return None if span is None else self.text(span)

    def edit(self, span: Span, text: str) -> Edit:
        """An edit of a stretch of text."""
        return Edit(span, text)

    def line_before(self, span: Span) -> str:
        """The text between the start of the line and a place in it."""
        return self.text(Span(span.path, 0, span.start)).rpartition("\n")[2]

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
        added = insertion(self.text(span), text) if span is not None else None
        if span is None or added is None:
            return ()
        at = span.start + added[0]
        return (Edit(Span(span.path, at, at), added[1]),)

    def remove_argument(self, call: Site, argument: Site | None) -> tuple[Edit, ...]:
        """An edit that takes an argument out of a call."""
        outer, inner = self.locate(call), self.locate(argument) if argument is not None else None
        if outer is None or inner is None:
            return ()
        start, end = removal(self.text(outer), inner.start - outer.start, inner.end - outer.start)
        return (Edit(Span(outer.path, outer.start + start, outer.start + end), ""),)

    def insert_after(self, site: Site | None, text: str) -> tuple[Edit, ...]:
        """An edit that puts text behind an expression."""
        span = self.locate(site) if site is not None else None
        return () if span is None else (Edit(Span(span.path, span.end, span.end), text),)

    def insert_before(self, site: Site | None, text: str) -> tuple[Edit, ...]:
        """An edit that puts text in front of an expression."""
        span = self.locate(site) if site is not None else None
        return () if span is None else (Edit(Span(span.path, span.start, span.start), text),)

    def is_written_out(self, site: Site | None) -> bool:
        """Whether an expression is a tuple or list display."""
        source = self.source(site)
        return source is not None and is_display(source)

    def spelled(self, name: str, *sites: Site | None) -> str:
        """A name of plgpu as a file writes it: like the functions of the calls at these sites ("plgpu.", "mgpu.")."""
        for site in (*sites, self.view.fact.site):
            source = self.source(site)
            prefix = function_prefix(source) if source is not None else None
            if prefix:
                return prefix + name
        return name


def _first_statement(text: str) -> str:
    """The first statement of a text, to the end of what is indented under it."""
    lines = text.splitlines(keepends=True)
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    out: list[str] = []
    begun = False
    for line in lines:
        bare = line.strip()
        inner = len(line) - len(line.lstrip()) > indent
        if begun and bare and not inner and bare[0] not in ")]}#":
            break
        out.append(line)
        begun = begun or not bare.startswith(("@", "#"))
    return "".join(out).rstrip()


def together(*groups: Edits) -> Edits:
    """All edits as one change; None where one cannot be made or two of them want different things of the same place."""
    out: list[Edit] = []
    for group in groups:
        if group is None:
            return None
        out += group
    unique = tuple(dict.fromkeys(out))
    return None if _overlap(unique) else unique


def some(edits: tuple[Edit, ...]) -> Edits:
    """Edits that must not be empty: None where they are."""
    return edits or None


def _overlap(edits: Iterable[Edit]) -> bool:
    rows = sorted(edits, key=lambda e: (e.span.path, e.span.start, e.span.end))
    return any(
        a.span.path == b.span.path and (b.span.start < a.span.end or a.span == b.span) for a, b in pairwise(rows)
    )


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


def edits_between(path: str, old: str, new: str) -> tuple[Edit, ...]:
    """Edits that make one text another: what differs within runs of lines that do."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in a:
        starts.append(starts[-1] + len(line))
    out: list[Edit] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            before, after = "".join(a[i1:i2]), "".join(b[j1:j2])
            head = _shared(before, after)
            tail = _shared(before[head:][::-1], after[head:][::-1])
            span = Span(path, starts[i1] + head, starts[i2] - tail)
            out.append(Edit(span, after[head : len(after) - tail]))
    return tuple(out)


def _shared(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def moved(offset: int, edits: Sequence[Edit]) -> int:
    """Where a place of the old text is in the new one (the start of an edited stretch stays where it is)."""
    out = offset
    for e in edits:
        if e.span.end <= offset and not (e.span.start == e.span.end == offset):
            out += len(e.text) - (e.span.end - e.span.start)
    return out
