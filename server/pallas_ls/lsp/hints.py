"""`textDocument/inlayHint`: behind the constructor of each scratch buffer, the bytes that it takes."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from ..answers.report import FactRow
from .core import PallasServer
from .documents import Document

#: Memory spaces that a kernel's author counts bytes in.
COUNTED = frozenset({"smem", "tmem"})


async def hints(server: PallasServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    if not server.settings.inlay_hints:
        return None
    return await server.ask(params.text_document.uri, lambda document: list(_hints(server, document, params.range)))


def _hints(server: PallasServer, document: Document, range_: types.Range) -> Iterator[types.InlayHint]:
    for row in server.analysis.session.facts(document.path):
        if not _is_buffer(row) or not range_.start.line <= row.line - 1 <= range_.end.line:
            continue
        start = document.text.ast_offset(row.line, row.col)
        known = server.analysis.session.hover(document.path, start)
        if known is not None and known.span.start == start:
            position = server.render.positions.position(document.text, known.span.end)
            yield types.InlayHint(position, size(row.bytes), padding_left=True, tooltip=_tooltip(row))


def _is_buffer(row: FactRow) -> bool:
    return row.operand == "result" and row.space in COUNTED and row.dtype != "barrier" and row.bytes is not None


def size(count: int | str | None) -> str:
    """ "8,192 B", or a formula of bytes."""
    return f"{count:,} B" if isinstance(count, int) else f"{count} B"


def _tooltip(row: FactRow) -> str:
    shape = ", ".join("?" if n is None else str(n) for n in row.shape or ())
    return f"{row.dtype}[{shape}] in {row.space}"
