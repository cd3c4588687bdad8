"""Between offsets in characters, which the analysis counts in, and LSP's positions in the client's units."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from ..source.span import Span
from ..source.text import Encoding, Text

#: The encodings that pygls may agree on with the client; UTF-16 is what LSP falls back to.
ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


@dataclass(frozen=True, slots=True)
class Positions:
    """Converts for one client. `encoding`: the unit of `Position.character` that was agreed on with it."""

    encoding: Encoding = "utf-16"

    @staticmethod
    def agreed(kind: types.PositionEncodingKind | str | None) -> Positions:
        """For the encoding that the server's capabilities name."""
        name = kind.value if isinstance(kind, types.PositionEncodingKind) else kind
        return Positions(ENCODINGS.get(name or "", "utf-16"))

    def position(self, text: Text, offset: int) -> types.Position:
        line, character = text.position(offset, self.encoding)
        return types.Position(line, character)

    def range(self, text: Text, start: int, end: int) -> types.Range:
        return types.Range(self.position(text, start), self.position(text, end))

    def offset(self, text: Text, position: types.Position) -> int:
        return text.offset(position.line, position.character, self.encoding)

    def span(self, text: Text, path: str, range_: types.Range) -> Span:
        """The stretch of a client's range; a range given backwards is turned round."""
        start, end = self.offset(text, range_.start), self.offset(text, range_.end)
        return Span(path, min(start, end), max(start, end))
