"""The documents that the client has open: their texts, kept up to date change by change.

pygls keeps texts too, but splits lines at form feeds and other characters that LSP knows nothing of, which Python
files contain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from ..source.text import Text
from .paths import path_of, uri_of
from .positions import Positions

#: Characters of a document beyond which it is left alone: no kernel is that long, and every keystroke would cost.
LARGEST = 2_000_000


@dataclass(frozen=True)
class Document:
    """An open document at one version. `uri` is written as the client wrote it: it compares by text."""

    uri: str
    path: str
    version: int
    text: Text

    @property
    def refused(self) -> str:
        """Why it is not analysed; empty where it is."""
        if len(self.text.content) > LARGEST:
            return f"it has {len(self.text.content):,} characters, more than {LARGEST:,}"
        return "it is not text: it holds NUL characters" if "\0" in self.text.content else ""


class Documents:
    """All open documents, by path: two writings of one URI are one document. Any thread may read, one changes."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self._by_path: dict[str, Document] = {}

    def open(self, item: types.TextDocumentItem) -> Document:
        return self._put(Document(item.uri, path_of(item.uri), item.version, Text(item.text)))

    def change(
        self,
        identifier: types.VersionedTextDocumentIdentifier,
        changes: Sequence[types.TextDocumentContentChangeEvent],
    ) -> Document | None:
        """Applies changes in order, each to the text that the one before left. None where the document is not open."""
        document = self.get(identifier.uri)
        if document is None:
            return None
        text = document.text
        for change in changes:
            text = Text(self._changed(text, change))
        return self._put(Document(document.uri, document.path, identifier.version, text))

    def close(self, uri: str) -> Document | None:
        return self._by_path.pop(path_of(uri), None)

    def get(self, uri: str) -> Document | None:
        return self._by_path.get(path_of(uri))

    def at(self, path: str) -> Document | None:
        return self._by_path.get(path)

    def uri(self, path: str) -> str:
        """As the client writes it where it has the file open."""
        document = self.at(path)
        return document.uri if document else uri_of(path)

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._by_path.values()))

    def _put(self, document: Document) -> Document:
        self._by_path[document.path] = document
        return document

    def _changed(self, text: Text, change: types.TextDocumentContentChangeEvent) -> str:
        if not isinstance(change, types.TextDocumentContentChangePartial):
            return change.text
        span = self.positions.span(text, "", change.range)
        return text.content[: span.start] + change.text + text.content[span.end :]
