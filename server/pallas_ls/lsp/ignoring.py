"""The comment `# pallas: ignore[id]` for one finding, and the proof that it silences it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..domain.finding import Edit, Finding
from ..source.comments import directives
from ..source.module import Module, parse_module
from ..source.span import Span
from ..workspace.ignores import apply_comments
from .analysis import rule_ids


def ignore_edit(module: Module, finding: Finding) -> Edit | None:
    """The first edit that silences the finding; None where no place for a comment does (inside a long string, say)."""
    return next((edit for edit in _candidates(module, finding) if _silences(module, finding, edit)), None)


def _candidates(module: Module, finding: Finding) -> Iterator[Edit]:
    """At the end of its first line, of its last one, above the statement."""
    text = module.text
    first = text.line_of(finding.span.start)
    last = text.line_of(max(finding.span.start, finding.span.end - 1))
    for line in dict.fromkeys((first, last)):
        yield _longer_list(module, line, finding.code) or _comment_behind(module, line, finding.code)
    start = text.line_start(first)
    indent = re.match(r"[ \t]*", text.line_text(first))
    yield Edit(Span(module.path, start, start), f"{indent[0] if indent else ''}# pallas: ignore[{finding.code}]\n")


def _comment_behind(module: Module, line: int, code: str) -> Edit:
    end = module.text.line_end(line)
    stop = module.text.line_start(line) + len(module.text.line_text(line).rstrip())
    return Edit(Span(module.path, stop, end), f"  # pallas: ignore[{code}]")


def _longer_list(module: Module, line: int, code: str) -> Edit | None:
    """The id put into the list of a comment that stands there already."""
    for comment in directives(module):
        if comment.line == line and comment.kind == "ignore" and comment.ids:
            text = module.text.content[comment.span.start : comment.span.end]
            at = comment.span.start + text.index("]")
            return Edit(Span(module.path, at, at), f", {code}")
    return None


def _silences(module: Module, finding: Finding, edit: Edit) -> bool:
    content = module.text.content
    edited = content[: edit.span.start] + edit.text + content[edit.span.end :]
    after = parse_module(module.path, edited, module)
    kept, _ = apply_comments([_moved(finding, edit)], after, rule_ids)
    return not kept and len(after.errors) <= len(module.errors)


def _moved(finding: Finding, edit: Edit) -> Finding:
    """The finding where it stands after the edit."""
    grown = len(edit.text) - (edit.span.end - edit.span.start)
    start, end = (at + grown if at > edit.span.start else at for at in (finding.span.start, finding.span.end))
    if edit.span.start == finding.span.start and edit.span.end == edit.span.start and edit.text.endswith("\n"):
        start += grown
    return replace(finding, span=Span(finding.span.path, start, end))
