"""The calls by which a file's kernels can be confirmed, and which of them the user picked.

Commands: `pallas.listContexts` [{uri, line}] and `pallas.setContext` [{uri, line, id}].
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..answers.report import KernelCall
from ..source.text import Text
from ..workspace.callers import possible_callers
from .arguments import Place, failed, read_place
from .core import PallasServer
from .documents import Document

LIST = "pallas.listContexts"
SET = "pallas.setContext"
#: Files that import the edited one and are looked at for calls of it.
MOST_CALLERS = 8


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls at one place of a file.

    Attributes:
      calls: those whose kernel or call stands there, the callable ones first.
      picked: the one that the user picked among them; None where he did not.
    """

    calls: tuple[KernelCall, ...]
    picked: KernelCall | None

    @property
    def callable(self) -> tuple[KernelCall, ...]:
        return tuple(call for call in self.calls if not call.why)

    @property
    def meant(self) -> tuple[KernelCall, ...]:
        """The picked one, else all that can be called."""
        return (self.picked,) if self.picked else self.callable


def calls_at(kernels: Sequence[KernelCall], text: Text, path: str, line: int, picked: str | None) -> Calls:
    """The calls that a line speaks of: by the innermost stretch around it, of all the calls'. `picked`: an id."""
    sizes = [(size, call) for call in kernels if (size := _around(call, text, path, line)) is not None]
    innermost = min((size for size, _ in sizes), default=0)
    calls = sorted((call for size, call in sizes if size == innermost), key=lambda call: bool(call.why))
    return Calls(tuple(calls), next((c for c in calls if not c.why and identity(c) == picked), None))


def _around(call: KernelCall, text: Text, path: str, line: int) -> int | None:
    """Characters of the smallest stretch of a call that holds the line; None where none does."""
    spans = (span for span in (call.span, *call.covers) if span.path == path)
    sizes = [s.end - s.start for s in spans if text.line_of(s.start) <= line <= text.line_of(max(s.start, s.end - 1))]
    return min(sizes, default=None)


def identity(call: KernelCall) -> str:
    """The same for the same call, wherever it moves to."""
    parts = (call.name.partition(" at ")[0], call.expression, *call.args, *(f"{k}={v}" for k, v in call.kwargs.items()))
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


async def list_contexts(server: PallasServer, *arguments: Any) -> list[dict[str, Any]]:
    place = read_place(LIST, arguments)
    calls = await _calls(server, place, everywhere=True)
    return [
        {
            "id": identity(call),
            "label": call.name,
            "description": described(call),
            "active": call == calls.picked,
        }
        for call in calls.callable
    ]


async def set_context(server: PallasServer, *arguments: Any) -> None:
    place = read_place(SET, arguments)
    calls = await _calls(server, place)
    id_ = arguments[0].get("id")
    call = next((call for call in calls.callable if identity(call) == id_), None)
    if call is None:
        raise failed("this calling context does not exist any more; pick another")
    document = server.documents.get(place.uri)
    if document is not None:
        server.picked[document.path] = id_
        server.context_names[document.path] = call.name
        await server.ask(place.uri, lambda d: server.analysis.session.pick(d.path, call))
        server.check(document.path)
    if server.abilities.refreshes_lenses:
        await server.workspace_code_lens_refresh_async(None)


async def _calls(server: PallasServer, place: Place, everywhere: bool = False) -> Calls:
    """The calls at a place. `everywhere`: those in other files of the workspace, too, which have to be read."""

    def calls(document: Document) -> Calls:
        callers = _callers(server, document.path) if everywhere else ()
        kernels = server.analysis.session.kernels(document.path, callers)
        return calls_at(kernels, document.text, document.path, place.line, server.picked.get(document.path))

    return await server.ask(place.uri, calls) or Calls((), None)


def _callers(server: PallasServer, path: str) -> Iterator[str]:
    """The nearest files that import a file."""
    settings = server.analysis.ground.settings
    return islice(possible_callers(path, settings.root, settings.exclude, server.analysis.files), MOST_CALLERS)


def described(call: KernelCall) -> str:
    """The call as Python writes it."""
    arguments = ", ".join((*call.args, *(f"{name}={value}" for name, value in call.kwargs.items())))
    return f"{call.expression}({arguments})" if call.expression else "importing the file"
