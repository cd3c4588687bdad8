"""Where log records go: ours to the client's log, those of pygls to standard error. Never to a pop-up."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import JsonRpcException

PACKAGE = "pallas_ls"

LEVELS = (
    (logging.ERROR, types.MessageType.Error),
    (logging.WARNING, types.MessageType.Warning),
    (logging.INFO, types.MessageType.Info),
    (logging.DEBUG, types.MessageType.Log),
)


class ClientLog(logging.Handler):
    """Hands records to `send` (`window/logMessage`), with the traceback where there is one."""

    def __init__(self, send: Callable[[types.MessageType, str], None]) -> None:
        super().__init__(logging.INFO)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        try:
            kind = next(kind for level, kind in LEVELS if record.levelno >= level)
            self._send(kind, self.format(record))
        except Exception:
            self.handleError(record)


def is_news(record: logging.LogRecord) -> bool:
    """Whether pygls reports more than that a request was answered with an error on purpose."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, JsonRpcException)


def set_up(send: Callable[[types.MessageType, str], None]) -> None:
    """Directs all logging of the process."""
    ours = logging.getLogger(PACKAGE)
    ours.setLevel(logging.INFO)
    ours.addHandler(ClientLog(send))
    ours.propagate = False
    errors = logging.StreamHandler(sys.stderr)
    errors.addFilter(is_news)
    logging.basicConfig(level=logging.ERROR, handlers=[errors])
