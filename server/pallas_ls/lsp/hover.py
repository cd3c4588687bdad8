"""`textDocument/hover`: what the analysis knows at once, below it JAX's own documentation if jedi has it by then."""

from __future__ import annotations

import asyncio
import inspect
import re
from concurrent.futures import Future

from lsprotocol import types

from ..workspace.docs import Docs, Documentation
from .core import PallasServer
from .documents import Document

#: Seconds that a hover waits for jedi. A later answer is shown by the next hover.
PATIENCE = 0.15


async def hover(server: PallasServer, params: types.HoverParams) -> types.Hover | None:
    found = await server.ask(params.text_document.uri, lambda document: _known(server, document, params.position))
    if found is None:
        return None
    markdown, range_, symbol = found
    documentation = await documented(server.docs, symbol) if symbol and server.docs else None
    whole = joined(markdown, documentation)
    if server.abilities.markdown:
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, whole), range_)
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, plain(whole)), range_)


def _known(
    server: PallasServer, document: Document, position: types.Position
) -> tuple[str, types.Range, str | None] | None:
    offset = server.render.positions.offset(document.text, position)
    known = server.analysis.session.hover(document.path, offset)
    return (known.markdown, server.render.range(known.span), known.symbol) if known else None


async def documented(docs: Docs, symbol: str, patience: float = PATIENCE) -> Documentation | None:
    """The documentation, if it is known within `patience` seconds."""
    answer: Future[Documentation | None] = docs.documentation(symbol)
    waiting = asyncio.wrap_future(answer)
    waiting.add_done_callback(_retrieve)
    await asyncio.wait({waiting}, timeout=patience)  # others wait for the same answer: it is not cancelled
    return docs.known(symbol)


def _retrieve(done: asyncio.Future[Documentation | None]) -> None:
    """jedi's failures are `known` as no answer; asyncio would report each as never looked at."""
    if not done.cancelled():
        done.exception()


def joined(markdown: str, documentation: Documentation | None) -> str:
    """Our part, a rule, JAX's signature and docstring. A docstring is plain text: its indentation means something."""
    if documentation is None:
        return markdown
    docstring = inspect.cleandoc(documentation.docstring)
    parts = [f"```python\n{documentation.signature}\n```" if documentation.signature else "", _fenced(docstring)]
    below = "\n\n".join(part for part in parts if part)
    return f"{markdown}\n\n---\n\n{below}" if below else markdown


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}" if text else ""


#: A fenced block; else a mark of emphasis or code on our own lines.
MARKS = re.compile(
    r"^(?P<fence>```+)\w*\n(?P<text>.*?)\n(?P=fence)$|\*\*(?P<bold>[^*\n]+)\*\*|`(?P<code>[^`\n]+)`", re.M | re.S
)


def plain(markdown: str) -> str:
    """For a client that shows text as it comes (Emacs without markdown-mode): the words without the marks."""
    return MARKS.sub(lambda found: found["text"] or found["bold"] or found["code"] or "", markdown)
