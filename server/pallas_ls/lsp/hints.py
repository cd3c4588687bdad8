"""`textDocument/inlayHint`: the bytes of each scratch buffer behind its constructor."""

from __future__ import annotations

from lsprotocol import types

from .core import PallasServer


async def hints(server: PallasServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    if not server.settings.inlay_hints:
        return None
    return None
