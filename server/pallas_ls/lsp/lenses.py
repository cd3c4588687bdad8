"""`textDocument/codeLens`: over each kernel, ask JAX about it, and by which call."""

from __future__ import annotations

from lsprotocol import types

from ..answers.report import KernelCall, MemoryLine
from .confirm import CONFIRM
from .contexts import SET, Calls, calls_at, identity
from .core import PallasServer
from .documents import Document


async def lenses(server: PallasServer, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    if not server.settings.code_lens:
        return None
    return await server.ask(params.text_document.uri, lambda document: _lenses(server, document))


def _lenses(server: PallasServer, document: Document) -> list[types.CodeLens]:
    kernels = [k for k in server.analysis.session.kernels(document.path) if k.span.path == document.path]
    made: list[types.CodeLens] = []
    for line in sorted({document.text.line_of(kernel.span.start) for kernel in kernels}):
        calls = calls_at(kernels, document.text, document.path, line, server.picked.get(document.path))
        start = server.render.positions.position(document.text, document.text.line_start(line))
        range_ = types.Range(start, start)
        if server.options.trusted and calls.calls:
            made.append(types.CodeLens(range_, confirm_command(document.uri, line, calls)))
        if len(calls.callable) > 1:
            made.append(types.CodeLens(range_, _pick(document.uri, line, calls)))
    return made + [_memory(server, document, line) for line in server.analysis.session.memory(document.path)]


def _memory(server: PallasServer, document: Document, line: MemoryLine) -> types.CodeLens:
    """What the kernel takes of its block's memory; a click does nothing."""
    start = document.text.line_start(document.text.line_of(line.span.start))
    position = server.render.positions.position(document.text, start)
    return types.CodeLens(types.Range(position, position), types.Command(line.text, ""))


def confirm_command(uri: str, line: int, calls: Calls) -> types.Command:
    """Asks JAX about what the line speaks of."""
    count = len(calls.meant)
    what = f"Confirm {count} calls" if count > 1 else "Confirm"
    return types.Command(f"{what} with JAX", CONFIRM, arguments=[{"uri": uri, "line": line, "way": "lower"}])


def _pick(uri: str, line: int, calls: Calls) -> types.Command:
    """Says which call is meant; a click picks the next one."""
    number = calls.callable.index(calls.picked) if calls.picked else -1
    following: KernelCall = calls.callable[(number + 1) % len(calls.callable)]
    count = len(calls.callable)
    title = f"{calls.picked.name} ({number + 1}/{count})" if calls.picked else f"All {count} calls"
    return types.Command(title, SET, arguments=[{"uri": uri, "line": line, "id": identity(following)}])
