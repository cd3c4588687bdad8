"""The server's state and what all features share: asking the analysis, publishing, logging.

Everything here runs in the event loop's thread unless it says otherwise.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from importlib import metadata
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException
from pygls.lsp.server import LanguageServer

from ..answers.session import Session
from .abilities import Abilities, abilities
from .analysis import Analysis, Checked, OpenSession
from .diagnostics import Board, Renderer
from .documents import Document, Documents
from .docs import Docs
from .pages import page_of
from .positions import Positions
from .settings import EditorSettings, Options, read_options
from .status import status
from .worker import Worker

logger = logging.getLogger(__name__)

T = TypeVar("T")


class PallasServer(LanguageServer):
    """The language server. The attributes below exist from `initialize` on.

    Attributes:
      analysis: used by jobs of the worker alone (but for handing over changes).
      exit_code: what the process is to end with: 0 only where the client said `shutdown`.
    """

    abilities: Abilities
    options: Options
    documents: Documents
    analysis: Analysis
    render: Renderer
    worker: Worker
    docs: Docs
    loop: asyncio.AbstractEventLoop

    def __init__(self, open_session: OpenSession = Session) -> None:
        super().__init__("pallas-ls", metadata.version("pallas-ls") if _installed() else "unknown")
        self._open_session = open_session
        self._logged: set[str] = set()
        self.board = Board()
        self.settings = EditorSettings()
        self.exit_code = 1
        self.started = False

    def begin(self, params: types.InitializeParams) -> None:
        """Reads what the client can and wants."""
        self.loop = asyncio.get_running_loop()
        self.abilities = abilities(params.capabilities)
        self.options = read_options(params.initialization_options)
        positions = Positions.agreed(self.workspace.position_encoding)
        self.documents = Documents(positions)
        self.analysis = Analysis(self.documents, self._open_session)
        self.render = Renderer(positions, self.abilities, self.analysis.text, self.documents.uri, page_of)
        self.worker = Worker(self.analysis.update)
        self.docs = Docs()
        self.started = True

    def close(self) -> None:
        """Ends what was started, but for the job under way, which ends with the process."""
        if self.started:
            self.worker.stop()
            self.docs.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    async def ask(self, uri: str, work: Callable[[Document], T]) -> T | None:
        """`work` done in the analysis thread on a document as it is now; None where it is not open or not analysed.

        Raises JsonRpcContentModified where the document changed before its turn came: the positions asked about are gone.
        """
        document = self.documents.get(uri)
        if document is None or document.refused:
            return None

        def job() -> T:
            if self.documents.get(uri) is not document:
                raise JsonRpcContentModified("the document has changed")
            return work(document)

        return await asyncio.wrap_future(self.worker.submit(job))

    def on_loop(self, call: Callable[..., object], *args: object) -> None:
        """From any thread: calls in the event loop; after its end nobody listens any more."""
        try:
            self.loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            if not self.loop.is_closed():
                raise

    # -- checking and publishing -------------------------------------------------------------------------------------

    def check(self, path: str, later: bool = False) -> None:
        """Queues the check of an open file; of several that wait for one file only the last is done."""
        future = self.worker.submit(partial(self.analysis.check, path), ("check", path), later)
        future.add_done_callback(partial(self.on_loop, self._checked, later))

    def check_all(self, but: str | None = None) -> None:
        """Queues the other open files: one of them may import what changed."""
        for document in self.documents:
            if document.path != but and not document.refused:
                self.check(document.path, later=True)

    def _checked(self, later: bool, future: Future[Checked]) -> None:
        if future.cancelled():
            return
        if error := future.exception():
            logger.error("the analysis failed", exc_info=error)
            return
        checked = future.result()
        if checked.document is not self.documents.at(checked.path):
            return  # of an older version; a newer one is being looked at
        self.show(checked, again=not later)
        if not later:
            self.check_all(but=checked.path)

    def show(self, checked: Checked, again: bool = True) -> None:
        """Publishes what a check found. `again`: also where the file shows that already, for its new version."""
        for shown in checked.shown:
            changed = self.board.put(shown.path, self.render.shown(shown))
            if changed or (again and shown.path == checked.path):
                self.publish(shown.path)
        for note in checked.notes:
            self.log_once(f"{checked.path}: {note}")
        if checked.summary is not None:
            uri = self.documents.uri(checked.path)
            self.protocol.notify("pallas/status", status(uri, checked.summary, self.analysis.ground.target))

    def publish(self, path: str) -> None:
        """Sends what a file shows; a client that fetches diagnostics is told by `refresh_diagnostics` instead."""
        if self.abilities.pull:
            return
        document = self.documents.at(path)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(
                uri=self.documents.uri(path),
                diagnostics=self.board.shown(path),
                version=document.version if document else None,
            )
        )

    # -- telling -----------------------------------------------------------------------------------------------------

    def log_once(self, text: str, level: int = logging.INFO) -> None:
        """Logs a text that was not logged before."""
        if text not in self._logged:
            self._logged.add(text)
            logger.log(level, "%s", text)

    def send_log(self, kind: types.MessageType, text: str) -> None:
        """From any thread: `window/logMessage`."""
        if self.started:
            self.on_loop(self.window_log_message, types.LogMessageParams(kind, text))

    def tell(self, kind: types.MessageType, text: str) -> None:
        """A message that the user sees: only in answer to something that he asked for."""
        self.window_show_message(types.ShowMessageParams(kind, text))

    def report_server_error(self, error: Exception, source: type[Any]) -> None:
        """What goes wrong inside pygls: to standard error, not to a pop-up. The client may be what failed."""
        if not isinstance(error, JsonRpcException) or source is not JsonRpcException:
            logging.getLogger("pygls").error("%s: %s", source.__name__, error, exc_info=error)


def _installed() -> bool:
    try:
        metadata.version("pallas-ls")
    except metadata.PackageNotFoundError:
        return False
    return True
