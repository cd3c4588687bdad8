"""Arguments are added to calls, and taken out of them, in the calls' own manner."""

from __future__ import annotations

import pytest

from pallas_ls.fixes.call_text import argument_end, function_prefix, insertion, keyword, removal
from pallas_ls.fixes.candidate import apply_edits, edits_between


@pytest.mark.parametrize(
    ("call", "longer"),
    [
        ("f()", "f(z=1)"),
        ("f(a)", "f(a, z=1)"),
        ("f(a, g(b))", "f(a, g(b), z=1)"),
        ("f(a,\n  b)", "f(a,\n  b, z=1)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    z=1,\n)"),
        ("f(\n    a,\n    g(\n      b))", "f(\n    a,\n    g(\n      b), z=1)"),
        ("f(\n    a,  # (why\n    b  # so)\n)", "f(\n    a,  # (why\n    b,\n    z=1  # so)\n)"),
        ("f('é', a)", "f('é', a, z=1)"),
    ],
)
def test_an_argument_is_added_at_the_end(call: str, longer: str) -> None:
    found = insertion(call, "z=1")
    assert found is not None
    assert call[: found[0]] + found[1] + call[found[0] :] == longer


def test_what_is_no_call_gets_no_argument() -> None:
    assert insertion("f", "z=1") is None
    assert insertion("f(", "z=1") is None


@pytest.mark.parametrize(
    ("call", "argument", "shorter"),
    [
        ("f(a, b)", "b", "f(a)"),
        ("f(a, b)", "a", "f(b)"),
        ("f(a, key=(b, 1), c=2)", "(b, 1)", "f(a, c=2)"),
        ("f(\n    a,\n    b,\n)", "b", "f(\n    a,\n)"),
        ("f(key=b)", "b", "f()"),
    ],
)
def test_an_argument_is_taken_out_with_its_keyword_and_comma(call: str, argument: str, shorter: str) -> None:
    at = call.index(argument)
    start, end = removal(call, at, at + len(argument))
    assert call[:start] + call[end:] == shorter


def test_a_keyword_is_found_in_its_own_call() -> None:
    call = "f(g(mask=1), mask=h(2, 3), other=4)"
    found = keyword(call, "mask")
    assert found is not None
    assert (found[0].start, call[found[1].start : argument_end(call, found[1].start)]) == (13, "h(2, 3)")
    assert keyword(call, "h") is None


def test_the_prefix_is_how_the_file_spells_the_module() -> None:
    assert function_prefix("plgpu.SMEM((1,), jnp.int8)") == "plgpu."
    assert function_prefix("pl.mosaic.SMEM(\n  1)") == "pl.mosaic."
    assert function_prefix("SMEM(1)") == ""
    assert function_prefix("table[0](1)") is None


def test_edits_between_two_texts_make_one_the_other() -> None:
    old = "a = 1\nb = 2\nc = 3\n"
    new = "a = 1\nb = 20\nnew\nc = 3\nd"
    edits = edits_between("m.py", old, new)
    assert apply_edits(old, edits) == new
    assert [e.text for e in edits] == ["0\nnew", "d"]


def test_an_added_line_ends_as_the_others_do() -> None:
    assert insertion("f(\r\n\ta,\r\n)", "b=1") == (7, "\r\n\tb=1,")
