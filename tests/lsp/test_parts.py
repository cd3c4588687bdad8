"""Paths, settings and edits on their own."""

from __future__ import annotations

import ntpath
import posixpath

import pytest

from pallas_ls.domain.finding import Edit, Fix
from pallas_ls.lsp.actions import compatible
from pallas_ls.lsp.hover import joined, plain
from pallas_ls.lsp.paths import is_file, path_of, uri_of
from pallas_ls.lsp.settings import read_options, read_settings
from pallas_ls.source.span import Span
from pallas_ls.workspace.docs import Documentation


@pytest.mark.parametrize(
    ("uri", "path", "system"),
    [
        ("file:///home/me/a%20b.py", "/home/me/a b.py", posixpath),
        ("file:///a/b%3Bc%23d.py", "/a/b;c#d.py", posixpath),
        ("file:///c%3A/k/a.py", "c:\\k\\a.py", ntpath),
        ("file:///C:/k/a.py", "c:\\k\\a.py", ntpath),
        ("file://server/share/a.py", "\\\\server\\share\\a.py", ntpath),
    ],
)
def test_paths_of_uris(uri: str, path: str, system) -> None:
    assert path_of(uri, system) == path
    assert path_of(uri_of(path, system), system) == path


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-notebook-cell:/a/../n.ipynb#W0sZ%3D"])
def test_other_uris_come_back_as_they_were(uri: str) -> None:
    assert uri_of(path_of(uri)) == uri
    assert not is_file(path_of(uri))


def test_what_nobody_set_hides_nothing_of_the_project() -> None:
    settings = read_settings({"select": [], "remotes": {}, "jaxVersion": None, "trace": {"server": "off"}})
    assert dict(settings.layer.values) == {}
    assert settings.problems == ()


def test_a_wrong_value_is_a_problem_and_the_others_hold() -> None:
    settings = read_settings(
        {"confirm": {"timeout": "long", "onSave": "lower"}, "codeLens": False, "jaxVersion": "new"}
    )
    assert (settings.confirm_timeout, settings.confirm_on_save, settings.code_lens) == (120.0, True, False)
    assert sorted(problem.key for problem in settings.problems) == ["pallas.confirm.timeout", "pallas.jaxVersion"]


@pytest.mark.parametrize("value", [None, [], "text", {"settings": 3, "interpreter": 4, "trusted": None}])
def test_strange_options_count_as_not_said(value: object) -> None:
    options = read_options(value)
    assert (dict(options.settings), options.interpreter, options.trusted) == ({}, "", True)


def fix(*edits: tuple[int, int, str]) -> Fix:
    return Fix("", True, tuple(Edit(Span("/k.py", start, end), text) for start, end, text in edits))


def test_of_fixes_that_collide_the_first_is_taken_whole() -> None:
    first, second, third = fix((0, 4, "a"), (9, 9, "b")), fix((3, 5, "c"), (20, 21, "d")), fix((5, 6, "e"))
    taken = [(edit.span.start, edit.text) for edit in compatible([first, second, third])]
    assert taken == [(0, "a"), (9, "b"), (5, "e")]


def test_an_edit_that_two_fixes_share_is_made_once() -> None:
    assert len(compatible([fix((0, 4, "a")), fix((0, 4, "a"), (5, 6, "b"))])) == 2


def test_hovers_of_editors_without_markdown_have_no_marks() -> None:
    docstring = "Stores.\n\nUse `x` and **y**."
    text = joined("**f**: 8 B\n- `src`: `float16[4]`", Documentation("f(src)", docstring))
    assert plain(text) == f"f: 8 B\n- src: float16[4]\n\n---\n\nf(src)\n\n{docstring}"
