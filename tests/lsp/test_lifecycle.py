"""How the process ends, and that nothing that goes wrong in it reaches the user as a pop-up or ends it."""

from __future__ import annotations

import asyncio
import socket
import sys

import psutil
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .conftest import Pipe, StartEditor
from .editor import LIMIT, ROOT, SCRIPTED, Editor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_shutdown_and_exit_end_the_process_with_0_even_during_an_analysis(
    start_editor: StartEditor, pipe: Pipe
) -> None:
    editor = await start_editor(SCRIPTED)
    editor.open("k.py", f"# slow {pipe.path}\n")
    await pipe.reached()
    assert await editor.shut_down() == 0


async def test_exit_without_shutdown_ends_the_process_with_1(start_editor: StartEditor) -> None:
    editor = await start_editor(SCRIPTED)
    assert await editor.exit() == 1


async def test_an_editor_that_dies_takes_the_server_along(start_editor: StartEditor) -> None:
    editor = await start_editor(SCRIPTED)
    assert editor.process.stdin is not None
    editor.process.stdin.close()
    assert await editor.wait_for_end() == 1


async def test_a_crash_of_the_analysis_is_logged_and_the_server_goes_on(scripted: Editor) -> None:
    uri = scripted.open("k.py", "# crash\n")
    await scripted.until(lambda: [entry for entry in scripted.logged if "as it was told to" in entry.message])
    [entry] = [entry for entry in scripted.logged if "as it was told to" in entry.message]
    assert entry.type == types.MessageType.Error
    assert "Traceback" in entry.message and "scripted_server.py" in entry.message

    assert await scripted.hover(uri, 0, 3) is None
    assert await scripted.actions(uri, 0) == []
    scripted.replace(uri, "bad()\n")
    assert len(await scripted.diagnostics(uri)) == 1
    assert scripted.messages == []


async def test_prints_do_not_disturb_the_protocol(scripted: Editor) -> None:
    uri = scripted.open("k.py", "# print Content-Length:\nbad()\n")
    assert len(await scripted.diagnostics(uri)) == 1
    assert scripted.client.errors == []


async def test_a_waiting_request_is_cancelled_at_once(scripted: Editor, pipe: Pipe) -> None:
    uri = scripted.open("k.py", f"# slow {pipe.path}\n")
    await pipe.reached()
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
    answer = scripted.client.protocol.send_request_async(types.TEXT_DOCUMENT_HOVER, params, msg_id="hover-1")
    scripted.client.cancel_request(types.CancelParams("hover-1"))
    with pytest.raises(JsonRpcException) as error:
        await scripted.until_done(answer)
    assert error.value.code == types.LSPErrorCodes.RequestCancelled.value
    pipe.release()


async def test_a_request_about_a_text_that_changed_meanwhile_says_so(scripted: Editor, pipe: Pipe) -> None:
    uri = scripted.open("k.py", f"# slow {pipe.path}\n")
    await pipe.reached()
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
    answer = scripted.client.protocol.send_request_async(types.TEXT_DOCUMENT_HOVER, params)
    scripted.replace(uri, "pass\n")
    await scripted.heard_by_server()
    pipe.release()
    with pytest.raises(JsonRpcException) as error:
        await scripted.until_done(answer)
    assert error.value.code == types.LSPErrorCodes.ContentModified.value


async def test_requests_that_nobody_knows_are_refused_and_the_server_goes_on(scripted: Editor) -> None:
    with pytest.raises(JsonRpcException):
        await scripted.until_done(scripted.client.protocol.send_request_async("pallas/none", {"a": 1}))
    with pytest.raises(JsonRpcException, match="not defined"):
        await scripted.execute("pallas.none")
    uri = scripted.open("k.py", "bad()\n")
    assert len(await scripted.diagnostics(uri)) == 1


async def test_tcp_serves_on_the_loopback_interface_alone(tmp_path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", f"from pallas_ls.lsp.server import main; main({port})"]
    process = await asyncio.create_subprocess_exec(*command, env={"PYTHONPATH": str(ROOT / "server")}, cwd=tmp_path)
    try:
        editor = Editor(tmp_path)
        await connect(editor, port)
        listening = [c.laddr.ip for c in psutil.Process(process.pid).net_connections() if c.status == "LISTEN"]
        assert listening == ["127.0.0.1"]
        await editor.initialize()
        uri = editor.open("k.py", "x = (\n")
        assert [d.code for d in await editor.diagnostics(uri)] == ["syntax"]
        await editor.until_done(editor.client.shutdown_async(None))
        editor.client.exit(None)
        assert await editor.until_done(process.wait()) == 0
        await editor.client.stop()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def connect(editor: Editor, port: int) -> None:
    """Tries until the process listens."""
    async with asyncio.timeout(LIMIT):
        while True:
            try:
                return await editor.client.start_tcp("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)  # there is nothing to wait on but the port itself
