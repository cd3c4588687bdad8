"""Ignore comments: what they silence, and what is said about those that are of no use."""

from __future__ import annotations

import pytest

from pallas_ls.domain.finding import Edit, Finding, Severity
from pallas_ls.source.module import parse_module
from pallas_ls.source.span import Span
from pallas_ls.workspace.ignores import apply_comments, filtered, is_selected, removal
from pallas_ls.workspace.settings import Settings

RULES = ("bytes", "shape")


def findings(text: str) -> list[Finding]:
    """One of rule `bytes` at each "copy(...)", one of `shape` at each "ARG"."""
    found: list[Finding] = []
    for word, code, closing in (("copy(", "bytes", ")"), ("ARG", "shape", "ARG")):
        at = text.find(word)
        while at >= 0:
            end = text.index(closing, at) + len(closing)
            found.append(Finding(code, Severity.ERROR, Span("k.py", at, end), "wrong"))
            at = text.find(word, end)
    return found


def left(text: str, settings: Settings | None = None) -> list[str]:
    """code@line of all that remains, the comments' own findings included; lines count from 1."""
    module = parse_module("k.py", text)
    kept = filtered(findings(text), module, settings or Settings(), lambda: RULES)
    return [f"{f.code}@{module.text.line_of(f.span.start) + 1}" for f in kept]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("copy(x)\n", ["bytes@1"]),
        ("copy(x)  # pallas: ignore\n", []),
        ("copy(x)  # pallas: ignore[bytes]\n", []),
        ("copy(x)  # pallas: ignore[shape, bytes]\n", ["unused-ignore@1"]),
        ("copy(x)  # pallas: ignore[shape]\n", ["bytes@1", "unused-ignore@1"]),
        ("copy(x)  # pallas: ignore[byte]\n", ["bytes@1", "unknown-rule@1"]),
        ("copy(x)  # pallas: ignore[]\n", ["bytes@1", "unknown-directive@1"]),
        ("copy(x)  # pallas: ignor\n", ["bytes@1", "unknown-directive@1"]),
        ("s = '# pallas: ignore'; copy(x)\n", ["bytes@1"]),
        # above a statement
        ("# pallas: ignore[bytes]\ncopy(x)\ncopy(y)\n", ["bytes@3"]),
        ("# pallas: ignore\n# why\n\ncopy(x)\n", []),
        ("# pallas: ignore[shape]\ncopy(\n  ARG,\n)\n", ["bytes@2"]),
        ("def f():\n    # pallas: ignore\n    copy(x)\n", []),
        ("# pallas: ignore\ndef f():\n    copy(x)\n", ["unused-ignore@1", "bytes@3"]),
        ("# pallas: ignore\n@d(copy(x))\ndef f(\n    a=ARG,\n):\n    copy(x)\n", ["bytes@6"]),
        ("# pallas: ignore\nwith copy(x):\n    copy(y)\n", ["bytes@3"]),
        # in a statement of several lines
        ("copy(  # pallas: ignore\n  ARG,\n)\n", []),
        ("copy(\n  ARG,\n)  # pallas: ignore\n", []),
        ("copy(\n  ARG,  # pallas: ignore[shape]\n)\n", ["bytes@1"]),
        ("copy(\n  ARG,\n  y,  # pallas: ignore\n)\n", ["bytes@1", "shape@2", "unused-ignore@3"]),
        # at the end of the file
        ("copy(x)\n# pallas: ignore\n", ["bytes@1", "unused-ignore@2"]),
    ],
)
def test_comments(text: str, expected: list[str]) -> None:
    assert left(text) == expected


def test_an_ignore_where_nothing_parses_is_not_judged() -> None:
    text = "copy(x  # pallas: ignore[bytes]\n"
    module = parse_module("k.py", text)
    assert module.errors
    _, own = apply_comments([], module, lambda: RULES, [fault.span for fault in module.errors])
    assert own == []


def test_messages_name_the_rule() -> None:
    text = "copy(x)  # pallas: ignore[byts, shape]\n"
    _, own = apply_comments(findings(text), parse_module("k.py", text), lambda: RULES)
    assert [finding.message for finding in own] == [
        "there is no rule 'byts' (did you mean 'bytes'?); `pallas-ls rule` lists them",
        "this ignore is of no use: there is no shape here",
    ]
    assert [text[f.span.start : f.span.end] for f in own] == ["byts", "shape"]
    assert {f.severity for f in own} == {Severity.WARNING}


def test_rules_are_asked_for_only_where_there_is_an_ignore() -> None:
    def fail() -> list[str]:
        raise AssertionError("asked")

    assert apply_comments([], parse_module("k.py", "x = 1\n"), fail) == ([], [])


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("x = 1  # pallas: ignore[bytes]\n", "x = 1\n"),
        ("x = 1  # pallas: ignore\n", "x = 1\n"),
        ("# pallas: ignore\nx = 1\n", "x = 1\n"),
        ("    # pallas: ignore\r\nx = 1\r\n", "x = 1\r\n"),
        ("copy(x)  # pallas: ignore[bytes, shape]  why\n", "copy(x)  # pallas: ignore[bytes]  why\n"),
        ("copy(x)  # pallas: ignore[byts,bytes]\n", "copy(x)  # pallas: ignore[bytes]\n"),
    ],
)
def test_a_useless_ignore_can_be_removed(text: str, fixed: str) -> None:
    module = parse_module("k.py", text)
    _, own = apply_comments(findings(text), module, lambda: RULES)
    fix = removal(module, own[0])
    assert fix is not None and fix.safe
    (edit,) = fix.edits
    assert text[: edit.span.start] + edit.text + text[edit.span.end :] == fixed


def test_other_findings_have_no_such_fix() -> None:
    assert removal(parse_module("k.py", "copy(x)\n"), findings("copy(x)\n")[0]) is None
    unknown = Finding("unknown-rule", Severity.WARNING, Span("k.py", 0, 1), "")
    assert removal(parse_module("k.py", "copy(x)\n"), unknown) is None


@pytest.mark.parametrize(
    ("settings", "selected"),
    [
        (Settings(), True),
        (Settings(select=("bytes",)), True),
        (Settings(select=("shape",)), False),
        (Settings(ignore=("bytes",)), False),
        (Settings(select=("bytes",), ignore=("bytes",)), False),
        (Settings(root="/p", per_file_ignores=(("tests/", ("bytes",)),)), False),
        (Settings(root="/p", per_file_ignores=(("*_test.py", ("bytes",)),)), False),
        (Settings(root="/p", per_file_ignores=(("/a_test.py", ("bytes",)),)), True),
        (Settings(root="/p", per_file_ignores=(("tests/", ("shape",)),)), True),
        (Settings(root="/p/tests/deeper", per_file_ignores=(("*.py", ("bytes",)),)), True),  # not below the root
    ],
)
def test_selection(settings: Settings, selected: bool) -> None:
    assert is_selected("bytes", "/p/tests/a_test.py", settings) is selected


def test_an_ignore_of_a_rule_that_is_not_selected_is_of_use_all_the_same() -> None:
    text = "copy(x)  # pallas: ignore[bytes]\n"
    assert left(text, Settings(ignore=("bytes",))) == []
    assert left("x = 1  # pallas: ignore[bytes]\n", Settings(ignore=("unused-ignore",))) == []


def test_edits_are_plain_data() -> None:
    assert Edit(Span("k.py", 0, 1), "x") == Edit(Span("k.py", 0, 1), "x")
