"""The server's state and what all features share: asking the analysis, publishing, logging.

Everything here runs in the event loop's thread unless it says otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException
from pygls.lsp.server import LanguageServer

from .. import __version__
from ..answers.report import Summary
from ..answers.session import Session
from ..workspace.docs import Docs
from ..workspace.project import Project
from .abilities import Abilities, abilities
from .analysis import Analysis, Checked, OpenSession
from .diagnostics import Board, Renderer
from .documents import Document, Documents
from .pages import page_of
from .positions import Positions
from .settings import EditorSettings, Options, read_options
from .status import METHOD, status
from .worker import Worker

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: What jedi is asked for when a kernel is open: it has then read JAX before the first hover waits for it.
WARMING = "jax.experimental.pallas.mosaic_gpu.kernel"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A check and what it draws, by file."""

    checked: Checked
    diagnostics: Mapping[str, Sequence[types.Diagnostic]]


class PallasServer(LanguageServer):
    """The language server. The attributes without a value in `__init__` exist from `initialize` on.

    Attributes:
      analysis: used by jobs of the worker alone (but for handing over changes).
      project: set before `ready` is.
      docs: None until the project is known; docs_place: where it looks.
      picked: the id of the call that the user picked for a file's kernels, by path; context_names: what it is called.
      confirmations: what cancels the confirmation under way of a file; verdicts: the files where its last one is drawn.
      exit_code: what the process is to end with: 0 only where the client said `shutdown`.
    """

    abilities: Abilities
    options: Options
    documents: Documents
    analysis: Analysis
    render: Renderer
    worker: Worker
    loop: asyncio.AbstractEventLoop
    project: Project

    def __init__(self, open_session: OpenSession = Session) -> None:
        super().__init__("pallas-ls", __version__)
        self._open_session = open_session
        self._logged: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.board = Board()
        self.settings = EditorSettings()
        self.values: Mapping[str, Any] = {}
        self.docs: Docs | None = None
        self.docs_place: tuple[str, tuple[str, ...]] | None = None
        self.picked: dict[str, str] = {}
        self.context_names: dict[str, str] = {}
        self.confirmations: dict[str, threading.Event] = {}
        self.verdicts: dict[str, set[str]] = {}
        self.exit_code = 1
        self.started = False

    def begin(self, params: types.InitializeParams) -> None:
        """Reads what the client can and wants."""
        self.loop = asyncio.get_running_loop()
        self.ready = asyncio.Event()
        self.abilities = abilities(params.capabilities)
        self.options = read_options(params.initialization_options)
        positions = Positions.agreed(self.workspace.position_encoding)
        self.documents = Documents(positions)
        self.analysis = Analysis(self.documents, self._open_session)
        self.render = Renderer(positions, self.abilities, self.analysis.text, self.documents.uri, page_of)
        self.worker = Worker(self.analysis.update)
        self.started = True

    def shut_down(self) -> None:
        """The client said `shutdown`."""
        self.exit_code = 0
        self.worker.stop()

    def close(self) -> None:
        """Ends what was started, but for the job under way, which ends with the process."""
        if not self.started:
            return
        self.worker.stop()
        for cancel in self.confirmations.values():
            cancel.set()
        if self.docs is not None:
            self.docs.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    async def ask(self, uri: str, work: Callable[[Document], T]) -> T | None:
        """`work` done in the analysis thread on a document as it is now; None where it is not open or not analysed.

        Raises JsonRpcContentModified where the document changed before its turn came: the positions asked about are
        gone.
        """
        document = self.documents.get(uri)
        if document is None or document.refused:
            return None

        def job() -> T:
            if self.documents.get(uri) is not document:
                raise JsonRpcContentModified("the document has changed")
            return work(document)

        return await asyncio.wrap_future(self.worker.submit(job))

    async def result(self, job: Future[T]) -> T | None:
        """What a job of the worker gives; None where another has taken its place."""
        await asyncio.wait({asyncio.wrap_future(job)})
        return None if job.cancelled() else job.result()

    def on_loop(self, call: Callable[..., object], *args: object) -> None:
        """From any thread: calls in the event loop; after its end nobody listens any more."""
        try:
            self.loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            if not self.loop.is_closed():
                raise

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs work that nobody waits for; its failure is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("work in the background failed", exc_info=error)

    # -- checking and publishing -------------------------------------------------------------------------------------

    def check(self, path: str, later: bool = False) -> None:
        """Queues the check of an open file; of several that wait for one file only the last is done."""
        future = self.worker.submit(partial(self.rendered, path), ("check", path), later)
        future.add_done_callback(partial(self.on_loop, self._checked, later))

    def check_all(self, but: str | None = None) -> None:
        """Queues the other open files: one of them may import what changed."""
        for document in self.documents:
            if document.path != but and not document.refused:
                self.check(document.path, later=True)

    def rendered(self, path: str) -> Rendered:
        """In the analysis thread, where the texts are those that were checked."""
        checked = self.analysis.check(path)
        return Rendered(checked, {shown.path: self.render.shown(shown) for shown in checked.shown})

    def _checked(self, later: bool, future: Future[Rendered]) -> None:
        if future.cancelled():
            return
        if error := future.exception():
            logger.error("the analysis failed", exc_info=error)
            return
        rendered = future.result()
        checked = rendered.checked
        if checked.document is not self.documents.at(checked.path):
            return  # of an older version; a newer one is being looked at
        self.show(rendered, again=not later)
        if not later:
            self.check_all(but=checked.path)

    def show(self, rendered: Rendered, again: bool = True) -> None:
        """Publishes what a check found. `again`: also where the file shows that already, for its new version."""
        checked = rendered.checked
        for path, diagnostics in rendered.diagnostics.items():
            if self.board.put(path, diagnostics) or (again and path == checked.path):
                self.publish(path)
        for note in checked.notes:
            self.log_once(f"{checked.path}: {note}")
        if checked.summary is not None:
            self._show_status(checked, checked.summary)

    def _show_status(self, checked: Checked, summary: Summary) -> None:
        context = self.context_names.get(checked.path)
        self.protocol.notify(METHOD, status(self.documents.uri(checked.path), summary, checked.target, context))
        if summary.sites and self.docs is not None:
            self.docs.known(WARMING)

    def publish(self, path: str) -> None:
        """Sends what a file shows; a client that fetches diagnostics does so by itself, or is told to (`refresh`)."""
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

    def refresh_diagnostics(self) -> None:
        """Where the client fetches diagnostics: asks it to do so again, for a reason that it cannot know."""
        if self.abilities.pull and self.abilities.refreshes_diagnostics:
            self.background(self.workspace_diagnostic_refresh_async(None))

    # -- telling -----------------------------------------------------------------------------------------------------

    def log_once(self, text: str, level: int = logging.INFO) -> None:
        """Logs a text that was not logged before."""
        if text not in self._logged:
            self._logged.add(text)
            logger.log(level, "%s", text)

    def send_log(self, kind: types.MessageType, text: str) -> None:
        """From any thread: `window/logMessage`."""
        if self.started and not self.loop.is_closed():
            self.on_loop(self.window_log_message, types.LogMessageParams(kind, text))

    def tell(self, kind: types.MessageType, text: str) -> None:
        """A message that the user sees: only in answer to something that he asked for."""
        self.window_show_message(types.ShowMessageParams(kind, text))

    def report_server_error(self, error: Exception, source: type[Any]) -> None:
        """What goes wrong inside pygls: to standard error, not to a pop-up. The client may be what failed."""
        if not isinstance(error, JsonRpcException) or source is not JsonRpcException:
            logging.getLogger("pygls").error("%s: %s", source.__name__, error, exc_info=error)
