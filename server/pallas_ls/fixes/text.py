"""Expressions and statements as text, taken apart."""

from __future__ import annotations

import ast

from ..domain.finding import Edit
from ..source.span import Site, Span
from .call_text import tokens
from .candidate import Repair, is_primary


def parsed(text: str) -> ast.expr | None:
    """An expression that may span lines."""
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def subscript(text: str) -> tuple[str, list[str]] | None:
    """(what is indexed, the indices) of `acc.at[0:64, :]`."""
    node = parsed(text)
    if not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return ast.unparse(node.value), [ast.unparse(p) for p in parts]


def whole(text: str) -> str | None:
    """What is taken as a whole: "acc" of `acc[...]`."""
    found = subscript(text)
    return found[0] if found is not None and set(found[1]) <= {"...", ":", "Ellipsis"} else None


def called(repair: Repair, site: Site, function: str) -> tuple[Edit, ...]:
    """An edit that calls another function with the same arguments."""
    span = repair.locate(site)
    text = repair.text(span) if span is not None else ""
    node = parsed(text)
    if span is None or not isinstance(node, ast.Call):
        return ()
    opening = next((t for t in tokens(text) if t.text == "("), None)
    if opening is None or isinstance(node.func, ast.Call):
        return ()
    return (repair.edit(Span(span.path, span.start, span.start + opening.start), function),)


def assigned(repair: Repair, target: Site) -> Span | None:
    """Where the value of `target = value` stands."""
    span = repair.locate(target)
    if span is None:
        return None
    rest = repair.text(Span(span.path, span.end, span.end + (1 << 14)))
    gap = len(rest) - len(rest.lstrip(" \t"))
    if rest[gap : gap + 1] != "=" or rest[gap + 1 : gap + 2] == "=":
        return None
    text = rest[gap + 1 :]
    lines = text.splitlines(keepends=True)
    for i in range(1, min(len(lines), 64) + 1):
        node = parsed("".join(lines[:i]))
        if node is not None:
            found = _within("".join(lines[:i]), node)
            start = span.end + gap + 1
            return Span(span.path, start + found[0], start + found[1])
    return None


def _within(text: str, node: ast.expr) -> tuple[int, int]:
    """The stretch of a text, put in brackets, that a node of it takes (without brackets of its own around it)."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(row: int, column: int) -> int:
        line = f"({text}"[starts[row - 1] + (row > 1) : starts[row] + 1]
        return starts[row - 1] + len(line.encode()[:column].decode()) - (row == 1)

    return offset(node.lineno, node.col_offset), offset(node.end_lineno or 1, node.end_col_offset or 0)


def with_method(repair: Repair, span: Span, suffix: str) -> Edit:
    """An edit that appends `.astype(...)` to an expression, in brackets where it needs them."""
    old = repair.text(span)
    return repair.edit(span, (old if is_primary(old) else f"({old})") + suffix)


def statement(repair: Repair, site: Site) -> tuple[Span, str] | None:
    """(the statement's span, its indentation), where an expression is a statement of its own."""
    span = repair.locate(site)
    if span is None:
        return None
    indent = repair.line_before(span)
    rest = repair.text(Span(span.path, span.end, span.end + 400)).split("\n", 1)[0].strip()
    return (span, indent) if not indent.strip() and (not rest or rest.startswith("#")) else None
