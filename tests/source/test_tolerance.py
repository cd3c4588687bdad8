"""Typing on one line leaves the statements of all other lines in place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pallas_ls.source.module import Module, parse_module

from tests.source.programs import programs

KERNEL = (Path(__file__).parent / "data" / "matmul.py").read_text(encoding="utf-8")
INSERTIONS = (
    "(", ")", "[", "]", "{", "}", '"', "'", ":", "=", ".", ",", "@", "\\", "$", "?", "x ", " y", "1x", "def f(", "if", "for x",
    "with a as", "class ", "lambda", "f'{", "f\"{x", "foo(a, ", "x = ", "x.", "return", "import ", "else", "try:", "except",
)  # fmt: skip

Found = tuple[int, str]
"""A statement: the offset that it starts at and its dump."""


def simple_statements(tree: ast.AST) -> list[ast.stmt]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")
            and not isinstance(node, (ast.Match, ast.Pass))]  # fmt: skip


def found(module: Module) -> set[Found]:
    return {
        (start + chunk.range(node)[0], ast.dump(node))
        for chunk, start in zip(module.chunks, module.starts, strict=True)
        for statement in chunk.tree
        for node in simple_statements(statement)
    }


def expected(module: Module, text: str, line: int, shift: int) -> set[Found]:
    """What must survive an edit on `line`: the simple statements none of whose statements' lines is that one."""
    start, end = module.text.line_start(line), module.text.line_end(line)
    kept: set[Found] = set()
    for chunk, at in zip(module.chunks, module.starts, strict=True):
        for statement in chunk.tree:
            for node in simple_statements(statement):
                first, last = (at + offset for offset in chunk.range(node))
                if last < start or module.text.line_of(first) > module.text.line_of(end):
                    kept.add((first if last < start else first + shift, ast.dump(node)))
    return kept


@st.composite
def edit_of_one_line(draw: st.DrawFn, text: str) -> tuple[str, int, int]:
    """(the edited text, the line, by how much the text behind it moved). Indentation stays."""
    lines = text.splitlines(keepends=True)
    assume(lines)
    index = draw(st.integers(0, len(lines) - 1))
    line = lines[index].rstrip("\r\n")
    margin = len(line) - len(line.lstrip())
    at = draw(st.integers(margin, len(line)))
    until = draw(st.sampled_from((at, at, at + 1, at + 3, len(line))))
    new = line[:at] + draw(st.sampled_from(("", *INSERTIONS))) + line[max(until, at) :]
    before = "".join(lines[:index])
    edited = before + new + lines[index][len(line) :] + "".join(lines[index + 1 :])
    return edited, index, len(new) - len(line)


def check(text: str, edited: str, line: int, shift: int) -> None:
    try:
        ast.parse(edited)
    except SyntaxError:
        module = parse_module("k.py", text)
        lost = expected(module, text, line, shift) - found(parse_module("k.py", edited, module))
        assert not lost, f"line {line + 1} edited: {edited.splitlines()[line]!r}"
        assert parse_module("k.py", edited).errors


@settings(max_examples=250, deadline=None)
@given(edit_of_one_line(KERNEL))
def test_an_edit_of_a_kernel_keeps_the_other_lines(edit: tuple[str, int, int]) -> None:
    check(KERNEL, *edit)


