"""Making the block structure of a broken chunk regular: indentation, headers without bodies, clauses without heads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pallas_ls.source.dialect import newer_syntax, without_type_parameters
from pallas_ls.source.draft import Row
from pallas_ls.source.probe import complaint
from pallas_ls.source.split import CLAUSES, HEADERS

_FOLLOWERS: dict[str, dict[str, str]] = {
    # By the state of a compound statement: the clauses that may follow, and the state after each.
    "if": {"elif": "if", "else": "done"},
    "for": {"else": "done"},
    "while": {"else": "done"},
    "try": {"except": "except", "finally": "done"},
    "except": {"except": "except", "else": "closing", "finally": "done"},
    "closing": {"finally": "done"},
}
_STAND_IN = {
    "elif": "elif 1:",
    "else": "else:",
    "except": "except Exception:",
    "finally": "finally:",
    "case": "case _:",
    "def": "def _(*_, **__):",
    "class": "class _:",
}
PLAIN_BLOCK = "if 1:"
_NAME = re.compile(r"((?:async[ \t]+)?(?:def|class))[ \t]+([^\W\d]\w*)")
_UNEXPECTED = "unexpected indent"
_UNMATCHED = "unindent does not match any outer indentation level"


def indent(rows: Sequence[Row]) -> None:
    """Gives every row its depth; rows at no level of their own join the block that they stand in or next to."""
    levels = [rows[0].line.indent]
    for index, row in enumerate(rows[1:], start=1):
        column, before = row.line.indent, rows[index - 1]
        following = rows[index + 1].line.indent if index + 1 < len(rows) else -1
        if column > levels[-1]:
            if _may_open(before) and before.depth == len(levels) - 1:
                levels.append(column)
            else:
                row.fault = _UNEXPECTED
        elif column < levels[-1]:
            if following in levels and following > column and not _may_open(row) and row.word != "@":
                _misplace(row, len(levels) - 1)
                continue
            _close_levels(levels, column, row)
        row.depth = len(levels) - 1
        if len(row.margin) < row.depth:  # tabs and spaces mixed: no room for the indentation
            row.blank(_UNMATCHED)


def _may_open(row: Row) -> bool:
    return row.opens or row.word in HEADERS


def _misplace(row: Row, depth: int) -> None:
    row.depth = depth
    if len(row.margin) < depth:
        row.blank(_UNMATCHED)
    row.fault = _UNMATCHED


def _close_levels(levels: list[int], column: int, row: Row) -> None:
    closed = levels[-1]
    while len(levels) > 1 and levels[-1] > column:
        closed = levels.pop()
    if levels[-1] < column:
        levels.append(closed)
        row.fault = _UNMATCHED
    elif levels[-1] > column:  # left of the chunk's own level
        row.blank(_UNMATCHED)


def repair_headers(rows: Sequence[Row]) -> None:
    """Makes headers, clauses and decorators fit together; needs depths. Statements in the bodies are left alone."""
    for index, row in enumerate(rows):
        has_body = index + 1 < len(rows) and rows[index + 1].depth > row.depth
        following = rows[index + 1] if index + 1 < len(rows) else None
        if has_body:
            _repair_header(row)
        elif row.word == "@":
            if following is None or following.depth != row.depth or following.word not in ("@", "def", "class"):
                row.blank("expected a function or a class after this decorator")
        elif row.opens:
            _give_body(row)
    _repair_clauses(rows)
    _repair_matches(rows)


def _repair_header(row: Row) -> None:
    fault = complaint(row.code) if row.opens else "expected ':'"
    if fault is None:
        return
    readable = without_type_parameters(row.code)
    if readable is not None and row.opens and complaint(readable) is None:
        row.code, row.fault = readable, newer_syntax(row.code) or fault
        return
    wrong = complaint(row.code)
    row.replace(stand_in(row), wrong or fault)


def _give_body(row: Row) -> None:
    fault = complaint(row.code)
    if fault is None:
        row.append(" pass", f"expected an indented block after this '{row.word}'")
    elif row.word in CLAUSES or row.word == "case":
        row.replace(f"{stand_in(row)} pass", fault)
    else:
        row.blank(fault)


def stand_in(row: Row) -> str:
    """A header that opens the same kind of block as a broken one."""
    match = _NAME.match(row.code)
    if match is not None:
        name = match[2] if match[2].isidentifier() else "_"
        stand = f"{match[1]} {name}" + ("(*_, **__):" if match[1].endswith("def") else ":")
        return stand if complaint(stand) is None else PLAIN_BLOCK
    return _STAND_IN.get(row.word, PLAIN_BLOCK)


def _repair_clauses(rows: Sequence[Row]) -> None:
    """Turns clauses without a head, and `try` without a clause, into plain blocks."""
    states: list[str] = []  # by depth
    tries: dict[int, Row] = {}  # by depth: the `try` that still lacks its clause
    for row in rows:
        for depth in [depth for depth in tries if depth > row.depth]:
            _demote_try(tries.pop(depth))
        del states[row.depth + 1 :]
        states += [""] * (row.depth + 1 - len(states))
        keyword = _keyword(row.code)
        if keyword in CLAUSES:
            state = _FOLLOWERS.get(states[row.depth], {}).get(keyword)
            if state is None:
                _demote(row, f"'{keyword}' does not belong to a statement before it")
                state = "if"
            else:
                tries.pop(row.depth, None)
        else:
            state = keyword if keyword in _FOLLOWERS else ""
            if row.depth in tries:
                _demote_try(tries.pop(row.depth))
            if keyword == "try":
                tries[row.depth] = row
        states[row.depth] = state
    for row in tries.values():
        _demote_try(row)


def _keyword(code: str) -> str:
    match = re.match(r"(?:async[ \t]+)?(\w+)", code)
    return match[1] if match else ""


def _demote_try(row: Row) -> None:
    _demote(row, "expected an 'except' or 'finally' block after this 'try'")


def _demote(row: Row, fault: str) -> None:
    """Puts a plain block's header for a clause, its one-line body kept where it was added here."""
    body = " pass" if row.code.endswith(": pass") or not row.code.rstrip().endswith(":") else ""
    row.replace(PLAIN_BLOCK + body, fault)


def _repair_matches(rows: Sequence[Row]) -> None:
    """A `match` has cases only, and a `case` stands in a `match` only."""
    parents: list[tuple[Row, bool]] = []  # by depth; whether it is a match
    for index, row in enumerate(rows):
        del parents[row.depth :]
        in_match = bool(parents) and parents[-1][1]
        is_case = row.word == "case" and _opens_something(rows, index)
        if in_match and not is_case:
            row.replace("", "expected 'case' in this 'match'")
        elif is_case and not in_match:
            _demote(row, "'case' outside 'match'")
        parents.append((row, row.word == "match" and _is_match(rows, index)))


def _opens_something(rows: Sequence[Row], index: int) -> bool:
    row = rows[index]
    return row.opens or (index + 1 < len(rows) and rows[index + 1].depth > row.depth)


def _is_match(rows: Sequence[Row], index: int) -> bool:
    if not rows[index].opens or index + 1 == len(rows) or rows[index + 1].depth <= rows[index].depth:
        return False
    return any(row.word == "case" for row in rows[index + 1 :] if row.depth == rows[index].depth + 1)
