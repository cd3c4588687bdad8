"""Parsing a chunk, broken or not: the smallest statements that do not parse are blanked, the rest keeps its AST."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Sequence

from pallas_ls.source import layout
from pallas_ls.source.chunk import Fault
from pallas_ls.source.draft import LINE_BREAK, Row, dedented, faults_of, render, rows_of
from pallas_ls.source.lines import LogicalLine
from pallas_ls.source.probe import complaint, parse, plain_message

Parsed = tuple[tuple[ast.stmt, ...], tuple[Fault, ...]]

_ATTEMPTS = 12
"""How often the parser is asked where the next fault is before a chunk is given up as a whole."""


def parse_region(text: str, lines: Sequence[LogicalLine], header: bool) -> Parsed:
    """The statements of a region and its faults, positions counted from the region's first line.

    header: it is a class's header alone, which gets `pass` for a body.
    """
    if not any(line.broken for line in lines):
        source = dedented(text, lines)
        try:
            return tuple(parse(source + " pass" if header else source)), ()
        except SyntaxError:
            pass  # what is wrong is found out below, line by line
    return _repaired(text, lines, header)


def _repaired(text: str, lines: Sequence[LogicalLine], header: bool) -> Parsed:
    rows = rows_of(text, lines)
    layout.indent(rows)
    if header:
        _close_header(rows)
    for row in rows:
        if row.line.broken and not _heads(rows, row):
            _blank_if_broken(row)
    layout.repair_headers(rows)
    tree = _parse_blanking(rows)
    return tuple(tree), faults_of(rows, lines[0].start)


def _close_header(rows: Sequence[Row]) -> None:
    """Makes the class header that ends the rows complete with a body."""
    row = rows[-1]
    fault = complaint(row.code)
    if fault is None:
        row.code += " pass"
    else:
        row.replace(f"{layout.stand_in(row)} pass", fault)
    row.opens = False


def _heads(rows: Sequence[Row], row: Row) -> bool:
    """Whether a row has a block below it, so that `layout` finds a header to stand in for it."""
    index = rows.index(row)
    return index + 1 < len(rows) and rows[index + 1].depth > row.depth


def _parse_blanking(rows: Sequence[Row]) -> list[ast.stmt]:
    """Parses the rows; those at which the parser stops are blanked where they are at fault."""
    for attempt in range(_ATTEMPTS):
        try:
            return parse(render(rows))
        except SyntaxError as error:
            row = _row_at(rows, error.lineno or 1)
            if _blank_if_broken(row) or (attempt == 0 and _blank_all_broken(rows)):
                continue
            # Every line is fine by itself, yet they do not fit together here.
            _give_up(rows, rows.index(row), plain_message(error))
    try:
        return parse(render(rows))
    except SyntaxError as error:
        return _all_blanked(rows, plain_message(error))


def _blank_all_broken(rows: Sequence[Row]) -> bool:
    blanked = [_blank_if_broken(row) for row in rows]
    return any(blanked)


def _give_up(rows: Sequence[Row], index: int, message: str) -> None:
    """Blanks the row at `index`, or where nothing is left of it the nearest one before."""
    while index > 0 and rows[index].code.startswith(("pass", layout.PLAIN_BLOCK)):
        index -= 1
    row = rows[index]
    if row.opens:
        row.replace(layout.PLAIN_BLOCK, message)
    else:
        row.blank(message)


def _all_blanked(rows: Sequence[Row], message: str) -> list[ast.stmt]:
    for row in rows:
        row.blank(message)
        row.depth = 0
    return parse(render(rows))


def _row_at(rows: Sequence[Row], lineno: int) -> Row:
    starts: list[int] = []
    line = 1
    for row in rows:
        starts.append(line)
        line += len(LINE_BREAK.findall(row.code)) + len(LINE_BREAK.findall(row.tail))
    return rows[max(bisect_right(starts, lineno) - 1, 0)]


def _blank_if_broken(row: Row) -> bool:
    """Blanks a row that does not parse by itself; a header keeps its block by a stand-in."""
    fault = complaint(row.code)
    if fault is None:
        return False
    if row.opens and row.fault is None:
        row.replace(layout.stand_in(row), fault)
    else:
        row.blank(fault)
    return True
