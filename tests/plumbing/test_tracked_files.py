"""No tracked file names a package registry's host or a path of the machine it was written on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Written in pieces, so that this file does not name what it forbids.
FORBIDDEN = {
    "a registry's host": re.compile(
        "|".join(
            [
                r"registry\.(?:npmjs|yarnpkg)\.",
                r"files\.python" + r"hosted\.",
                r"(?:test\.)?py" + r"pi\.org",
                r"proxy\." + r"golang\.",
                r"deb\." + r"debian\.org",
            ]
        )
    ),
    "a path of a machine": re.compile(r"(?<![\w.$}/])/(?:work|root|home/runner|Users/\w+)/[\w.]"),
    "a resolved download in the lock": re.compile(r'"resolved"\s*:\s*"http'),
}


def tracked_files() -> list[Path]:
    """The files under version control; all text, as far as they decode."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: an unpacked source archive has no list of tracked files")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def occurrences(pattern: re.Pattern[str]) -> list[str]:
    """`FILE:LINE: text` for each line that the pattern is found in."""
    return [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for file in tracked_files()
        for number, line in enumerate(file.read_text("utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_names(what: str):
    assert occurrences(FORBIDDEN[what]) == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a registry's host", "https://registry.npm" + "js.org/x"),
        ("a registry's host", "https://files.python" + "hosted.org/x"),
        ("a path of a machine", 'cd "/wo' + 'rk/main"'),
        ("a path of a machine", "/ro" + "ot/.venv"),
        ("a resolved download in the lock", '"resolved": "ht' + 'tps://example.invalid/x.tgz"'),
    ],
)
def test_the_patterns_find_what_they_are_for(what: str, text: str):
    assert FORBIDDEN[what].search(text)
