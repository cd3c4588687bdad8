"""A file as chunks, parsed tolerantly and, after an edit, only where the edit reaches.

Where a chunk ends is decided by the text from the end of the chunk before it on, up to a `reach` that is noted with
the chunk. So after an edit every chunk that lies behind it, or whose reach ends before it, is what a fresh parse would
give; the rest is parsed anew. There is no other rule, hence none to be wrong about what an edit joins or opens.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from pallas_ls.source.chunk import Chunk, Fault
from pallas_ls.source.labels import label
from pallas_ls.source.lines import BEYOND, LineReader
from pallas_ls.source.probe import quiet
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
      records, searches, bodies: for `parse_module` alone: how each chunk was found, and from what offset and state.
    """

    path: str
    text: Text
    chunks: tuple[Chunk, ...]
    starts: tuple[int, ...]
    records: tuple[_Record, ...] = field(repr=False, compare=False)
    searches: tuple[int, ...] = field(repr=False, compare=False)
    bodies: tuple[_ClassBody, ...] = field(repr=False, compare=False)

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
    with quiet():
        found = _Search(previous, content)
        found.run()
    records = found.named()
    starts = tuple([search + record.start for search, record in zip(found.searches, records, strict=True)])
    chunks = tuple([record.chunk for record in records])
    return Module(path, Text(content), chunks, starts, tuple(records), tuple(found.searches), tuple(found.bodies))


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


class _Search:
    """The walk over a new text, from chunk to chunk, with what a previous parse knows about it."""

    def __init__(self, previous: Module | None, content: str) -> None:
        self.content = content
        self.old_records = previous.records if previous else ()
        self.old_searches = previous.searches if previous else ()
        self.old_bodies = previous.bodies if previous else ()
        before = previous.text.content if previous else ""
        self.prefix = _common_prefix(before, content)
        self.suffix = len(before) - _common_suffix(before, content, self.prefix)
        self.shift = len(content) - len(before)
        self.head = self._untouched()
        self.tail = len(self.old_records)  # index of the first old record from which on all are kept
        self.records = list(self.old_records[: self.head])
        self.searches = list(self.old_searches[: self.head])
        self.bodies = list(self.old_bodies[: self.head])

    def _untouched(self) -> int:
        """How many of the first old records the edit does not reach."""
        for index, (search, record) in enumerate(zip(self.old_searches, self.old_records, strict=True)):
            if search + record.reach > self.prefix:
                return index
        return len(self.old_records)

    def run(self) -> None:
        reader = LineReader(self.content)
        at, body = 1 if self.content.startswith("\ufeff") else 0, _OUTSIDE
        if self.head:
            at, body = self.searches[-1] + self.records[-1].end, self.bodies[-1].after(self.records[-1])
        while not self._rejoins(at, body):
            record = self._kept(at, body) or self._read(reader, at, body)
            if record is None:
                return
            self._add(at, body, record)
            at, body = at + record.end, body.after(record)

    def _add(self, at: int, body: _ClassBody, record: _Record) -> None:
        self.searches.append(at)
        self.bodies.append(body)
        self.records.append(record)

    def _rejoins(self, at: int, body: _ClassBody) -> bool:
        """Takes all further records from the old parse where it stood in the same state at the same unchanged text."""
        index = self._old_index(at - self.shift)
        if index is None or at - self.shift < self.suffix or self.old_bodies[index] != body:
            return False
        self.tail = index
        self.records += self.old_records[index:]
        self.searches += [search + self.shift for search in self.old_searches[index:]]
        self.bodies += self.old_bodies[index:]
        return True

    def _kept(self, at: int, body: _ClassBody) -> _Record | None:
        """The old record of a search that begins at `at` in the new text, if it still holds."""
        index = self._old_index(at)
        if index is None or at + self.old_records[index].reach > self.prefix:
            index = self._old_index(at - self.shift) if at - self.shift >= self.suffix else None
        if index is None:
            return None
        record = self.old_records[index]
        return record if (record.top, record.astray) == body.place(record.indent) else None

    def _old_index(self, search: int) -> int | None:
        index = bisect_left(self.old_searches, search)
        return index if index < len(self.old_searches) and self.old_searches[index] == search else None

    def _read(self, reader: LineReader, at: int, body: _ClassBody) -> _Record | None:
        line = reader.line(at)
        if line is None:
            return None
        top, astray = body.place(line.indent)
        region = region_from(reader, line, top)
        return _record(self.content, at, region, top, self.by_text)._replace(astray=astray)

    @cached_property
    def by_text(self) -> dict[tuple[str, int, bool], _Record]:
        """The old records that were not simply kept, by what decides their content."""
        return {(record.chunk.text, record.members, record.top): record for record in self.old_records[self.head :]}

    def named(self) -> list[_Record]:
        """The records with the keys of their chunks."""
        kept = len(self.old_records) - self.tail
        middle = self.records[self.head : len(self.records) - kept]
        old = self.old_records[self.head : self.tail]
        if [_naming(record) for record in middle] != [_naming(record) for record in old]:
            return _named(self.records)
        # Names depend on those before, and none has changed.
        renamed = [
            _renamed(new, before.chunk.key, before.chunk.members) for new, before in zip(middle, old, strict=True)
        ]
        return [*self.records[: self.head], *renamed, *self.records[len(self.records) - kept :]]


def _naming(record: _Record) -> tuple[str, bool, bool]:
    return record.label, record.top, record.members > 0


def _record(content: str, at: int, region: Region, top: bool, known: dict[tuple[str, int, bool], _Record]) -> _Record:
    first, last = region.lines[0], region.lines[-1]
    text = (
        content[region.start : last.end].rstrip("\r\n") if last.end > last.stop else content[region.start : last.stop]
    )
    if (old := known.get((text, region.members, top))) is not None:
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
