"""Text documents as they are opened, changed, saved and closed, and files that change on the disk."""

from __future__ import annotations

import logging
import os

from lsprotocol import types

from . import configuration, confirm
from .core import PallasServer
from .documents import Document

logger = logging.getLogger(__name__)


def opened(server: PallasServer, params: types.DidOpenTextDocumentParams) -> None:
    if params.text_document.language_id in ("", "python"):
        _take(server, server.documents.open(params.text_document))


def changed(server: PallasServer, params: types.DidChangeTextDocumentParams) -> None:
    document = server.documents.change(params.text_document, params.content_changes)
    if document is not None:
        confirm.clear(server, document.path)
        _take(server, document)


def closed(server: PallasServer, params: types.DidCloseTextDocumentParams) -> None:
    document = server.documents.close(params.text_document.uri)
    if document is not None:
        confirm.clear(server, document.path)
        server.analysis.take_over(document.path, None)
        server.check(document.path)


def saved(server: PallasServer, params: types.DidSaveTextDocumentParams) -> None:
    server.background(confirm.confirm_saved(server, params.text_document.uri))


def _take(server: PallasServer, document: Document) -> None:
    if document.refused:
        server.log_once(f"{document.uri} is left alone: {document.refused}", logging.WARNING)
    server.analysis.take_over(document.path, document)
    server.check(document.path)


def watched(server: PallasServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Files changed on the disk: texts are read again where they are used, settings at once."""
    server.analysis.reread()
    names = {os.path.basename(change.uri) for change in params.changes}
    if "pyproject.toml" in names:
        configuration.reopen(server)
    else:
        server.check_all()


def folders_changed(server: PallasServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    del params  # pygls has put them into `server.workspace`
    configuration.reopen(server)
