"""The real server on real kernels, as somebody types."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from lsprotocol import types

from .conftest import Pipe, StartEditor
from .editor import SERVER, Editor, everything

pytestmark = pytest.mark.asyncio(loop_scope="session")

KERNELS = Path(__file__).parent / "kernels"
SHAPE = (KERNELS / "shape.py").read_text()


def place(text: str, what: str) -> types.Position:
    """Where something stands for the first time, in UTF-16; the texts here are ASCII."""
    before = text[: text.index(what)]
    return types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


STORED = place(SHAPE, "x, smem")


async def errors(editor: Editor, uri: str) -> list[types.Diagnostic]:
    found = await editor.diagnostics(uri)
    return [d for d in found if d.severity == types.DiagnosticSeverity.Error]


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """A text after edits, those at the end first."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        first, last = edit.range.start, edit.range.end
        new = lines[first.line][: first.character] + edit.new_text + lines[last.line][last.character :]
        lines[first.line : last.line + 1] = new.split("\n")
    return "\n".join(lines)


async def test_what_jax_would_refuse_is_shown_where_the_cause_is(editor: Editor) -> None:
    uri = editor.open("k.py", SHAPE)
    [error] = await errors(editor, uri)
    assert error.code == "async-store-shape"
    assert error.range.start == STORED
    assert "float16[64, 32]" in error.message
    assert "JAX raises TypeError: The stored value has shape (64, 32)" in error.message
    related = [each.location.range.start.line for each in error.related_information or ()]
    assert place(SHAPE, "plgpu.SMEM").line in related


async def test_a_fix_repairs_what_it_is_offered_for(editor: Editor) -> None:
    uri = editor.open("k.py", SHAPE)
    assert len(await errors(editor, uri)) == 1
    fix, *_ = await editor.actions(uri, STORED.line)
    assert fix.edit is not None and fix.edit.document_changes
    [change] = fix.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit) and change.text_document.version == 1
    edits = [edit for edit in change.edits if isinstance(edit, types.TextEdit)]
    editor.replace(uri, applied(SHAPE, edits))
    assert await errors(editor, uri) == []


async def test_hovers_tell_shape_and_bytes(editor: Editor) -> None:
    uri = editor.open("k.py", SHAPE)
    hover = await editor.hover(uri, STORED.line, STORED.character)
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert "float16[64, 32]" in hover.contents.value and "4,096 B" in hover.contents.value


async def test_hints_tell_the_bytes_of_scratch_buffers(editor: Editor) -> None:
    uri = editor.open("k.py", SHAPE)
    whole = types.Range(types.Position(0, 0), types.Position(SHAPE.count("\n"), 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
    [hint] = await editor.until_done(editor.client.text_document_inlay_hint_async(params))
    end = place(SHAPE, "SwizzleTransform(128))),")
    assert hint.label == "8,192 B"
    assert hint.position == types.Position(end.line, end.character + len("SwizzleTransform(128)))"))


async def test_typing_elsewhere_keeps_the_finding_at_every_keystroke(editor: Editor) -> None:
    line = place(SHAPE, "    i = jax").line + 1
    lines = SHAPE.split("\n")
    uri = editor.open("k.py", "\n".join([*lines[:line], "", *lines[line:]]))
    for count, typed in enumerate("    y = plgpu.load(smem, (0, \n"):
        at = types.Position(line, count)
        editor.change(uri, types.TextDocumentContentChangePartial(types.Range(at, at), typed))
        found = [e for e in await errors(editor, uri) if e.code != "absent-name"]  # plgpu.lo
        assert [(e.code, e.range.start.character) for e in found] == [("async-store-shape", STORED.character)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-32"])
async def test_text_outside_ascii_before_a_finding(start_editor: StartEditor, encoding: str) -> None:
    editor = await start_editor(SERVER, everything(encoding))
    text = SHAPE.replace("    plgpu.async_store_smem(x", "    s = '😀é'; plgpu.async_store_smem(x")
    uri = editor.open("k.py", text)
    [error] = await errors(editor, uri)
    line = text.split("\n")[STORED.line]
    before = line[: line.index("x, smem")]
    assert error.range.start.character == (len(before.encode()) if encoding == "utf-8" else len(before))


async def test_a_constant_of_another_file_is_seen_as_its_editor_shows_it(editor: Editor) -> None:
    (editor.folder / "sizes.py").write_text("COLUMNS = 64\n")
    text = (KERNELS / "two_files.py").read_text()
    uri = editor.open("two_files.py", text)
    assert await errors(editor, uri) == []
    sizes = editor.open("sizes.py", "COLUMNS = 32\n")
    await editor.until(lambda: [d.code for d in editor.shown(uri)] == ["async-store-shape"])
    fix, *_ = await editor.actions(uri, place(text, "x, smem").line)
    assert fix.edit is not None and fix.edit.document_changes
    changes = [c for c in fix.edit.document_changes if isinstance(c, types.TextDocumentEdit)]
    assert {(c.text_document.uri, c.text_document.version) for c in changes} <= {(uri, 1), (sizes, 1)}
    editor.close(sizes)
    await editor.until(lambda: not editor.shown(uri))


async def test_everything_comes_at_every_keystroke_though_jedi_never_answers(
    start_editor: StartEditor, tmp_path: Path, pipe: Pipe
) -> None:
    package = tmp_path / "silent" / "jedi"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"open({str(pipe.path)!r}).read()\n")
    editor = await start_editor(SERVER, env={"PYTHONPATH": str(package.parent)})
    call = place(SHAPE, "async_store_smem")
    uri = editor.open("k.py", SHAPE)
    for count in range(5):
        at = types.Position(3, count)
        editor.change(uri, types.TextDocumentContentChangePartial(types.Range(at, at), "#"))
        assert [d.code for d in await errors(editor, uri)] == ["async-store-shape"]
        hover = await editor.hover(uri, call.line, call.character)
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "**async_store_smem**" in hover.contents.value
        assert (await editor.actions(uri, call.line))[0].kind == types.CodeActionKind.QuickFix
    await pipe.reached()  # jedi has really been asked


async def test_jaxs_own_documentation_stands_below_the_hover(editor: Editor) -> None:
    pytest.importorskip("jax")
    uri = editor.open("k.py", SHAPE)
    call = place(SHAPE, "async_store_smem")
    while True:
        hover = await editor.hover(uri, call.line, call.character)
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        if "---" in hover.contents.value:
            break
    signature = hover.contents.value.split("---")[1]
    assert re.search(r"async_store_smem\(\s*src", signature)


HANGING = """#!/bin/sh
exec cat "$HANG_AT"
"""


async def hanging_python(start_editor: StartEditor, tmp_path: Path, pipe: Pipe) -> Editor:
    python = tmp_path / "python"
    python.write_text(HANGING)
    python.chmod(0o755)
    options = {"interpreter": str(python), "trusted": True}
    return await start_editor(SERVER, options=options, env={"HANG_AT": str(pipe.path)})


async def test_a_confirmation_can_be_cancelled(start_editor: StartEditor, tmp_path: Path, pipe: Pipe) -> None:
    editor = await hanging_python(start_editor, tmp_path, pipe)
    uri = editor.open("k.py", SHAPE)
    await editor.execute("pallas.confirm", {"uri": uri, "line": STORED.line, "way": "lower"})
    await editor.until(lambda: editor.progress)
    await pipe.reached()
    token = editor.progress[0].token
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    await editor.until(lambda: any("cancelled" in message.message for message in editor.messages))


async def test_the_server_ends_though_a_confirmation_hangs(
    start_editor: StartEditor, tmp_path: Path, pipe: Pipe
) -> None:
    editor = await hanging_python(start_editor, tmp_path, pipe)
    uri = editor.open("k.py", SHAPE)
    await editor.execute("pallas.confirm", {"uri": uri, "line": STORED.line})
    await pipe.reached()
    assert await editor.shut_down() == 0


async def test_jaxs_verdict_is_drawn_at_the_blamed_line_until_the_next_edit(editor: Editor) -> None:
    pytest.importorskip("jax")
    (editor.folder / "k.py").write_text(SHAPE)
    uri = editor.open("k.py", SHAPE)
    await editor.execute("pallas.confirm", {"uri": uri, "line": STORED.line, "way": "lower"})
    [verdict] = await editor.until(lambda: [d for d in editor.shown(uri) if d.source == "pallas confirm"])
    assert verdict.range.start.line == STORED.line
    assert "TypeError: The stored value has shape (64, 32)" in verdict.message
    message = await editor.until(lambda: editor.messages[0] if editor.messages else None)
    assert message is not None and message.message.startswith("Pallas: JAX refuses run: TypeError")
    assert any("in body" in entry.message for entry in editor.logged)

    editor.replace(uri, (KERNELS / "lowers.py").read_text())
    await editor.until(lambda: not editor.shown(uri))
    await editor.execute("pallas.confirm", {"uri": uri, "line": STORED.line})
    message = await editor.until(lambda: editor.messages[1] if len(editor.messages) > 1 else None)
    assert message is not None and re.match(r"Pallas: run lowers \(JAX [\d.]+ on this machine\)", message.message)


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ({"line": 0}, "line 1; there are some at"),
        ({"line": 9, "way": "fly"}, "'fly' is no way to confirm"),
        ({"line": 9, "way": "remote", "remote": "moon"}, "no machine 'moon'"),
        ({"line": -1}, "takes one argument such as"),
    ],
    ids=["no kernel there", "no such way", "no such remote", "no line"],
)
async def test_what_cannot_be_confirmed_says_why(editor: Editor, argument: dict[str, object], why: str) -> None:
    uri = editor.open("k.py", SHAPE)
    with pytest.raises(Exception, match=re.escape(why)):
        await editor.execute("pallas.confirm", {"uri": uri, **argument})


async def test_nothing_is_run_in_an_untrusted_workspace(start_editor: StartEditor, tmp_path: Path, pipe: Pipe) -> None:
    python = tmp_path / "python"
    python.write_text(HANGING)
    python.chmod(0o755)
    options = {"interpreter": str(python), "trusted": False, "settings": {"confirm": {"onSave": "lower"}}}
    editor = await start_editor(SERVER, options=options, env={"HANG_AT": str(pipe.path)})
    uri = editor.open("k.py", SHAPE)
    with pytest.raises(Exception, match="trusted"):
        await editor.execute("pallas.confirm", {"uri": uri, "line": STORED.line})
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    assert len(await errors(editor, uri)) == 1
    await editor.heard_by_server()
    assert editor.progress == []
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    lenses = await editor.until_done(editor.client.text_document_code_lens_async(params))
    assert not any(lens.command.command for lens in lenses)  # what is known of its memory is shown, without a command
    with pytest.raises(OSError, match="No such device or address"):  # nobody stands at the pipe
        os.open(pipe.path, os.O_WRONLY | os.O_NONBLOCK)


async def test_a_save_confirms_where_the_user_wants_it(start_editor: StartEditor, tmp_path: Path, pipe: Pipe) -> None:
    python = tmp_path / "python"
    python.write_text(HANGING)
    python.chmod(0o755)
    options = {"interpreter": str(python), "settings": {"confirm": {"onSave": "lower"}}}
    editor = await start_editor(SERVER, options=options, env={"HANG_AT": str(pipe.path)})
    uri = editor.open("k.py", SHAPE)
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await pipe.reached()  # the interpreter was started


TUNED = """
import dataclasses
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


@dataclasses.dataclass(frozen=True)
class Tuning:
    rows: int = 64


def copy(x, tuning: Tuning):
    def body(x_gmem, o_gmem):
        pass

    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((tuning.rows, 64), x.dtype))(x)
"""
BENCH = """
import jax.numpy as jnp
from tuned import Tuning, copy

for rows in (128, 256):
    copy(jnp.zeros((rows, 64), jnp.float32), Tuning(rows=rows))
"""


async def test_calls_in_other_files_are_contexts(start_editor: StartEditor, tmp_path: Path) -> None:
    editor = await start_editor(SERVER)
    (tmp_path / "bench.py").write_text(BENCH)
    uri = editor.open("tuned.py", TUNED)
    line = place(TUNED, "def copy").line
    contexts = await editor.execute("pallas.listContexts", {"uri": uri, "line": line})
    shapes = [re.search(r"\(\(?(\d+), 64\)", context["description"]) for context in contexts]
    assert [found[1] for found in shapes if found] == ["128", "256"]
    assert all("bench.py:6" in context["label"] for context in contexts)
