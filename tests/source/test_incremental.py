"""A parse after an edit equals a parse from scratch, and reuses what the edit did not reach."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from pallas_ls.source.module import Module, parse_module
from pallas_ls.source.text import Text
from tests.source.programs import edits, programs


def content(module: Module) -> list[object]:
    return [
        *(
            (chunk.key, start, chunk.text, chunk.members, chunk.faults, chunk.digest, dumps(chunk.tree))
            for chunk, start in zip(module.chunks, module.starts, strict=True)
        ),
        module.errors,
    ]


def dumps(tree: tuple[ast.stmt, ...]) -> list[str]:
    return [ast.dump(node, include_attributes=True) for node in tree]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_incremental_parse_equals_fresh_parse(data: st.DataObject) -> None:
    text = data.draw(programs())
    module = parse_module("m.py", text)
    for _ in range(data.draw(st.integers(1, 4))):
        text = data.draw(edits(text))
        module = parse_module("m.py", text, module)
        assert content(module) == content(parse_module("m.py", text))


@settings(max_examples=60, deadline=None)
@given(programs(), programs())
def test_a_replaced_text_parses_as_if_fresh(before: str, after: str) -> None:
    module = parse_module("m.py", after, parse_module("m.py", before))
    assert content(module) == content(parse_module("m.py", after))


@settings(max_examples=120, deadline=None)
@given(programs())
def test_a_valid_program_has_the_tree_that_ast_gives(text: str) -> None:
    module = parse_module("m.py", text)
    assert module.errors == ()
    assert positions_in_file(module) == positions_by_ast(text)


def positions_in_file(module: Module) -> list[tuple[str, int, int]]:
    return sorted(
        (type(node).__name__, start + chunk.range(node)[0], start + chunk.range(node)[1])
        for chunk, start in zip(module.chunks, module.starts, strict=True)
        for statement in chunk.tree
        for node in located(statement)
    )


def positions_by_ast(text: str) -> list[tuple[str, int, int]]:
    lines = Text(text)
    return sorted(
        (
            type(node).__name__,
            lines.ast_offset(node.lineno, node.col_offset),
            lines.ast_offset(node.end_lineno or 0, node.end_col_offset or 0),
        )
        for node in located(ast.parse(text))
    )


def located(tree: ast.AST) -> list[ast.stmt | ast.expr]:
    """Nodes with comparable positions: no class (only its header is in its chunk), no placeholder."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.stmt, ast.expr))]
    return [node for node in nodes if not isinstance(node, (ast.ClassDef, ast.Pass))]


def test_only_the_edited_chunk_is_made_anew() -> None:
    text = "import a\n\nclass C:\n    x = 1\n\n    def f(self):\n        return 1\n\nN = 3\n\ndef g():\n    pass\n"
    before = parse_module("m.py", text)
    after = parse_module("m.py", text.replace("return 1", "return 22"), before)
    assert [chunk.key for chunk in after.chunks] == [
        "import a", "class C", "class C.x =", "class C.def f", "N =", "def g",
    ]  # fmt: skip
    same = [new is old for new, old in zip(after.chunks, before.chunks, strict=True)]
    assert same == [True, True, True, False, True, True]
    assert after.start("def g") == before.start("def g") + 1


def test_a_chunk_inserted_between_others_leaves_them_as_they_are() -> None:
    text = "a = 1\nif a:\n    pass\nb = 2\n"
    before = parse_module("m.py", text)
    after = parse_module("m.py", text.replace("b =", "def f(): pass\nb ="), before)
    assert [chunk for chunk in after.chunks if chunk.key != "def f"] == list(before.chunks)
    assert {id(chunk) for chunk in before.chunks} <= {id(chunk) for chunk in after.chunks}
