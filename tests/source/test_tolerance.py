"""Typing on one line leaves the statements of all other lines in place."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pallas_ls.source.module import Module, parse_module
from tests.source.programs import edits, programs

KERNEL = (Path(__file__).parent / "data" / "matmul.py").read_text(encoding="utf-8")
INSERTIONS = (
    "(", ")", "[", "]", "{", "}", '"', "'", ":", "=", ".", ",", "@", "\\", "$", "?", "x ", " y", "1x", "def f(", "if",
    "for x", "with a as", "class ", "lambda", "f'{", "f\"{x", "foo(a, ", "x = ", "x.", "return", "import ", "else",
    "try:", "except",
)  # fmt: skip

Found = tuple[int, str]
"""A statement: the offset that it starts at and its dump."""


def simple_statements(module: Module) -> list[tuple[int, int, str]]:
    """(start, end, dump) of every statement that holds no others, placeholders left out."""
    return [
        (start + chunk.range(node)[0], start + chunk.range(node)[1], ast.dump(node))
        for chunk, start in zip(module.chunks, module.starts, strict=True)
        for statement in chunk.tree
        for node in ast.walk(statement)
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and not isinstance(node, (ast.Match, ast.Pass))
    ]


def found(module: Module) -> set[Found]:
    return {(start, dump) for start, _, dump in simple_statements(module)}


def must_survive(module: Module, line: int, shift: int) -> set[Found]:
    """The simple statements that do not touch the edited line, at their places behind the edit.

    Left out is the first statement beneath a header on that line: where the edit leaves a bracket open or a backslash
    at the end, nothing tells it from the header's continuation.
    """
    start, end = module.text.line_start(line), module.text.line_end(line)
    beneath = min((first for first, _, _ in simple_statements(module) if first > end), default=-1)
    deeper = beneath - module.text.line_start(module.text.line_of(beneath)) > margin(module.text.line_text(line))
    return {
        (first if last < start else first + shift, dump)
        for first, last, dump in simple_statements(module)
        if last < start or (first > end and not (first == beneath and deeper))
    }


def margin(line: str) -> int:
    return len(line) - len(line.lstrip())


@st.composite
def edit_of_one_line(draw: st.DrawFn, text: str) -> tuple[str, int, int]:
    """(the edited text, the line, by how much the text behind it moved). Indentation stays."""
    lines = text.splitlines(keepends=True)
    assume(lines)
    index = draw(st.integers(0, len(lines) - 1))
    line = lines[index].rstrip("\r\n")
    at = draw(st.integers(margin(line), len(line)))
    until = draw(st.sampled_from((at, at, at + 1, at + 3, len(line))))
    new = line[:at] + draw(st.sampled_from(("", *INSERTIONS))) + line[max(until, at) :]
    before = "".join(lines[:index])
    edited = before + new + lines[index][len(line) :] + "".join(lines[index + 1 :])
    return edited, index, len(new) - len(line)


@settings(max_examples=250, deadline=None)
@given(edit_of_one_line(KERNEL))
def test_an_edit_of_a_kernel_keeps_the_other_lines(edit: tuple[str, int, int]) -> None:
    edited, line, shift = edit
    assume(not parses(edited))
    module = parse_module("k.py", KERNEL)
    after = parse_module("k.py", edited, module)
    lost = must_survive(module, line, shift) - found(after)
    assert not lost, f"line {line + 1} edited: {edited.splitlines()[line]!r}"
    assert after.errors


@pytest.mark.parametrize("comment", ["", "  # elements"])
def test_a_half_typed_def_in_a_class_does_not_swallow_the_fields_beneath(comment: str) -> None:
    """All but the first, which may well be its parameter; a parameter behind a comma stays one."""
    text = f"class Config:\n    s: int = 2\ndef f(\n m: int = 128{comment}\n n: int = 64\n k: int = 8\n\nN = 3\n"
    nodes = [node for chunk in parse_module("k.py", text).chunks for s in chunk.tree for node in ast.walk(s)]
    assert {"n: int = 64", "k: int = 8", "N = 3"} <= {ast.unparse(n) for n in nodes if isinstance(n, ast.stmt)}
    complete = f"def f(\n    m: int = 128,{comment}\n    n: int = 64,\n): pass\n"
    assert sources(complete) == [ast.unparse(ast.parse(complete))]


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_there_are_errors_exactly_where_a_text_does_not_parse(data: st.DataObject) -> None:
    text = data.draw(edits(data.draw(programs())))
    assert bool(parse_module("k.py", text).errors) != parses(text)


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError):
        return False
    return True


def faults(text: str) -> list[tuple[str, str]]:
    module = parse_module("k.py", text)
    return [(text[error.span.start : error.span.end], error.message) for error in module.errors]


def keys(text: str) -> list[str]:
    return [chunk.key for chunk in parse_module("k.py", text).chunks]


def sources(text: str) -> list[str]:
    """The chunks as they were understood."""
    return ["; ".join(map(ast.unparse, chunk.tree)) for chunk in parse_module("k.py", text).chunks]


@pytest.mark.parametrize(
    "broken",
    ["y = f(", "y = [1, 2", 'y = "abc', "y = ", "y = f(a))", "y.", "if y", "y = {'a': f(", "y = f'{a", "1y", "y = (']"],
)
def test_a_broken_line_inside_a_function_is_blanked_alone(broken: str) -> None:
    text = f"def f(a):\n    x = 1\n    for i in a:\n        {broken}\n        z = 2\n    return z\n\nN = 3\n"
    function = "def f(a):\n    x = 1\n    for i in a:\n        pass\n        z = 2\n    return z"
    assert keys(text) == ["def f", "N ="]
    assert sources(text) == [function, "N = 3"]
    assert [fault for fault, _ in faults(text)] == [broken.strip()]


DEFINED = "def f(*_, **__):\n    x = 1\n    return x"
PLAIN = "if 1:\n    x = 1\n    return x"


@pytest.mark.parametrize(
    ("header", "tree"),
    [
        ("def f(", DEFINED),
        ("def f(a, b", DEFINED),
        ("def f", DEFINED),
        ("for i in", PLAIN),
        ("with f(a) as", PLAIN),
        ("if x", PLAIN),
        ("try:", PLAIN),
        ("else:", PLAIN),
    ],
)
def test_a_broken_header_keeps_its_body(header: str, tree: str) -> None:
    text = f"A = 1\n{header}\n    x = 1\n    return x\nB = 2\n"
    assert sources(text) == ["A = 1", tree, "B = 2"]
    assert [fault for fault, _ in faults(text)] == [header]


@pytest.mark.parametrize(
    "header", ["def f():", "if x:", "for i in x:", "with x:", "while x:", "class C:", "async def f():"]
)
def test_a_header_without_a_body_takes_no_other_statement_for_it(header: str) -> None:
    text = f"A = 1\n{header}\nB = 2\n"
    assert sources(text) == ["A = 1", f"{header}\n    pass", "B = 2"]
    assert [fault for fault, _ in faults(text)] == [header]


@pytest.mark.parametrize(
    "rest", ["import a", "from b import c", "@d\ndef f():\n    pass", "class C:\n    y = 1", "N = 3"]
)
@pytest.mark.parametrize("opened", ["x = f(", "x = {", "x = '''", 'x = """doc', "x = 'a", "class D(", "x = \\"])
def test_what_stays_open_ends_where_a_statement_begins(opened: str, rest: str) -> None:
    following = f"{rest}\n\nM = 4\n"
    assert keys(f"{opened}\n\n{following}")[1:] == keys(following)


@pytest.mark.parametrize("definition", ["def f():\n    x = 1", "class C:\n    x = 1"])
@pytest.mark.parametrize("decorator", ["@", "@f(", "@f(a, b=[1)", "@'"])
def test_a_broken_decorator_keeps_what_it_decorates(decorator: str, definition: str) -> None:
    text = f"{decorator}\n{definition}\nM = 4\n"
    assert keys(text) == keys(f"{definition}\nM = 4\n")
    assert [fault for fault, _ in faults(text)] == [decorator]


def test_a_new_triple_quote_does_not_turn_code_into_text() -> None:
    assert set(keys(KERNEL)[1:]) <= set(keys(f'"""\n{KERNEL}'))


def test_code_inside_a_string_is_no_code() -> None:
    text = 'SOURCE = """\ndef f():\n    return 1\n"""\nN = 1\n'
    assert keys(text) == ["SOURCE =", "N ="]
    assert faults(text) == []


def test_a_line_that_lost_its_indentation_does_not_end_the_function() -> None:
    text = "def f():\n    x = 1\nprint(x)\n    return x\n"
    assert sources(text) == ["def f():\n    x = 1\n    pass\n    return x"]
    assert faults(text) == [("print(x)", "unindent does not match any outer indentation level")]


def test_a_line_that_lost_its_indentation_does_not_end_the_class() -> None:
    text = "class C:\n    x = 1\n\ny = 3\n\n    z = 2\n    def f(self):\n        pass\n"
    assert keys(text) == ["class C", "class C.x =", "y =", "class C.z =", "class C.def f"]
    assert faults(text) == [("z = 2", "unexpected indent")]


@pytest.mark.parametrize(
    "text", ["\0", "x = '\ud800'\ny = 1", "(" * 5000, "-" * 100_000 + "1", "\\", "    x", "\t\tx\n    y", "@", ")"]
)
def test_nothing_is_too_strange_to_be_answered(text: str) -> None:
    assert parse_module("k.py", text).errors


NEWER = [
    ("type X = int", "type X"),
    ("def f[T](a: T) -> T:\n    return a", "def f"),
    ("class C[T](Base):\n    x = 1", "class C"),
    ('x = f"{d["k"]}"', "x ="),
]


@pytest.mark.parametrize(("text", "key"), NEWER)
def test_newer_syntax_is_read_or_said_to_be_newer(text: str, key: str) -> None:
    module = parse_module("k.py", f"A = 1\n{text}\nB = 2\n")
    found_keys = [chunk.key for chunk in module.chunks]
    assert (found_keys[:2], found_keys[-1]) == (["A =", key], "B =")
    newer = "this is Python 3.12 syntax; pallas-ls runs on 3.11"
    assert [error.message for error in module.errors] == ([] if sys.version_info >= (3, 12) else [newer])


def test_a_generic_function_keeps_its_parameters_and_body_in_older_python() -> None:
    [function] = parse_module("k.py", "def f[T: (int, str)](a: T) -> T:\n    return a\n").chunks
    assert ast.unparse(function.tree[0]).endswith("(a: T) -> T:\n    return a")
