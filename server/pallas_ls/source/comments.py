"""Directives to pallas-ls in comments: `# pallas: ignore[...]`, `# pallas: example ...`, `# pallas: target ...`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pallas_ls.source.lines import comments
from pallas_ls.source.module import Module
from pallas_ls.source.probe import quiet
from pallas_ls.source.span import Span

Kind = Literal["ignore", "example", "target", "unknown"]

_DIRECTIVE = re.compile(r"#[ \t]*pallas:[ \t]*(?:(ignore|example|target)(?![\w-]))?[ \t]*([^\r\n]*)")
_IGNORE_IDS = re.compile(r"\[([^\]\r\n]*)\]")
_CONTINUATION = re.compile(r"(?:\r\n|\r|\n)[ \t\f]*#(?![ \t]*pallas:)[ \t]?([^\r\n]*)")
_STRING_OR_BRACKET = re.compile(r""""(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|([(\[{])|([)\]}])""")


@dataclass(frozen=True, slots=True)
class Directive:
    """A comment that speaks to pallas-ls.

    Attributes:
      kind: "unknown" for a directive of any other name.
      argument: the text behind the kind: of an `ignore` its ids, separated by ", " (see `ids`); of an unknown one
        everything behind `pallas:`. Of an `example` over several comment lines, the lines joined by line breaks.
      span: from the first `#` to the end of the last comment line.
      line: of the first `#`, counted from 0.
      own_line: no code stands before it on its line.
    """

    kind: Kind
    argument: str
    span: Span
    line: int
    own_line: bool

    @property
    def ids(self) -> tuple[str, ...]:
        """The rule ids that an `ignore` names; none means all rules."""
        return tuple(filter(None, self.argument.split(", "))) if self.kind == "ignore" else ()


def directives(module: Module) -> Iterator[Directive]:
    """The directives of a file in the order of its text. Strings that look like comments are none."""
    content = module.text.content
    done = 0  # the end of the directive before: its continuation lines are its own
    for match in _DIRECTIVE.finditer(content):
        if match.start() >= done and _is_comment(module, match.start()):
            directive = _directive(module, match)
            done = directive.span.end
            yield directive


def _is_comment(module: Module, offset: int) -> bool:
    """Whether a `#` starts a comment: one between chunks always does, for only blank lines and comments stand there."""
    if (place := module.site(offset)) is None:
        return True
    chunk, inside = place
    if inside == len(chunk.text):
        return True
    with quiet():
        return any(start == inside for start, _ in comments(chunk.text, 0, len(chunk.text)))


def _directive(module: Module, match: re.Match[str]) -> Directive:
    content = module.text.content
    line = module.text.line_of(match.start())
    before = content[module.text.line_start(line) : match.start()]
    kind, argument, end = _kind(match[1]), match[2].rstrip(), match.end()
    if kind == "ignore":
        argument, known = _ignored(argument)
        kind = "ignore" if known else "unknown"
    elif kind == "example":
        argument, end = _with_continuations(content, argument, end)
    span = Span(module.path, match.start(), end)
    return Directive(kind, argument, span, line, not before.lstrip("\ufeff").strip())


def _kind(word: str | None) -> Kind:
    match word:
        case "ignore" | "example" | "target":
            return word
        case _:
            return "unknown"


def _ignored(argument: str) -> tuple[str, bool]:
    """The ids of an `ignore`, and whether it can be read: an unclosed list must not silence everything."""
    if not argument.startswith("["):
        return "", True
    match = _IGNORE_IDS.match(argument)
    ids = [name.strip() for name in match[1].split(",")] if match else []
    if match is None or not any(ids):
        return f"ignore{argument}", False
    return ", ".join(filter(None, ids)), True


def _with_continuations(content: str, argument: str, end: int) -> tuple[str, int]:
    """An example's argument with the comment lines that follow while its brackets are open, and where it ends."""
    lines = [argument]
    depth = _depth(argument)
    while depth > 0 and (match := _CONTINUATION.match(content, end)):
        lines.append(match[1].rstrip())
        depth += _depth(match[1])
        end = match.end()
    return "\n".join(lines), end


def _depth(text: str) -> int:
    """How many more brackets a text opens than it closes, strings excepted."""
    return sum((match[1] is not None) - (match[2] is not None) for match in _STRING_OR_BRACKET.finditer(text))
