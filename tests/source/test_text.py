"""Offsets, lines and columns, against Python's own codecs; and the decoding of files."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pallas_ls.source.text import Encoding, Text, UndecodableFile, decode

TEXTS = st.text(st.sampled_from("ab\n\r\té→\U0001f600\u2028\x0c"), max_size=40)
UNIT = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
ENCODINGS: st.SearchStrategy[Encoding] = st.sampled_from(("utf-8", "utf-16", "utf-32"))


def width(text: str, encoding: str) -> int:
    codec, size = UNIT[encoding]
    return len(text.encode(codec)) // size


@given(TEXTS)
def test_lines_are_those_of_lsp(content: str) -> None:
    text = Text(content)
    lines = re.split(r"\r\n|\n|\r", content)
    assert [text.line_text(line) for line in range(text.line_count)] == lines
    assert text.line_text(len(lines)) == text.line_text(-1) == ""


@given(TEXTS, ENCODINGS)
def test_a_position_leads_back_to_its_offset(content: str, encoding: Encoding) -> None:
    text = Text(content)
    for offset in range(len(content) + 1):
        line, column = text.position(offset, encoding)
        assert column == width(content[text.line_start(line) : min(offset, text.line_end(line))], encoding)
        assert text.offset(line, column, encoding) == min(offset, text.line_end(line))


@given(TEXTS, ENCODINGS, st.integers(-3, 10), st.integers(-3, 60))
def test_positions_outside_are_clamped(content: str, encoding: Encoding, line: int, column: int) -> None:
    text = Text(content)
    offset = text.offset(line, column, encoding)
    if line < 0:
        assert offset == 0
    elif line >= text.line_count:
        assert offset == len(content)
    else:
        before = content[text.line_start(line) : offset]
        assert text.line_start(line) <= offset <= text.line_end(line)
        assert width(before, encoding) <= max(column, 0)
        # It is the last such offset: one more character would be too many.
        assert offset == text.line_end(line) or width(before + content[offset], encoding) > max(column, 0)


@pytest.mark.parametrize(("offset", "position"), [(-5, (0, 0)), (99, (1, 1)), (2, (0, 1)), (3, (1, 0))])
def test_offsets_outside_and_in_line_breaks_are_clamped(offset: int, position: tuple[int, int]) -> None:
    assert Text("a\r\nb").position(offset) == position


def test_ast_columns_count_bytes() -> None:
    content = "x = 1\nf('größe→\U0001f600', b)\n"
    node = next(node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Name) and node.id == "b")
    assert content[Text(content).ast_offset(node.lineno, node.col_offset)] == "b"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("größe\r\n".encode(), "größe\r\n"),
        (b"\xef\xbb\xbfx = 1", "x = 1"),
        (b"# -*- coding: latin-1 -*-\n'\xe9'", "# -*- coding: latin-1 -*-\n'é'"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\x80",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n€",
        ),
    ],
)
def test_a_file_is_decoded_as_python_does(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\nb\n\nx = '\xe9'\n", "not UTF-8: byte 0xe9 on line 4 cannot be decoded"),
        (b"x = '\xff'\n", "not UTF-8: byte 0xff on line 1 cannot be decoded"),
        (b"# coding: klingon\n", "not readable as text: unknown encoding: klingon"),
        (b"# coding: ascii\n\n\n\xc3\xa9", "not ascii: byte 0xc3 on line 4 cannot be decoded"),
    ],
)
def test_what_cannot_be_decoded_is_said_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(UndecodableFile) as caught:
        decode(data)
    assert str(caught.value) == message
