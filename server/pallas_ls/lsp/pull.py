"""`textDocument/diagnostic`, for clients that fetch diagnostics and take none by themselves (`Abilities.pull`)."""

from __future__ import annotations

import hashlib

from lsprotocol import types

from .core import PallasServer, Rendered
from .documents import Document

OPTIONS = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="pallas")


async def pull(server: PallasServer, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    await server.ready.wait()
    rendered = await server.ask(params.text_document.uri, lambda document: _rendered(server, document))
    if rendered is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    server.show(rendered)
    path = rendered.checked.path
    items = server.board.shown(path)
    result_id = hashlib.blake2b(repr(items).encode(), digest_size=8).hexdigest()
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    others = {
        server.documents.uri(other): types.FullDocumentDiagnosticReport(items=server.board.shown(other))
        for other in rendered.diagnostics
        if other != path
    }
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id, related_documents=others or None)


def _rendered(server: PallasServer, document: Document) -> Rendered:
    return server.rendered(document.path)
