"""`textDocument/codeAction`: proven fixes, all safe fixes of a file at once, the comment that silences a rule, and
JAX's verdict, for editors that show no lenses."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from ..answers.report import Offer
from ..domain.finding import Edit, Finding, Fix
from ..source.span import Span
from ..workspace.ignores import removal
from .contexts import calls_at
from .core import PallasServer
from .documents import Document
from .edits import workspace_edit
from .ignoring import ignore_edit
from .lenses import confirm_command

#: "Fix all" of this server alone; editors ask for it by this name or by a part before a dot.
FIX_ALL = "source.fixAll.pallas"

#: Asking JAX runs the user's code: never at a save, never with "all source actions", only when picked from the menu.
CONFIRM_KIND = "source.confirm.pallas"

OPTIONS = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL, CONFIRM_KIND])


async def actions(server: PallasServer, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    if not server.abilities.code_action_literals:
        return None  # it takes commands only, and an edit is none
    return await server.ask(params.text_document.uri, lambda document: _Offers(server, document, params).all())


class _Offers:
    """The actions for one request, made in the analysis thread."""

    def __init__(self, server: PallasServer, document: Document, params: types.CodeActionParams) -> None:
        self.server = server
        self.analysis = server.analysis
        self.render = server.render
        self.document = document
        self.asked = self.render.positions.span(document.text, document.path, params.range)
        self.context = params.context

    def all(self) -> list[types.CodeAction]:
        made: list[types.CodeAction] = []
        if self.wants(types.CodeActionKind.QuickFix.value, unasked=True):
            made += self.quick_fixes()
            made += self.ignores()
        # Proving every fix of a file takes its time: only where it is asked for by name, not for each cursor position.
        if self.wants(FIX_ALL, unasked=False):
            made += self.fix_all()
        if self.invoked() and CONFIRM_KIND in self.kinds(CONFIRM_KIND):
            made += self.confirmations()
        return made

    def invoked(self) -> bool:
        """Whether the user opened the menu; a client that does not say asks because he did."""
        return self.context.trigger_kind is not types.CodeActionTriggerKind.Automatic

    def wants(self, kind: str, unasked: bool) -> bool:
        """Whether the client wants actions of a kind; `unasked`: where it names no kinds."""
        only = self.kinds()
        return any(kind == each or kind.startswith(each + ".") for each in only) if only else unasked

    def kinds(self, *unasked: str) -> list[str]:
        """The kinds that the client names; `unasked`: where it names none."""
        return [str(getattr(each, "value", each)) for each in self.context.only or unasked]

    def quick_fixes(self) -> list[types.CodeAction]:
        # Of whole lines: the cursor rarely stands on the very argument that is at fault.
        offers = self.analysis.session.fixes(self.document.path, self.lines())
        wanted = set(self.findings())
        return [self.quick_fix(offer) for offer in (*offers, *self.removals()) if offer.finding in wanted]

    def quick_fix(self, offer: Offer) -> types.CodeAction:
        title = offer.fix.title if offer.fix.safe else f"{offer.fix.title} (changes what the program computes or how)"
        return types.CodeAction(
            title=title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self.diagnostic(offer.finding)],
            is_preferred=True if offer.fix.safe and self.server.abilities.preferred_actions else None,
            edit=workspace_edit(offer.fix.edits, self.analysis, self.render),
        )

    def ignores(self) -> list[types.CodeAction]:
        """One for each rule, though it may have several findings on the line."""
        module = self.analysis.files.module(self.document.path)
        by_code = {finding.code: finding for finding in reversed(self.findings())}
        made: list[types.CodeAction] = []
        for code, finding in sorted(by_code.items()):
            edit = ignore_edit(module, finding) if module is not None else None
            if edit is not None:
                made.append(
                    types.CodeAction(
                        title=f"Ignore pallas rule {code} here",
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[self.diagnostic(finding)],
                        edit=workspace_edit([edit], self.analysis, self.render),
                    )
                )
        return made

    def fix_all(self) -> list[types.CodeAction]:
        whole = Span(self.document.path, 0, len(self.document.text.content))
        shown = set(self.analysis.findings(self.document.path))
        offers = self.analysis.session.fixes(self.document.path, whole)
        edits = compatible(offer.fix for offer in offers if offer.fix.safe and offer.finding in shown)
        if not edits:
            return []
        edit = workspace_edit(edits, self.analysis, self.render)
        return [types.CodeAction("Apply all safe pallas fixes", kind=FIX_ALL, edit=edit)]

    def confirmations(self) -> list[types.CodeAction]:
        """To ask JAX about the kernel around the cursor, as the lens over it does."""
        if not self.server.options.trusted:
            return []
        path, text = self.document.path, self.document.text
        line = text.line_of(self.asked.start)
        kernels = [kernel for kernel in self.analysis.session.kernels(path) if kernel.span.path == path]
        calls = calls_at(kernels, text, path, line, self.server.picked.get(path))
        if not calls.calls:
            return []
        command = confirm_command(self.document.uri, line, calls)
        return [types.CodeAction(command.title, kind=CONFIRM_KIND, command=command)]

    def removals(self) -> list[Offer]:
        """The fixes of ignore comments that ignore nothing."""
        module = self.analysis.files.module(self.document.path)
        if module is None:
            return []
        return [Offer(finding, fix) for finding in self.findings() if (fix := removal(module, finding))]

    def findings(self) -> list[Finding]:
        """What the file shows on the lines that are asked about."""
        lines = self.lines()
        shown = self.analysis.findings(self.document.path)
        return [finding for finding in shown if finding.span.start <= lines.end and lines.start <= finding.span.end]

    def lines(self) -> Span:
        text = self.document.text
        start = text.line_start(text.line_of(self.asked.start))
        return Span(self.document.path, start, text.line_end(text.line_of(self.asked.end)))

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """As the client has it, where it sent it along: it may compare them as a whole."""
        ours = self.render.finding(finding)
        return next((sent for sent in self.context.diagnostics if _same(sent, ours)), ours)


def _same(sent: types.Diagnostic, ours: types.Diagnostic) -> bool:
    """By the finding's identity, which survives edits above it; for a client that drops `data`, by place and words."""
    if sent.code != ours.code:
        return False
    if sent.data is not None and ours.data is not None:
        return sent.data == ours.data
    return sent.range == ours.range and sent.message == ours.message


def compatible(fixes: Iterable[Fix]) -> list[Edit]:
    """The edits of those fixes that do not touch what an earlier one edits; a fix is taken whole or not at all."""
    taken: list[Edit] = []
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in taken]
        if not any(_collide(edit, other) for edit in new for other in taken):
            taken += new
    return taken


def _collide(one: Edit, other: Edit) -> bool:
    a, b = one.span, other.span
    if a.path != b.path:
        return False
    return (a.start < b.end and b.start < a.end) or a.start == b.start
