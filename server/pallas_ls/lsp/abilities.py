"""What the client can do, asked once: everything that we send beyond the basics depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lsprotocol import types


@dataclass(frozen=True, slots=True)
class Abilities:
    """The client's capabilities that matter here.

    Attributes:
      pushed_diagnostics: it takes `textDocument/publishDiagnostics`.
      pulled_diagnostics: it asks for diagnostics instead (see `pull`).
      changes_annotated: edits may name the version of the document that they fit (`documentChanges`).
    """

    pushed_diagnostics: bool = False
    pulled_diagnostics: bool = False
    related_information: bool = False
    code_description: bool = False
    diagnostic_data: bool = False
    diagnostic_tags: frozenset[types.DiagnosticTag] = frozenset()
    markdown: bool = True
    code_action_literals: bool = False
    preferred_actions: bool = False
    document_changes: bool = False
    progress: bool = False
    configuration: bool = False
    watches_files: bool = False
    watches_configuration: bool = False
    refreshes_diagnostics: bool = False
    refreshes_lenses: bool = False
    refreshes_hints: bool = False

    @property
    def pull(self) -> bool:
        """Whether diagnostics are left for the client to fetch.

        A client that can do both gets them pushed, and only pushed, or it would show each twice. Pushing fits
        better: a finding of one file may stand in another that nobody asks about, and a verdict of JAX's arrives
        when it arrives.
        """
        return self.pulled_diagnostics and not self.pushed_diagnostics


def abilities(capabilities: types.ClientCapabilities) -> Abilities:
    """Reads the client's capabilities; a part that is missing counts as not able."""
    document = capabilities.text_document
    published = document and document.publish_diagnostics
    action = document and document.code_action
    workspace = capabilities.workspace
    tags = _get(published, "tag_support", "value_set") or ()
    formats = _get(document, "hover", "content_format")
    return Abilities(
        pushed_diagnostics=published is not None,
        pulled_diagnostics=_get(document, "diagnostic") is not None,
        related_information=bool(_get(published, "related_information")),
        code_description=bool(_get(published, "code_description_support")),
        diagnostic_data=bool(_get(published, "data_support")),
        diagnostic_tags=frozenset(tags),
        markdown=formats is None or types.MarkupKind.Markdown in formats,
        code_action_literals=_get(action, "code_action_literal_support") is not None,
        preferred_actions=bool(_get(action, "is_preferred_support")),
        document_changes=bool(_get(workspace, "workspace_edit", "document_changes")),
        progress=bool(_get(capabilities, "window", "work_done_progress")),
        configuration=bool(_get(workspace, "configuration")),
        watches_files=bool(_get(workspace, "did_change_watched_files", "dynamic_registration")),
        watches_configuration=bool(_get(workspace, "did_change_configuration", "dynamic_registration")),
        refreshes_diagnostics=bool(_get(workspace, "diagnostics", "refresh_support")),
        refreshes_lenses=bool(_get(workspace, "code_lens", "refresh_support")),
        refreshes_hints=bool(_get(workspace, "inlay_hint", "refresh_support")),
    )


def _get(value: Any, *names: str) -> Any:
    for name in names:
        if value is None:
            return None
        value = getattr(value, name)
    return value
