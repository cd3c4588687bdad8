"""The edits of fixes as LSP workspace edits, across files."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from ..domain.finding import Edit
from .analysis import Analysis
from .diagnostics import Renderer


def workspace_edit(edits: Iterable[Edit], analysis: Analysis, render: Renderer) -> types.WorkspaceEdit:
    """All edits together. Where the client can, they name the version that they fit, so that it refuses late ones."""
    by_file: dict[str, list[types.TextEdit]] = {}
    for edit in sorted(edits, key=lambda edit: (edit.span.path, edit.span.start, edit.span.end)):
        by_file.setdefault(edit.span.path, []).append(types.TextEdit(render.range(edit.span), edit.text))
    if not render.abilities.document_changes:
        return types.WorkspaceEdit(changes={render.uri(path): made for path, made in by_file.items()})
    return types.WorkspaceEdit(
        document_changes=[_versioned(path, made, analysis, render) for path, made in by_file.items()]
    )


def _versioned(path: str, edits: list[types.TextEdit], analysis: Analysis, render: Renderer) -> types.TextDocumentEdit:
    document = analysis.document(path)
    version = document.version if document else None  # null: the file on the disk
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(render.uri(path), version), edits)
