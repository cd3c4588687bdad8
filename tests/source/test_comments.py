"""Comment directives: their kinds and arguments, and what is none."""

from __future__ import annotations

import pytest

from pallas_ls.source.comments import Directive, directives
from pallas_ls.source.module import parse_module


def read(text: str) -> list[Directive]:
    return list(directives(parse_module("m.py", text)))


@pytest.mark.parametrize(
    ("comment", "kind", "argument", "ids"),
    [
        ("# pallas: ignore", "ignore", "", ()),
        ("#pallas:ignore", "ignore", "", ()),
        ("# pallas: ignore[smem-limit]", "ignore", "smem-limit", ("smem-limit",)),
        ("# pallas: ignore[a, b-c ,d]  since JAX 0.12", "ignore", "a, b-c, d", ("a", "b-c", "d")),
        ("# pallas: target sm_100a jax 0.12", "target", "sm_100a jax 0.12", ()),
        ("# pallas: example f(a: bf16[8, 8])", "example", "f(a: bf16[8, 8])", ()),
        ("# pallas: frobnicate x", "unknown", "frobnicate x", ()),
        ("# pallas: ignored", "unknown", "ignored", ()),
        ("# pallas: ignore[a", "unknown", "ignore[a", ()),
        ("# pallas: ignore[]", "unknown", "ignore[]", ()),
        ("# pallas:", "unknown", "", ()),
    ],
)
def test_a_directive_is_read(comment: str, kind: str, argument: str, ids: tuple[str, ...]) -> None:
    [directive] = read(f"x = 1\n{comment}\ny = 2\n")
    assert (directive.kind, directive.argument, directive.ids) == (kind, argument, ids)
    assert (directive.span.start, directive.span.end) == (6, 6 + len(comment))
    assert (directive.line, directive.own_line) == (1, True)


def test_a_directive_may_stand_behind_code() -> None:
    [inside, behind] = read("f(\n  a,  # pallas: ignore\n)\nx = '#'  # pallas: ignore[b]")
    assert [(d.line, d.own_line) for d in (inside, behind)] == [(1, False), (3, False)]


def test_strings_hold_no_directives() -> None:
    assert (
        read('x = "# pallas: ignore"\n"""\n# pallas: ignore\n"""\ndef f():\n    return f\'# pallas: target {x}\'\n')
        == []
    )


def test_an_example_goes_on_while_its_brackets_are_open() -> None:
    text = "# pallas: example f(a: bf16[8, 8],\n#   b=Config(')',\n#   tile_m=1))\n# prose\n# pallas: ignore\n"
    [example, ignore] = read(text)
    assert example.argument == "f(a: bf16[8, 8],\n  b=Config(')',\n  tile_m=1))"
    assert text[example.span.start : example.span.end].endswith("tile_m=1))")
    assert ignore.line == 4


def test_an_open_example_does_not_take_the_next_directive() -> None:
    assert [d.kind for d in read("# pallas: example f(a,\n# pallas: ignore\n")] == ["example", "ignore"]


def test_directives_are_found_in_text_that_does_not_parse() -> None:
    text = (
        "def f(:\n    # pallas: ignore\n    x = (1,\n    y = 'a # pallas: target no\n# pallas: target sm_90a\nz = 1\n"
    )
    assert [(d.kind, d.line) for d in read(text)] == [("ignore", 1), ("target", 4)]


def test_a_byte_order_mark_is_no_code() -> None:
    [directive] = read("\ufeff# pallas: ignore\n")
    assert directive.own_line
