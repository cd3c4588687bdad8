"""An editor for tests: pygls's client, a server process, and waiting for what the server sends."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

#: Seconds after which a test gives up; nothing is expected to take that long.
LIMIT = 60

SERVER = [sys.executable, "-c", "from pallas_ls.lsp.server import main; main()"]
SCRIPTED = [sys.executable, "-m", "tests.lsp.scripted_server"]
ROOT = Path(__file__).parents[2]

T = TypeVar("T")


class Client(LanguageClient):
    """pygls's client; a message that it cannot handle fails the test that waits for it."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.errors: list[str] = []
        self.ended = asyncio.Event()

    def report_server_error(self, error: Exception, source: Any) -> None:
        self.errors.append(f"{source}: {error}")

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        self.ended.set()


class Editor:
    """One editor with one server process."""

    def __init__(self, folder: Path, settings: dict[str, Any] | None = None) -> None:
        self.root = self.folder = folder
        self.settings = settings or {}
        self.client = Client()
        self.published: list[types.PublishDiagnosticsParams] = []
        self.logged: list[types.LogMessageParams] = []
        self.messages: list[types.ShowMessageParams] = []
        self.statuses: list[Any] = []
        self.progress: list[Any] = []
        self.registered: list[types.RegistrationParams] = []
        self.refreshed: list[str] = []
        self.versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self._news = asyncio.Condition()
        self._listen()

    def in_folder(self, name: str) -> Iterator[Editor]:
        """This editor as one test uses it: with files of its own, all closed at the end."""
        self.folder = self.root / re.sub(r"\W+", "_", name)[:100]
        self.folder.mkdir()
        for heard in (self.published, self.logged, self.messages, self.statuses, self.progress, self.refreshed):
            heard.clear()
        yield self
        for uri in list(self.versions):
            self.close(uri)

    async def start(self, command: list[str], env: dict[str, str] | None = None) -> None:
        """`env`: what is set besides; its PYTHONPATH stands before that of the server."""
        env = env or {}
        path = os.pathsep.join(filter(None, [env.get("PYTHONPATH"), str(ROOT / "server"), str(ROOT)]))
        environment = {**os.environ, **env, "PYTHONPATH": path}
        await self.client.start_io(*command, env=environment, cwd=str(self.root))
        self.process = self.client._server
        assert self.process is not None

    async def initialize(
        self, capabilities: types.ClientCapabilities | None = None, options: dict[str, Any] | None = None
    ) -> types.InitializeResult:
        self.result = await self.until_done(
            self.client.initialize_async(
                types.InitializeParams(
                    capabilities=capabilities or everything(),
                    process_id=os.getpid(),
                    root_uri=self.root.as_uri(),
                    workspace_folders=[types.WorkspaceFolder(self.root.as_uri(), "workspace")],
                    initialization_options=options,
                )
            )
        )
        self.client.initialized(types.InitializedParams())
        return self.result

    # -- documents

    def uri(self, name: str) -> str:
        return name if ":" in name else (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> str:
        uri = self.uri(name)
        self.versions[uri], self.texts[uri] = 1, text
        item = types.TextDocumentItem(uri=uri, language_id="python", version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, *changes: types.TextDocumentContentChangeEvent) -> int:
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, list(changes)))
        return self.versions[uri]

    def replace(self, uri: str, text: str) -> int:
        self.texts[uri] = text
        return self.change(uri, types.TextDocumentContentChangeWholeDocument(text))

    def close(self, uri: str) -> None:
        del self.versions[uri]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    # -- waiting

    async def until_done(self, work: Any) -> Any:
        async with asyncio.timeout(LIMIT):
            return await work

    async def until(self, found: Callable[[], T]) -> T:
        """Waits for the first true answer, asked again after each message of the server's."""
        async with asyncio.timeout(LIMIT), self._news:
            await self._news.wait_for(found)
            return found()

    async def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """The diagnostics that were published for a version, else for the document's present one."""
        wanted = version or self.versions[uri]
        published = await self.until(
            lambda: next((p for p in reversed(self.published) if p.uri == uri and p.version == wanted), None)
        )
        assert published is not None
        return list(published.diagnostics)

    def shown(self, uri: str) -> list[types.Diagnostic]:
        """What an editor would show now: what was published last."""
        last = next((p for p in reversed(self.published) if p.uri == uri), None)
        return list(last.diagnostics) if last else []

    async def heard_by_server(self) -> None:
        """Waits until the server has taken in all that was sent; its analysis may still be busy."""
        assert await self.hover(self.uri("nobody_opened_this.py"), 0, 0) is None

    # -- asking

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        identifier = types.TextDocumentIdentifier(uri)
        params = types.HoverParams(identifier, types.Position(line, character))
        return await self.until_done(self.client.text_document_hover_async(params))

    async def actions(
        self, uri: str, line: int, only: list[str] | None = None, diagnostics: list[types.Diagnostic] | None = None
    ) -> list[types.CodeAction]:
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            types.Range(types.Position(line, 0), types.Position(line, 0)),
            types.CodeActionContext(diagnostics or [], only),  # type: ignore[arg-type]
        )
        found = await self.until_done(self.client.text_document_code_action_async(params))
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    async def execute(self, command: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(command, arguments=list(arguments))
        return await self.until_done(self.client.workspace_execute_command_async(params))

    # -- the end

    async def shut_down(self) -> int:
        await self.until_done(self.client.shutdown_async(None))
        return await self.exit()

    async def exit(self) -> int:
        self.client.exit(None)
        return await self.wait_for_end()

    async def wait_for_end(self) -> int:
        code = await self.until_done(self.process.wait())
        await self.until_done(self.client.ended.wait())
        return code

    async def stop(self) -> None:
        """Ends the process however the test left it."""
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        await self.until_done(self.client.ended.wait())
        await self.client.stop()

    def _listen(self) -> None:
        feature = self.client.feature
        feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(self._into(self.published))
        feature(types.WINDOW_LOG_MESSAGE)(self._into(self.logged))
        feature(types.WINDOW_SHOW_MESSAGE)(self._into(self.messages))
        feature("pallas/status")(self._into(self.statuses))
        feature(types.PROGRESS)(self._into(self.progress))
        feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda params: None)
        feature(types.WORKSPACE_CONFIGURATION)(lambda params: [self.settings for _ in params.items])
        feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)(self._into(self.refreshed))
        feature(types.WORKSPACE_CODE_LENS_REFRESH)(self._into(self.refreshed))
        feature(types.CLIENT_REGISTER_CAPABILITY)(self._into(self.registered))

    def _into(self, heard: list[Any]) -> Callable[[Any], Any]:
        async def take(params: Any) -> None:
            async with self._news:
                heard.append(params)
                self._news.notify_all()

        return take


def everything(*encodings: str) -> types.ClientCapabilities:
    """The capabilities of an editor that can do all that the server knows of."""
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings) or None),
        window=types.WindowClientCapabilities(work_done_progress=True),
        workspace=types.WorkspaceClientCapabilities(
            configuration=True,
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
            did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
        ),
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                version_support=True,
                related_information=True,
                code_description_support=True,
                data_support=True,
                tag_support=types.ClientDiagnosticsTagOptions([types.DiagnosticTag.Unnecessary]),
            ),
            code_action=types.CodeActionClientCapabilities(
                code_action_literal_support=types.ClientCodeActionLiteralOptions(
                    types.ClientCodeActionKindOptions([types.CodeActionKind.QuickFix])
                ),
                is_preferred_support=True,
            ),
            hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
        ),
    )
