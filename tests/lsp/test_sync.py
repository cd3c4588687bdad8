"""Documents as they are opened, changed and closed, and the diagnostics that follow."""

from __future__ import annotations

import pytest
from lsprotocol import types

from .conftest import Pipe, StartEditor
from .editor import SCRIPTED, Editor, everything

pytestmark = pytest.mark.asyncio(loop_scope="session")


def insertion(line: int, character: int, text: str) -> types.TextDocumentContentChangePartial:
    at = types.Position(line, character)
    return types.TextDocumentContentChangePartial(types.Range(at, at), text)


async def test_diagnostics_follow_a_document_from_its_opening_to_its_closing(scripted: Editor) -> None:
    uri = scripted.open("k.py", "x = 1\nbad()\n")
    [diagnostic] = await scripted.diagnostics(uri)
    assert diagnostic.range == types.Range(types.Position(1, 0), types.Position(1, 5))
    assert diagnostic.severity == types.DiagnosticSeverity.Error
    assert (diagnostic.source, diagnostic.code) == ("pallas", "async-store-shape")
    assert diagnostic.message == (
        "192 bytes are moved\nJAX raises NotImplementedError: Transfer is not a multiple of 128 bytes"
    )

    scripted.change(uri, insertion(0, 0, "bad()\n"))
    assert [d.range.start.line for d in await scripted.diagnostics(uri)] == [0, 2]

    scripted.close(uri)
    await scripted.until(lambda: not scripted.shown(uri))


async def test_changes_of_one_notification_apply_one_after_the_other(scripted: Editor) -> None:
    uri = scripted.open("k.py", "\n")
    scripted.change(uri, insertion(0, 0, "ad()"), insertion(0, 0, "b"), insertion(1, 0, "bad()"))
    assert [d.range.start.line for d in await scripted.diagnostics(uri)] == [0, 1]


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 14), ("utf-32", 10)])
async def test_columns_are_in_the_units_that_were_agreed_on(
    start_editor: StartEditor, encoding: str, start: int
) -> None:
    editor = await start_editor(SCRIPTED, everything(encoding))
    assert editor.result.capabilities.position_encoding == encoding
    uri = editor.open("k.py", "s = '😀é'; bad()\n")
    [diagnostic] = await editor.diagnostics(uri)
    assert diagnostic.range == types.Range(types.Position(0, start), types.Position(0, start + 5))
    # An edit behind the characters, in the client's units, hits the text that it means.
    editor.change(
        uri,
        types.TextDocumentContentChangePartial(
            types.Range(types.Position(0, start), types.Position(0, start + 3)), "good"
        ),
    )
    assert await editor.diagnostics(uri) == []


async def test_columns_are_in_utf_16_for_a_client_that_names_no_encoding(scripted: Editor) -> None:
    assert scripted.result.capabilities.position_encoding == "utf-16"
    uri = scripted.open("k.py", "s = '😀é'; bad()\n")
    [diagnostic] = await scripted.diagnostics(uri)
    assert diagnostic.range == types.Range(types.Position(0, 11), types.Position(0, 16))


async def test_a_form_feed_is_no_line_break(scripted: Editor) -> None:
    uri = scripted.open("k.py", "a = 1\n\f\nbad()\n")
    scripted.change(uri, insertion(2, 0, "x; "))
    [diagnostic] = await scripted.diagnostics(uri)
    assert diagnostic.range.start == types.Position(2, 3)


async def test_of_keystrokes_during_an_analysis_only_the_last_one_is_analysed(scripted: Editor, pipe: Pipe) -> None:
    uri = scripted.open("k.py", f"# slow {pipe.path}\n")
    await pipe.reached()
    for count in range(2, 30):
        scripted.replace(uri, "bad()\n" * count)
    await scripted.heard_by_server()
    pipe.release()
    assert len(await scripted.diagnostics(uri)) == 29
    assert [p.version for p in scripted.published if p.uri == uri] == [29]


async def test_a_finding_in_another_file_is_shown_there_until_its_cause_is_closed(scripted: Editor) -> None:
    (scripted.folder / "caller.py").write_text("call()\n")
    caller = scripted.uri("caller.py")
    kernel = scripted.open("kernel.py", "# blame caller.py\n")
    assert await scripted.diagnostics(kernel) == []
    [diagnostic] = await scripted.until(lambda: scripted.shown(caller))
    [related] = diagnostic.related_information or ()
    assert (related.location.uri, related.message) == (kernel, "for this")

    scripted.close(kernel)
    await scripted.until(lambda: not scripted.shown(caller))


async def test_an_open_file_is_looked_at_again_when_another_one_changes(scripted: Editor) -> None:
    other = scripted.open("other.py", "fine()\n")
    await scripted.diagnostics(other)
    kernel = scripted.open("kernel.py", "# blame other.py\n")
    await scripted.until(lambda: scripted.shown(other))
    scripted.replace(kernel, "pass\n")
    await scripted.until(lambda: not scripted.shown(other))


async def test_an_open_text_hides_the_file_and_its_closing_shows_it_again(scripted: Editor) -> None:
    (scripted.folder / "k.py").write_text("pass\n")
    uri = scripted.open("k.py", "bad()\n")
    assert len(await scripted.diagnostics(uri)) == 1
    scripted.close(uri)
    uri = scripted.open("k.py", (scripted.folder / "k.py").read_text())
    await scripted.until(lambda: not scripted.shown(uri))


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "vscode-notebook-cell:/n.ipynb#W0sZmlsZQ%3D%3D", "file:///C%3A/kernels/k.py"]
)
async def test_documents_that_are_no_files_here_are_files_of_their_own(scripted: Editor, uri: str) -> None:
    scripted.open(uri, "bad()\n")
    assert len(await scripted.diagnostics(uri)) == 1
    scripted.close(uri)
    await scripted.until(lambda: not scripted.shown(uri))


async def test_two_writings_of_a_uri_are_one_document(scripted: Editor) -> None:
    uri = scripted.open("k.py", "bad()\n")
    await scripted.diagnostics(uri)
    other = uri.replace("k.py", "%6B.py")
    identifier = types.VersionedTextDocumentIdentifier(version=2, uri=other)
    scripted.client.text_document_did_change(
        types.DidChangeTextDocumentParams(identifier, [types.TextDocumentContentChangeWholeDocument("pass\n")])
    )
    assert await scripted.diagnostics(uri, version=2) == []


@pytest.mark.parametrize(
    ("text", "reason"), [("\0" * 100, "NUL"), ("x\n" * 1_100_000, "characters")], ids=["binary", "huge"]
)
async def test_what_is_no_kernel_file_is_left_alone(scripted: Editor, text: str, reason: str) -> None:
    uri = scripted.open("k.py", f"bad()\n{text}")
    await scripted.until(lambda: any(reason in entry.message for entry in scripted.logged))
    assert await scripted.hover(uri, 0, 0) is None
    scripted.replace(uri, "bad()\n")
    assert len(await scripted.diagnostics(uri)) == 1


async def test_files_of_other_languages_are_left_alone(scripted: Editor) -> None:
    item = types.TextDocumentItem(scripted.uri("k.cu"), "cuda-cpp", 1, "bad()\n")
    scripted.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    assert await scripted.hover(scripted.uri("k.cu"), 0, 0) is None
