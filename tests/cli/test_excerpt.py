"""Carets stand under what they mean, whatever the line is made of."""

from __future__ import annotations

import pytest

from pallas_ls.source.text import Text
from pallas_ls.terminal.excerpt import Line, excerpt


@pytest.mark.parametrize(
    ("before", "marked", "start", "width"),
    [
        ("x = ", "call()", 4, 6),
        ("\t", "call()", 4, 6),
        ("ab\t", "call()", 4, 6),
        ("'日本', ", "call()", 8, 6),
        ("'日本'\t", "call()", 8, 6),
        ("", "'日本'", 0, 6),
        ("x = ", "a\tb", 4, 5),
        ("e\u0301 = ", "y", 4, 1),
    ],
)
def test_columns(before: str, marked: str, start: int, width: int) -> None:
    text = Text(f"first\n{before}{marked} + rest\n")
    begin = len("first\n") + len(before)
    (line,) = excerpt(text, begin, begin + len(marked))
    assert (line.number, line.start, line.width) == (2, start, width)
    assert "\t" not in line.text


def test_an_empty_stretch_has_one_caret() -> None:
    assert excerpt(Text("abc\n"), 3, 3) == [Line(1, "abc", 3, 1)]


def test_lines_of_a_longer_stretch_are_marked_from_their_code_on() -> None:
    text = Text("call(\n    a,\n)\n")
    assert excerpt(text, 0, 15 - 1) == [Line(1, "call(", 0, 5), Line(2, "    a,", 4, 2), Line(3, ")", 0, 1)]


def test_the_middle_of_a_long_stretch_is_left_out() -> None:
    text = Text("".join(f"line {n}\n" for n in range(1, 21)))
    numbers = [line.number for line in excerpt(text, 0, len(text.content) - 1)]
    assert numbers == [1, 2, 3, 4, None, 20]
