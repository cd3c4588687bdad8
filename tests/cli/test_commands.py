"""The other commands."""

from __future__ import annotations

import json
from pathlib import Path

from pallas_ls import __version__

from .running import run


def test_facts_are_json_lines(project: Path) -> None:
    (project / "k.py").write_text("SITE\n")
    done = run(project, "facts", "--format", "json", "k.py")
    assert done.returncode == 0
    (line,) = done.stdout.splitlines()
    assert json.loads(line) == {
        "file": "k.py", "line": 1, "col": 0, "api": "copy", "operand": "src", "shape": [64, "n"], "dtype": "float32",
        "bytes": "256*n", "space": None, "tiling": None, "swizzle": None, "alternatives": None, "why": None,
    }  # fmt: skip


def test_facts_of_the_files_that_can_be_analysed(project: Path) -> None:
    (project / "a.py").write_text("CRASH\n")
    (project / "b.py").write_text("SITE\n")
    done = run(project, "facts")
    assert done.returncode == 2
    assert json.loads(done.stdout)["file"] == "b.py"
    assert done.stderr.startswith("pallas-ls: a.py: internal error: IndexError: ")


def test_explain_shows_each_step_and_the_line_it_comes_from_once(project: Path) -> None:
    (project / "k.py").write_text("n = 64\ncopy(SITE)\n")
    assert run(project, "explain", "k.py:1").stdout.splitlines() == [
        "k.py:1: n = 64",
        "  src: float32[64, n]",
        "    64: written  [k.py:2: copy(SITE)]",
        "    n: a parameter",
    ]
    assert run(project, "explain", "k.py:2:5").stdout.splitlines()[2] == "    64: written"


def test_explain_says_where_there_is_nothing_to_explain(project: Path) -> None:
    (project / "k.py").write_text("x = 1\n")
    done = run(project, "explain", "k.py:1")
    assert (done.returncode, done.stdout) == (0, "k.py:1: x = 1\n  no shapes at this line\n")


def test_rule_lists_all_rules_and_shows_a_page(project: Path) -> None:
    listed = run(project, "rule").stdout.splitlines()
    assert "small-block        error    the block has 192 bytes" in listed
    assert any(line.startswith("unused-ignore ") for line in listed)
    assert run(project, "rule", "small-block").stdout == "# small-block\n"
    assert run(project, "rule", "unused-ignore").stdout.startswith("# unused-ignore\n")


def test_version_and_help(project: Path) -> None:
    assert run(project, "--version").stdout == f"pallas-ls, version {__version__}\n"
    out = run(project, "--help").stdout
    assert all(command in out for command in ("check", "confirm", "explain", "facts", "rule", "server"))


def test_confirm_needs_a_remote_that_is_set(project: Path) -> None:
    (project / "k.py").write_text("SITE\n")
    done = run(project, "confirm", "k.py", "--on", "gpubox")
    assert done.returncode == 2
    assert "matmul cannot be called" in done.stderr
