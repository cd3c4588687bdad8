"""Hovers, actions, lenses and settings, on a session that does what the text says."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from .conftest import StartEditor
from .editor import SCRIPTED, Editor, everything

pytestmark = pytest.mark.asyncio(loop_scope="session")


def document_changes(action: types.CodeAction) -> list[tuple[str, int | None, list[tuple[int, int, str]]]]:
    """(uri, version, edits as (line, column, text)) of each file that an action changes."""
    assert action.edit is not None and action.edit.document_changes is not None
    return [
        (
            change.text_document.uri,
            change.text_document.version,
            [(edit.range.start.line, edit.range.start.character, edit.new_text) for edit in change.edits],
        )
        for change in action.edit.document_changes
        if isinstance(change, types.TextDocumentEdit)
    ]


async def test_hover_tells_what_is_under_the_cursor(scripted: Editor) -> None:
    uri = scripted.open("k.py", "é = name\n")
    hover = await scripted.hover(uri, 0, 5)
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert (hover.contents.kind, hover.contents.value) == (types.MarkupKind.Markdown, "**name**")
    assert hover.range == types.Range(types.Position(0, 4), types.Position(0, 8))
    assert await scripted.hover(uri, 0, 2) is None


async def test_fixes_are_offered_with_the_finding_that_they_repair(scripted: Editor) -> None:
    uri = scripted.open("k.py", "pass\nbad()\n")
    [diagnostic] = await scripted.diagnostics(uri)
    assert await scripted.actions(uri, 0) == []
    good, better, ignore = await scripted.actions(uri, 1, diagnostics=[diagnostic])
    assert (good.title, good.kind, good.is_preferred) == ("Make it good", types.CodeActionKind.QuickFix, True)
    assert list(good.diagnostics or ()) == [diagnostic]
    assert document_changes(good) == [(uri, 1, [(1, 0, "good()")])]
    assert better.title == "Make it better (changes what the program computes or how)"
    assert better.is_preferred is None
    assert ignore.title == "Ignore pallas rule async-store-shape here"


async def test_a_finding_is_told_again_after_lines_above_it_moved_it(scripted: Editor) -> None:
    uri = scripted.open("k.py", "bad()\n")
    [old] = await scripted.diagnostics(uri)
    scripted.replace(uri, "pass\nbad()\n")
    good, *_ = await scripted.actions(uri, 1, diagnostics=[old])
    assert list(good.diagnostics or ()) == [old]


async def test_fix_all_takes_the_safe_fixes_and_only_where_it_is_asked_for(scripted: Editor) -> None:
    uri = scripted.open("k.py", "bad()\nbad()\n")
    [action] = await scripted.actions(uri, 0, only=["source.fixAll"])
    assert action.kind == "source.fixAll.pallas"
    assert document_changes(action) == [(uri, 1, [(0, 0, "good()"), (1, 0, "good()")])]
    assert all(a.kind == types.CodeActionKind.QuickFix for a in await scripted.actions(uri, 0))
    assert await scripted.actions(uri, 0, only=["refactor"]) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("bad()\n", 0),
        ("x = [\n    bad(),\n    2,\n]\n", 1),
        ("x = bad()  # a remark\n", 0),
        ('x = f"""{bad()}\n"""\n', 0),
    ],
    ids=["plain", "inside brackets", "behind a comment", "in a long string"],
)
async def test_the_ignore_action_silences_the_finding(scripted: Editor, text: str, line: int) -> None:
    uri = scripted.open("k.py", text)
    assert len(await scripted.diagnostics(uri)) == 1
    ignore = next(a for a in await scripted.actions(uri, line) if a.title.startswith("Ignore"))
    [(_, _, [(at, column, new)])] = document_changes(ignore)
    position = types.Position(at, column)
    scripted.change(uri, types.TextDocumentContentChangePartial(types.Range(position, position), new))
    assert await scripted.diagnostics(uri) == []


async def test_an_ignore_that_ignores_nothing_is_told_and_can_be_removed(scripted: Editor) -> None:
    uri = scripted.open("k.py", "x = 1  # pallas: ignore[async-store-shape]\n")
    [diagnostic] = await scripted.diagnostics(uri)
    assert diagnostic.code == "unused-ignore"
    assert list(diagnostic.tags or ()) == [types.DiagnosticTag.Unnecessary]
    removal, *_ = await scripted.actions(uri, 0)
    assert document_changes(removal) == [(uri, 1, [(0, 5, "")])]


async def test_an_editor_without_versioned_edits_gets_plain_ones(start_editor: StartEditor) -> None:
    capabilities = everything()
    assert capabilities.workspace is not None
    capabilities.workspace.workspace_edit = None
    editor = await start_editor(SCRIPTED, capabilities)
    uri = editor.open("k.py", "bad()\n")
    good, *_ = await editor.actions(uri, 0)
    assert good.edit is not None and good.edit.document_changes is None
    assert good.edit.changes is not None
    assert [edit.new_text for edit in good.edit.changes[uri]] == ["good()"]


async def test_a_status_follows_each_analysis(scripted: Editor) -> None:
    uri = scripted.open("k.py", "bad()\n")
    status = await scripted.until(lambda: next((s for s in scripted.statuses if s.uri == uri), None))
    assert status is not None
    assert (status.checked, status.total, status.unknown, status.context) == (1, 2, 0, None)
    assert status.target.startswith("JAX 0.")


async def lenses(editor: Editor, uri: str) -> list[types.CodeLens]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    return list(await editor.until_done(editor.client.text_document_code_lens_async(params)) or ())


async def test_a_lens_over_each_kernel_confirms_it(scripted: Editor) -> None:
    uri = scripted.open("k.py", "\n# kernel f()\n# kernel g\n")
    found = await lenses(scripted, uri)
    assert [(lens.range.start.line, lens.command and lens.command.title) for lens in found] == [
        (1, "Confirm with JAX"),
        (2, "Confirm with JAX"),
    ]
    assert found[0].command is not None
    assert list(found[0].command.arguments or ()) == [{"uri": uri, "line": 1, "way": "lower"}]


async def test_a_lens_says_what_a_kernel_takes_of_memory(scripted: Editor) -> None:
    uri = scripted.open("k.py", "\n# memory SMEM 98,336 / 232,448\n")
    [lens] = await lenses(scripted, uri)
    assert lens.command is not None
    assert (lens.range.start.line, lens.command.title) == (1, "SMEM 98,336 / 232,448")


@pytest.mark.parametrize("only", ["source", "source.fixAll", "quickfix"])
async def test_nothing_that_runs_at_a_save_confirms(scripted: Editor, only: str) -> None:
    """What the menu offers otherwise, tests/editors shows: lsprotocol's client cannot read actions with commands."""
    uri = scripted.open("k.py", "# kernel f()\n")
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(uri),
        types.Range(types.Position(0, 0), types.Position(0, 0)),
        types.CodeActionContext([], [types.CodeActionKind(only)]),
    )
    assert not await scripted.until_done(scripted.client.text_document_code_action_async(params))


async def test_of_several_calls_of_a_kernel_one_can_be_picked(scripted: Editor) -> None:
    uri = scripted.open("k.py", "# kernel f(1) # kernel f(2)\n")
    contexts = await scripted.execute("pallas.listContexts", {"uri": uri, "line": 0})
    first, second = contexts
    assert [first["description"], second["description"]] == ["f(1)", "f(2)"]
    assert not first["active"] and not second["active"]
    titles = [lens.command.title for lens in await lenses(scripted, uri) if lens.command]
    assert titles == ["Confirm 2 calls with JAX", "All 2 calls"]

    await scripted.execute("pallas.setContext", {"uri": uri, "line": 0, "id": second["id"]})
    picked = await scripted.execute("pallas.listContexts", {"uri": uri, "line": 0})
    assert [context["active"] for context in picked] == [False, True]
    titles = [lens.command.title for lens in await lenses(scripted, uri) if lens.command]
    assert titles == ["Confirm with JAX", "f (2/2)"]
    status = await scripted.until(lambda: next((s for s in scripted.statuses if s.context), None))
    assert status is not None and status.context == "f"


SELECT_OTHERS: dict[str, Any] = {"select": ["unused-ignore"], "ignore": [], "remotes": {}, "semantics": None}


async def test_settings_come_from_the_options_and_change_while_running(start_editor: StartEditor) -> None:
    editor = await start_editor(SCRIPTED, options={"settings": SELECT_OTHERS})
    uri = editor.open("k.py", "bad()\n")
    assert await editor.diagnostics(uri) == []
    editor.settings = {"select": ["async-store-shape"], "jaxVersion": "0.10.2", "target": "H100"}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await editor.until(lambda: editor.shown(uri))
    await editor.until(lambda: any(s.target == "JAX 0.10.2, lane semantics" for s in editor.statuses))
    assert any("pallas.target" in entry.message for entry in editor.logged)


async def test_settings_of_an_editor_that_cannot_be_asked_come_with_the_notification(
    start_editor: StartEditor,
) -> None:
    capabilities = everything()
    assert capabilities.workspace is not None
    capabilities.workspace.configuration = None
    editor = await start_editor(SCRIPTED, capabilities)
    uri = editor.open("k.py", "bad()\n")
    assert len(await editor.diagnostics(uri)) == 1
    settings = {"pallas": {"ignore": ["async-store-shape"]}}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    await editor.until(lambda: not editor.shown(uri))


async def test_pyproject_and_files_are_read_again_when_they_change(start_editor: StartEditor) -> None:
    editor = await start_editor(SCRIPTED)
    patterns = await editor.until(
        lambda: [
            watcher["globPattern"]
            for params in editor.registered
            for registration in params.registrations
            if registration.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            for watcher in registration.register_options["watchers"]
        ]
    )
    assert patterns == ["**/*.py", "**/pyproject.toml"]
    uri = editor.open("k.py", "bad()\n")
    assert len(await editor.diagnostics(uri)) == 1
    (editor.folder / "pyproject.toml").write_text('[tool.pallas-ls]\nignore = ["async-store-shape"]\n')
    event = types.FileEvent(editor.uri("pyproject.toml"), types.FileChangeType.Created)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await editor.until(lambda: not editor.shown(uri))


async def test_an_editor_that_fetches_diagnostics_gets_none_pushed(start_editor: StartEditor) -> None:
    capabilities = everything()
    assert capabilities.text_document is not None
    capabilities.text_document.publish_diagnostics = None
    capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities()
    editor = await start_editor(SCRIPTED, capabilities)
    assert editor.result.capabilities.diagnostic_provider is not None
    (editor.folder / "caller.py").write_text("call()\n")
    uri = editor.open("k.py", "bad()\n# blame caller.py\n")
    report = await fetch(editor, uri)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    assert [d.code for d in report.items] == ["async-store-shape"]
    assert list(report.related_documents or ()) == [editor.uri("caller.py")]
    again = await fetch(editor, uri, report.result_id)
    assert isinstance(again, types.RelatedUnchangedDocumentDiagnosticReport)
    assert editor.published == []


async def fetch(editor: Editor, uri: str, previous: str | None = None) -> types.DocumentDiagnosticReport:
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
    return await editor.until_done(editor.client.text_document_diagnostic_async(params))


async def test_an_editor_that_can_do_both_gets_diagnostics_pushed_alone(start_editor: StartEditor) -> None:
    capabilities = everything()
    assert capabilities.text_document is not None
    capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities()
    editor = await start_editor(SCRIPTED, capabilities)
    assert editor.result.capabilities.diagnostic_provider is None
    assert len(await editor.diagnostics(editor.open("k.py", "bad()\n"))) == 1
