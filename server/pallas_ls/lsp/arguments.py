"""The arguments of this server's commands, and the error that answers bad ones: editors show it to the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams


@dataclass(frozen=True, slots=True)
class Place:
    """Where the user is: `line` counts from 0."""

    uri: str
    line: int


def read_place(command: str, arguments: Sequence[Any]) -> Place:
    """The first argument, `{"uri": ..., "line": ...}`. Raises JsonRpcInvalidParams."""
    first = arguments[0] if arguments else None
    if isinstance(first, Mapping):
        uri, line = first.get("uri"), first.get("line")
        if isinstance(uri, str) and isinstance(line, int) and not isinstance(line, bool) and line >= 0:
            return Place(uri, line)
    raise JsonRpcInvalidParams(f'{command} takes one argument such as {{"uri": "file:///kernel.py", "line": 12}}')


def failed(message: str) -> JsonRpcException:
    """What the user asked for cannot be done; the message is shown to him."""
    return JsonRpcException(message, code=types.LSPErrorCodes.RequestFailed.value)
