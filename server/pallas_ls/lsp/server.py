"""The server put together: which function answers which message, the transport, the end of the process."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..answers.session import Session
from ..evaluate.garbage import collect_rarely
from . import actions, configuration, confirm, contexts, hints, hover, lenses, logs, pull, sync
from .analysis import OpenSession
from .core import PallasServer

logger = logging.getLogger(__name__)

Answer = Callable[[PallasServer, Any], Awaitable[Any]]
Notice = Callable[[PallasServer, Any], None]


@dataclass(frozen=True, slots=True)
class Feature:
    """Who answers a request, and the options that the capabilities name."""

    method: str
    answer: Answer
    options: Any = None


REQUESTS = (
    Feature(types.TEXT_DOCUMENT_HOVER, hover.hover),
    Feature(types.TEXT_DOCUMENT_CODE_ACTION, actions.actions, actions.OPTIONS),
    Feature(types.TEXT_DOCUMENT_CODE_LENS, lenses.lenses),
    Feature(types.TEXT_DOCUMENT_INLAY_HINT, hints.hints),
)
#: Only for clients that fetch diagnostics.
PULL = Feature(types.TEXT_DOCUMENT_DIAGNOSTIC, pull.pull, pull.OPTIONS)

NOTIFICATIONS: dict[str, Notice] = {
    types.TEXT_DOCUMENT_DID_OPEN: sync.opened,
    types.TEXT_DOCUMENT_DID_CHANGE: sync.changed,
    types.TEXT_DOCUMENT_DID_CLOSE: sync.closed,
    types.TEXT_DOCUMENT_DID_SAVE: sync.saved,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: sync.watched,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: sync.folders_changed,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: configuration.changed,
    types.INITIALIZED: configuration.initialized,
    types.SHUTDOWN: lambda server, _: server.shut_down(),
}

COMMANDS: dict[str, Callable[..., Awaitable[Any]]] = {
    confirm.CONFIRM: confirm.confirm,
    contexts.LIST: contexts.list_contexts,
    contexts.SET: contexts.set_context,
}

#: pygls keeps texts of its own behind these, which nobody reads here (see `documents`).
KEPT_TWICE = (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE)


def build(open_session: OpenSession = Session) -> PallasServer:
    """A server that is not running yet."""
    server = PallasServer(open_session)
    for method in KEPT_TWICE:
        server.protocol.fm.builtin_features.pop(method)
    server.feature(types.INITIALIZE)(lambda params: _initialize(server, params))
    for feature in REQUESTS:
        server.feature(feature.method, feature.options)(_request(server, feature))
    for method, notice in NOTIFICATIONS.items():
        server.feature(method)(_notification(server, method, notice))
    for name, command in COMMANDS.items():
        server.command(name)(_command(server, name, command))
    return server


def _initialize(server: PallasServer, params: types.InitializeParams) -> None:
    server.begin(params)
    if server.abilities.pull:
        server.feature(PULL.method, PULL.options)(_request(server, PULL))


def _request(server: PallasServer, feature: Feature) -> Callable[[Any], Awaitable[Any]]:
    """A failure is for the log and the answer empty: editors would show an error for each cursor movement."""

    async def handle(params: Any) -> Any:
        try:
            return await feature.answer(server, params)
        except JsonRpcException:
            raise
        except Exception:
            logger.exception("%s failed", feature.method)
            return None

    return handle


def _notification(server: PallasServer, method: str, notice: Notice) -> Callable[[Any], None]:
    """In order and at once: what comes later builds upon it."""

    def handle(params: Any) -> None:
        try:
            notice(server, params)
        except Exception:
            logger.exception("%s failed", method)

    return handle


def _command(server: PallasServer, name: str, command: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A failure is an answer: the user waits for one."""

    async def handle(*arguments: Any) -> Any:
        try:
            return await command(server, *arguments)
        except JsonRpcException:
            raise
        except Exception as error:
            logger.exception("%s failed", name)
            raise JsonRpcException(f"{name} failed ({error}); the log has the details") from error

    return handle


def main(tcp_port: int | None = None) -> None:
    """Serves one client, on standard input and output or on a port of the loopback interface, and ends the process.

    The exit code is 0 if the client sent `shutdown` before `exit` or left, else 1.
    """
    serve(build(), tcp_port)


def serve(server: PallasServer, tcp_port: int | None = None) -> None:
    """Runs a server until its client leaves, then ends the process."""
    logs.set_up(server.send_log)
    collect_rarely()
    try:
        if tcp_port is None:
            server.start_io(*_take_standard_streams())
        else:
            server.start_tcp("127.0.0.1", tcp_port)
    except SystemExit:
        pass  # how pygls leaves its loop at `exit`
    finally:
        server.close()
    sys.stderr.flush()
    # Not sys.exit: an analysis under way would have to end first, or be killed by the interpreter's end while it
    # holds a lock.
    os._exit(server.exit_code)


def _take_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """The protocol's two streams. Prints of anybody go to standard error from here on, and nobody reads our input."""
    sys.stdout.flush()
    reader, writer = os.fdopen(_copy(0), "rb"), os.fdopen(_copy(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return reader, writer


def _copy(descriptor: int) -> int:
    """A duplicate that children do not inherit, in binary mode (on Windows the mode does not come along)."""
    copy = os.dup(descriptor)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - there is no such module elsewhere

        msvcrt.setmode(copy, os.O_BINARY)
    return copy
