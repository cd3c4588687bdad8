"""`idioms.md`: each idiom has a case, and each literate kernel stands in the list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .literate import snippets

HERE = Path(__file__).parent
_ROW = re.compile(r"^\| (?P<idiom>.+?) \| (?P<cases>[^|]+) \|$", re.MULTILINE)
_HEADINGS = {"kernels": "kernel", "idioms": "idiom"}


def rows() -> dict[str, list[tuple[str, list[str]]]]:
    """By idiom: files ("kernels/views") with their headings; a file of `cases/` is one case."""
    text = (HERE / "idioms.md").read_text("utf-8").split("|---|---|\n")[1]
    return {m["idiom"]: [_place(p) for p in m["cases"].split("; ")] for m in _ROW.finditer(text)}


def _place(text: str) -> tuple[str, list[str]]:
    file, _, names = text.partition(": ")
    return file, names.split(", ") if names else []


def headings(file: str) -> list[str]:
    """Headings of a file of kernels or of Python."""
    text = (HERE / f"{file}.txt").read_text("utf-8")
    return re.findall(rf"^# {_HEADINGS[file.partition('/')[0]]}: (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize("idiom", rows())
def test_each_idiom_has_a_case(idiom: str) -> None:
    places = rows()[idiom]
    assert places
    for file, names in places:
        assert (HERE / f"{file}.txt").is_file(), file
        assert bool(names) != file.startswith("cases/"), f"{file}: a heading is missing, or is too much"
        missing = [n for n in names if n not in headings(file)]
        assert not missing, f"{file}: {missing}"


def test_each_kernel_stands_in_the_list() -> None:
    listed = {n for places in rows().values() for file, names in places if file.startswith("kernels/") for n in names}
    assert sorted(set(snippets()) - listed) == []
