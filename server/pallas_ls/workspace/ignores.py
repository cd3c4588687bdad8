"""Which findings a person wants to hear of: `# pallas: ignore[id]` comments, selected, ignored and per-file rules."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from ..domain.finding import Edit, Finding, Fix, Severity
from ..source.comments import Directive, directives
from ..source.module import Module
from ..source.span import Span
from .settings import Settings, suggestion

UNUSED_IGNORE = "unused-ignore"
UNKNOWN_RULE = "unknown-rule"
UNKNOWN_DIRECTIVE = "unknown-directive"
#: Codes that are no rule's, with what they mean; they can be selected and ignored as rules can.
OWN_CODES = {
    "raises": "a call whose arguments a check written by hand refuses: a `raise` or `assert` on its way certainly runs",
    "example": "a `# pallas: example` comment that cannot be read or does not fit its function",
    UNUSED_IGNORE: "a `# pallas: ignore` comment that ignores nothing",
    UNKNOWN_RULE: "a `# pallas: ignore[...]` comment that names no rule",
    UNKNOWN_DIRECTIVE: "a `# pallas:` comment that cannot be read",
}

Lines = tuple[int, int]  # first and last line, counted from 0


@dataclass(frozen=True, slots=True)
class _Ignore:
    """An `ignore` comment and the lines whose findings it silences: those that touch `spoken`, wholly or not.

    own_line: the statement below is meant; else the line it stands on.
    """

    directive: Directive
    statement: Lines
    own_line: bool

    def covers(self, first: int, last: int) -> bool:
        """Whether it speaks of a finding that stands on these lines.

        A comment above a statement, or at its first or last line, speaks of all of it; one on a line in between of
        what begins or ends there.
        """
        start, end = self.statement
        line = self.directive.line
        if self.own_line or line in self.statement:
            return start <= first <= end or start <= last <= end
        return line in (first, last)


def filtered(
    findings: Sequence[Finding],
    module: Module,
    settings: Settings,
    rule_ids: Callable[[], Iterable[str]],
    doubtful: Sequence[Span] = (),
) -> tuple[Finding, ...]:
    """The findings of a file that remain, and those about its ignore comments, sorted by place.

    `doubtful` are stretches that do not parse: whether an ignore there is of use cannot be said.
    """
    kept, own = apply_comments(findings, module, rule_ids, doubtful)
    wanted = (f for f in (*kept, *own) if is_selected(f.code, module.path, settings))
    return tuple(sorted(wanted, key=lambda f: (f.span.start, f.span.end, f.code)))


def is_selected(code: str, path: str, settings: Settings) -> bool:
    """Whether findings of a rule are reported in a file."""
    if code in settings.ignore or (settings.select and code not in settings.select):
        return False
    return not any(code in ids and _matches(pattern, path, settings.root) for pattern, ids in settings.per_file_ignores)


def apply_comments(
    findings: Sequence[Finding],
    module: Module,
    rule_ids: Callable[[], Iterable[str]],
    doubtful: Sequence[Span] = (),
) -> tuple[list[Finding], list[Finding]]:
    """The findings that no comment silences, and findings about the comments."""
    comments = list(directives(module))
    ignores = [_ignore(module, comment) for comment in comments if comment.kind == "ignore"]
    used: set[tuple[int, str]] = set()
    kept = [finding for finding in findings if not _silenced(finding, module, ignores, used)]
    lost = [_lines(module, span) for span in doubtful]
    own = list(_unknown_directives(comments))
    known = frozenset(rule_ids()) | frozenset(OWN_CODES) if ignores else frozenset[str]()
    for index, ignore in enumerate(ignores):
        doubted = any(_overlap(ignore.statement, lines) for lines in lost)
        useful = {name for place, name in used if place == index}
        own += [f for f in _about(module, ignore, useful, known) if not (doubted and f.code == UNUSED_IGNORE)]
    return kept, own


def removal(module: Module, finding: Finding) -> Fix | None:
    """The fix of an unused or unknown ignore: without the id, or without the comment; None for other findings."""
    if finding.code not in (UNUSED_IGNORE, UNKNOWN_RULE):
        return None
    comment = next((c for c in directives(module) if _contains(c.span, finding.span)), None)
    if comment is None:
        return None
    content = module.text.content
    name = content[finding.span.start : finding.span.end]
    others = [other for other in comment.ids if other != name]
    if finding.span != comment.span and others:
        text = content[comment.span.start : comment.span.end]
        opening, closing = text.index("["), text.index("]")
        replaced = f"{text[: opening + 1]}{', '.join(others)}{text[closing:]}"
        return Fix(f"Remove {name} from the ignore", True, (Edit(comment.span, replaced),))
    return Fix("Remove the ignore", True, (Edit(_with_blank(module, comment), ""),))


def _with_blank(module: Module, comment: Directive) -> Span:
    """The comment with the blank before it, or the whole line where it stands alone."""
    content, text = module.text.content, module.text
    if comment.own_line:
        return Span(comment.span.path, text.line_start(comment.line), text.line_start(comment.line + 1))
    start = comment.span.start
    while start > 0 and content[start - 1] in " \t":
        start -= 1
    return Span(comment.span.path, start, comment.span.end)


def _silenced(finding: Finding, module: Module, ignores: list[_Ignore], used: set[tuple[int, str]]) -> bool:
    first, last = _lines(module, finding.span)
    silenced = False
    for index, ignore in enumerate(ignores):
        ids = ignore.directive.ids
        if (not ids or finding.code in ids) and ignore.covers(first, last):
            used.add((index, finding.code if ids else ""))
            silenced = True
    return silenced


def _about(module: Module, ignore: _Ignore, useful: set[str], known: frozenset[str]) -> Iterator[Finding]:
    """What is wrong with an ignore. `useful`: the ids that silenced something, "" for a comment without ids."""
    comment = ignore.directive
    for name in comment.ids or ("",):
        span = _id_span(module, comment, name)
        if name and name not in known:
            message = f"there is no rule {name!r}{suggestion(name, known)}; `pallas-ls rule` lists them"
            yield Finding(UNKNOWN_RULE, Severity.WARNING, span, message)
        elif name not in useful:
            what = f"no {name}" if name else "nothing"
            yield Finding(UNUSED_IGNORE, Severity.WARNING, span, f"this ignore is of no use: there is {what} here")


def _unknown_directives(comments: list[Directive]) -> Iterator[Finding]:
    for comment in comments:
        if comment.kind == "unknown":
            word = comment.argument.split()[0] if comment.argument else ""
            message = (
                f"`# pallas: {word}` cannot be read: write `ignore[rule-id, ...]`, `example f(x: f32[64, 128])` "
                "or `target sm_90a`"
            )
            yield Finding(UNKNOWN_DIRECTIVE, Severity.WARNING, comment.span, message)


def _id_span(module: Module, comment: Directive, name: str) -> Span:
    """Where an id stands in its comment; the whole comment where it names none."""
    text = module.text.content[comment.span.start : comment.span.end]
    found = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text[text.find("[") + 1 :]) if name else None
    if found is None:
        return comment.span
    start = comment.span.start + text.find("[") + 1 + found.start()
    return Span(comment.span.path, start, start + len(name))


def _ignore(module: Module, comment: Directive) -> _Ignore:
    line = _next_code_line(module, comment.line) if comment.own_line else comment.line
    return _Ignore(comment, _statement(module, line), comment.own_line)


def _next_code_line(module: Module, line: int) -> int:
    """The first line below that is neither blank nor a comment."""
    text = module.text
    for candidate in range(line + 1, text.line_count):
        code = text.line_text(candidate).strip()
        if code and not code.startswith("#"):
            return candidate
    return line


def _statement(module: Module, line: int) -> Lines:
    """First and last line of the smallest statement that a line belongs to; of one with a body, its header alone."""
    indent = len(module.text.line_text(line)) - len(module.text.line_text(line).lstrip())
    place = module.site(module.text.line_start(line) + indent)
    if place is None:
        return line, line
    chunk, _ = place
    base = module.text.line_of(module.start(chunk.key)) - 1  # the tree's lines count from 1
    best: Lines = (line, line)
    for top in chunk.tree:
        for node in ast.walk(top):
            if isinstance(node, ast.stmt):
                first, last = _header(node)
                if first + base <= line <= last + base:
                    best = (first + base, last + base)  # ast.walk goes from the outer to the inner
    return best


def _header(node: ast.stmt) -> Lines:
    """Lines of a statement without the statements of its body; decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    body: list[ast.stmt] | list[ast.match_case] = getattr(node, "body", None) or getattr(node, "cases", None) or []
    if not body:
        return first, node.end_lineno or node.lineno
    inner = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else _first_line(body[0])
    return first, max(first, inner - 1) if inner > node.lineno else node.lineno


def _first_line(node: ast.stmt) -> int:
    return _header(node)[0]


def _lines(module: Module, span: Span) -> Lines:
    return module.text.line_of(span.start), module.text.line_of(max(span.start, span.end - 1))


def _overlap(one: Lines, other: Lines) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _contains(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _matches(pattern: str, path: str, root: str) -> bool:
    relative = os.path.relpath(path, root or os.path.dirname(path)).replace(os.sep, "/")
    return not relative.startswith("../") and GitIgnoreSpec.from_lines([pattern]).match_file(relative)
