"""A file as chunks, parsed tolerantly and, after an edit, only where the edit reaches.

Where a chunk ends is decided by the text from the end of the chunk before it on, up to a `reach` that is noted with
the chunk. So after an edit every chunk that lies behind it, or whose reach ends before it, is what a fresh parse would
give; the rest is parsed anew. There is no other rule, hence none to be wrong about what an edit joins or opens.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from pallas_ls.source.chunk import Chunk, Fault
from pallas_ls.source.labels import label
from pallas_ls.source.lines import BEYOND, LineReader
from pallas_ls.source.repair import parse_region
from pallas_ls.source.span import Site, Span
from pallas_ls.source.split import Region, opens_block, region_from
from pallas_ls.source.text import Text

__all__ = ["Chunk", "Fault", "Module", "SyntaxFault", "parse_module"]


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """A statement that does not parse, and why, in one line."""

    span: Span
    message: str


class _Record(NamedTuple):
    """A chunk as it was found; offsets count from where the search for it began (the end of the chunk before).

    reach: offset up to which the text decided it; indent: columns; top: it is no member of a class; astray: what is
    wrong with its indentation as a whole, "" for nothing; members: columns of its members; simple: it is one line that
    opens no block; label: its key before class and ordinal.
    """

    start: int
    end: int
    reach: int
    indent: int
    top: bool
    astray: str
    members: int
    simple: bool
    label: str
    chunk: Chunk


@dataclass(frozen=True)
class Module:
    """A file's text as chunks, in the order of the text.

    Attributes:
      path: the file, as `Site` and `Span` name it.
      text: all of it. Blank lines and comments between chunks belong to no chunk.
      starts: offset in characters of each chunk, in the order of `chunks`.
      records, searches: for `parse_module` alone: how each chunk was found, and the offset where the search began.
    """

    path: str
    text: Text
    chunks: tuple[Chunk, ...]
    starts: tuple[int, ...]
    records: tuple[_Record, ...] = field(repr=False, compare=False)
    searches: tuple[int, ...] = field(repr=False, compare=False)

    @cached_property
    def errors(self) -> tuple[SyntaxFault, ...]:
        """What does not parse, in the order of the text."""
        return tuple(
            SyntaxFault(Span(self.path, start + fault.start, start + fault.end), fault.message)
            for record, start in zip(self.records, self.starts, strict=True)
            for fault in (*_astray(record), *record.chunk.faults)
        )

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {chunk.key: index for index, chunk in enumerate(self.chunks)}

    def chunk(self, key: str) -> Chunk:
        """The chunk of that key. Raises `KeyError` if this text has none."""
        return self.chunks[self._indices[key]]

    def get(self, key: str) -> Chunk | None:
        index = self._indices.get(key)
        return None if index is None else self.chunks[index]

    def start(self, key: str) -> int:
        """Offset in characters of a chunk's first character. Raises `KeyError` if this text has no such chunk."""
        return self.starts[self._indices[key]]

    def span(self, site: Site) -> Span:
        """Where a site of this file stands now. Raises `KeyError` if its chunk is gone."""
        start = self.start(site.chunk)
        return Span(self.path, start + site.start, start + site.end)

    def site(self, offset: int) -> tuple[Chunk, int] | None:
        """The chunk at an offset (its end counts as inside) and the offset in it; None between chunks."""
        index = bisect_right(self.starts, offset) - 1
        if index < 0 or offset - self.starts[index] > len(self.chunks[index].text):
            return None
        return self.chunks[index], offset - self.starts[index]


_UNEXPECTED = "unexpected indent"
_UNMATCHED = "unindent does not match any outer indentation level"


def _astray(record: _Record) -> tuple[Fault, ...]:
    """The fault of a chunk whose indentation fits nowhere: it stands on its first line."""
    if not record.astray:
        return ()
    first_line = record.chunk.lines.line_text(0)
    return (Fault(len(first_line) - len(first_line.lstrip()), len(first_line), record.astray),)


def parse_module(path: str, content: str, previous: Module | None = None) -> Module:
    """Parses a text, whatever its state. Chunks that `previous` has unchanged are reused as objects.

    The result equals that of a parse without `previous`.
    """
    searches: list[int] = []
    records: list[_Record] = []
    for search, record in _find(content, _Kept(previous, content)):
        searches.append(search)
        records.append(record)
    records = _named(records)
    starts = tuple(search + record.start for search, record in zip(searches, records, strict=True))
    chunks = tuple(record.chunk for record in records)
    return Module(path, Text(content), chunks, starts, tuple(records), tuple(searches))


def _find(content: str, kept: _Kept) -> Iterator[tuple[int, _Record]]:
    """The records of a text, each with the offset at which the search for it began."""
    reader = LineReader(content)
    body = _OUTSIDE
    at = 1 if content.startswith("\ufeff") else 0
    while True:
        record = kept.at(at)
        if record is None or (record.top, record.astray) != body.place(record.indent):
            line = reader.line(at)
            if line is None:
                return
            top, astray = body.place(line.indent)
            region = region_from(reader, line, top)
            record = _record(content, at, region, top, kept)._replace(astray=astray)
        body = body.after(record)
        yield at, record
        at += record.end


class _ClassBody(NamedTuple):
    """Which lines belong to the class whose header came last.

    indent: columns of its members, 0 where there is no class; base: columns of its header; closed: only lines at
    exactly the members' indentation still belong to it. A class is closed, but not left, by a simple statement at the
    module's level: where an indented line follows, that statement stands in the class and lost its indentation.
    """

    indent: int = 0
    base: int = 0
    closed: bool = False

    def place(self, indent: int) -> tuple[bool, str]:
        """Of a line at that indentation: whether it is no member, and what is wrong with its indentation ("")."""
        if self.indent == 0 or indent <= self.base or (self.closed and indent != self.indent):
            return True, _UNEXPECTED if indent > 0 else ""
        if self.closed or indent > self.indent:
            return False, _UNEXPECTED
        return False, "" if indent == self.indent else _UNMATCHED

    def after(self, record: _Record) -> _ClassBody:
        """The state behind a statement."""
        if record.members:
            return _ClassBody(record.members, record.indent)
        if self.indent == 0:
            return self
        if record.top:
            return self._replace(closed=True) if record.simple else _OUTSIDE
        return self._replace(closed=False) if self.closed else self


_OUTSIDE = _ClassBody()


class _Kept:
    """What a previous parse knows about a new text."""

    def __init__(self, previous: Module | None, content: str) -> None:
        self.records = previous.records if previous else ()
        before = previous.text.content if previous else ""
        self.prefix = _common_prefix(before, content)
        self.suffix = len(before) - _common_suffix(before, content, self.prefix)
        self.shift = len(content) - len(before)
        searches = previous.searches if previous else ()
        self._indices = {search: index for index, search in enumerate(searches)}

    def at(self, search: int) -> _Record | None:
        """The old record of a search that begins at `search` in the new text, if it still holds."""
        index = self._indices.get(search)
        if index is not None and search + self.records[index].reach <= self.prefix:
            return self.records[index]
        if search - self.shift >= self.suffix:
            index = self._indices.get(search - self.shift)
            return None if index is None else self.records[index]
        return None

    @cached_property
    def by_text(self) -> dict[tuple[str, int], _Record]:
        return {(record.chunk.text, record.members): record for record in self.records}


def _record(content: str, at: int, region: Region, top: bool, kept: _Kept) -> _Record:
    first, last = region.lines[0], region.lines[-1]
    text = (
        content[region.start : last.end].rstrip("\r\n") if last.end > last.stop else content[region.start : last.stop]
    )
    old = kept.by_text.get((text, region.members))
    if old is not None and old.top == top:
        name, chunk = old.label, old.chunk
    else:
        head = next((line for line in region.lines if line.word != "@"), first)
        name = label(content[head.code : last.stop], head.word, text)
        tree, faults = parse_region(content, region.lines, region.members > 0)
        chunk = Chunk("", text, tree, faults, (), first.indent)
    return _Record(
        start=region.start - at,
        end=region.end - at,
        reach=BEYOND if region.reach >= BEYOND else region.reach - at,
        indent=first.indent,
        top=top,
        astray="",
        members=region.members,
        simple=region.simple and not opens_block(content, first),
        label=name,
        chunk=chunk,
    )


def _named(records: list[_Record]) -> list[_Record]:
    """The records with the keys of their chunks, and of class headers with those of their members."""
    counts: dict[str, int] = {}
    keys: list[str] = []
    members: dict[int, list[str]] = {}
    owner = -1
    for index, record in enumerate(records):
        name = record.label if record.top else f"{keys[owner]}.{record.label}"
        count = counts[name] = counts.get(name, 0) + 1
        key = name if count == 1 else f"{name}#{count}"
        keys.append(key)
        if record.members:
            owner = index
        elif not record.top:
            members.setdefault(owner, []).append(key)
    return [
        record
        if record.chunk.key == key and not record.members
        else _renamed(record, key, tuple(members.get(index, ())))
        for index, (record, key) in enumerate(zip(records, keys, strict=True))
    ]


def _renamed(record: _Record, key: str, members: tuple[str, ...]) -> _Record:
    if record.chunk.key == key and record.chunk.members == members:
        return record
    return record._replace(chunk=replace(record.chunk, key=key, members=members))


def _common_prefix(one: str, other: str) -> int:
    """Length of the common prefix; by bisection, as comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(one: str, other: str, prefix: int) -> int:
    """Length of the common suffix that does not overlap the common prefix."""
    low, high = 0, min(len(one), len(other)) - prefix
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
