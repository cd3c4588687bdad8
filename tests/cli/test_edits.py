"""Edits of texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pallas_ls.domain.finding import Edit
from pallas_ls.source.span import Span
from pallas_ls.terminal.edits import Overlapping, apply, difference


def edit(start: int, end: int, text: str) -> Edit:
    return Edit(Span("k.py", start, end), text)


@given(st.lists(st.tuples(st.text("ab\n", max_size=4), st.text("xyz", max_size=3)), max_size=6), st.randoms())
def test_edits_in_any_order_replace_each_its_own_stretch(parts: list[tuple[str, str]], random: object) -> None:
    text, expected, edits = "", "", list[Edit]()
    for old, new in parts:
        text += "|"
        expected += "|"
        edits.append(edit(len(text), len(text) + len(old), new))
        text += old
        expected += new
    random.shuffle(edits)  # type: ignore[attr-defined]
    assert apply(text, edits) == expected


def test_the_same_edit_twice_is_made_once() -> None:
    assert apply("abc", [edit(1, 2, "x"), edit(1, 2, "x")]) == "axc"


@pytest.mark.parametrize("other", [edit(0, 2, "y"), edit(1, 3, "y"), edit(2, 3, "y")])
def test_overlapping_edits_are_refused(other: Edit) -> None:
    with pytest.raises(Overlapping):
        apply("abcd", [edit(1, 3, "x"), other])


def test_inserted_lines_end_as_the_text_does() -> None:
    assert apply("a\r\nb\r\n", [edit(3, 3, "x\n")]) == "a\r\nx\r\nb\r\n"


def test_difference() -> None:
    assert difference("a\nb\n", "a\nc\n", "k.py") == ["--- k.py", "+++ k.py", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]
