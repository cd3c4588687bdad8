"""What `check` looks at, its exit codes and its answers to bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .running import STAND_IN, environment, run


def test_nothing_found(project: Path) -> None:
    (project / "good.py").write_text("x = 1\n")
    done = run(project, "check", "good.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Nothing found.\nNo call sites that pallas-ls has rules for in this file.\n"


def test_errors_make_exit_code_1_and_warnings_do_not(project: Path) -> None:
    (project / "bad.py").write_text("SMALL\n")
    (project / "so_so.py").write_text("PLAIN\n")
    assert run(project, "check", "bad.py").returncode == 1
    assert run(project, "check", "so_so.py").returncode == 0
    assert run(project, "check").returncode == 1


def test_a_syntax_error_is_a_warning_and_the_rest_is_checked(project: Path) -> None:
    (project / "half.py").write_text("x = SMALL\ny = = 2\n")
    done = run(project, "check", "--format", "concise", "half.py")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("half.py:1:5: error[small-block]")
    assert lines[1].startswith("half.py:2:1: warning[syntax-error] this does not parse and is passed over: ")
    (project / "half.py").write_text("y = = 2\n")
    assert run(project, "check", "half.py").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["check", "nope.py"], "nope.py: no such file or folder"),
        (["check", "empty"], "empty: no Python files in this folder"),
        (["check", "ignored"], "ignored: all Python files in this folder are ignored"),
        (["check", "latin.py"], "latin.py: not UTF-8: byte 0xe9 on line 2 cannot be decoded"),
        (["check", "--format", "yaml", "good.py"], "Invalid value for '--format': 'yaml' is not one of"),
        (["check", "--select", "smal-block", "good.py"], "there is no rule 'smal-block' (did you mean 'small-block'?)"),
        (["check", "--jax", "newest", "good.py"], '--jax: must be a version such as "0.11.2", not \'newest\''),
        (["check", "--semantics", "warp", "good.py"], '--semantics: must be "lane" or "warpgroup", not \'warp\''),
        (["check", "--target", "h100", "good.py"], "--target: must be a GPU architecture"),
        (["check", "broken/x.py"], "broken/pyproject.toml: cannot be read: "),
        (["check", "wrong/x.py"], "wrong/pyproject.toml: tool.pallas-ls.selct: unknown key (did you mean 'select'?)"),
        (["check", "--colour", "good.py"], "No such option"),
        (["chekc"], "No such command 'chekc'"),
        (["explain", "good.py"], "'good.py' is no FILE:LINE, such as kernel.py:12"),
        (["explain", "good.py:99"], "good.py has 2 lines; there is no line 99"),
        (["explain", "nope.py:1"], "nope.py: no such file or folder"),
        (["facts", "nope.py"], "nope.py: no such file or folder"),
        (["confirm", "nope.py"], "nope.py: no such file or folder"),
        (["confirm", "good.py"], "no kernel here"),
        (["confirm", "good.py::a b"], "'a b' in 'good.py::a b' is no name of a function"),
        (["confirm", "--timeout", "0", "good.py"], "Invalid value for '--timeout'"),
        (["confirm", "kernel.py"], "matmul cannot be called: give arguments"),
        (["confirm", "kernel.py:1"], "no kernel at line 1; there are some at 2"),
        (["confirm", "kernel.py::matmull"], "no kernel 'matmull' (did you mean 'matmul'?); known: matmul"),
        (["rule", "smallblock"], "there is no rule 'smallblock' (did you mean 'small-block'?)"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(project: Path, arguments: list[str], complaint: str) -> None:
    (project / "good.py").write_text("x = 1\n")
    (project / "kernel.py").write_text("x = 1\nSITE\n")
    (project / "empty").mkdir()
    (project / "ignored").mkdir()
    (project / "ignored" / "x.py").write_text("x = 1\n")
    (project / "ignored" / ".gitignore").write_text("*.py\n")
    (project / "latin.py").write_bytes("x = 1\n# caf\xe9\n".encode("latin-1"))
    for name, text in (("broken", "[tool\n"), ("wrong", '[tool.pallas-ls]\nselct = ["ping"]\n')):
        (project / name).mkdir()
        (project / name / "pyproject.toml").write_text(text)
        (project / name / "x.py").write_text("x = 1\n")
    done = run(project, *arguments)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("pallas-ls: ")
    assert complaint in lines[0]


def test_what_can_be_checked_is_checked_beside_bad_input(project: Path) -> None:
    (project / "bad.py").write_text("SMALL\n")
    done = run(project, "check", "--format", "concise", "nope.py", "bad.py")
    assert done.returncode == 2
    assert done.stdout.startswith("bad.py:1:1: error[small-block]")
    assert done.stderr == "pallas-ls: nope.py: no such file or folder\n"


def test_an_unreadable_file_found_on_a_walk_is_told_and_does_not_fail_the_walk(project: Path) -> None:
    (project / "good.py").write_text("x = 1\n")
    (project / "latin.py").write_bytes(b"# \xe9\n")
    done = run(project, "check")
    assert done.returncode == 0
    assert done.stderr == "pallas-ls: latin.py: not UTF-8: byte 0xe9 on line 1 cannot be decoded\n"


def test_a_defect_in_one_file_is_one_line_and_the_others_are_answered(project: Path) -> None:
    (project / "a.py").write_text("CRASH\n")
    (project / "b.py").write_text("SMALL\n")
    done = run(project, "check", "--format", "concise")
    assert done.returncode == 2
    assert "b.py:1:1: error[small-block]" in done.stdout
    assert done.stderr.startswith(
        "pallas-ls: a.py: internal error: IndexError: tuple index out of range; please report"
    )
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" in run(project, "check", "--verbose").stderr


def test_standard_input_has_the_name_that_is_given(project: Path) -> None:
    done = run(project, "check", "-", "--stdin-filename", "src/k.py", "--format", "concise", stdin=b"x = SMALL\n")
    assert done.returncode == 1
    assert done.stdout.startswith("src/k.py:1:5: error[small-block]")
    assert run(project, "check", "-", stdin=b"\xff\xff").stderr.startswith("pallas-ls: standard input: not UTF-8")


def test_selected_ignored_and_per_file_rules(project: Path) -> None:
    (project / "k.py").write_text("SMALL\nPLAIN\n")
    settings = '[tool.pallas-ls]\njax-version = "0.12.0"\nper-file-ignores = { "k.py" = ["small-block"] }\n'

    def codes(*arguments: str) -> list[str]:
        found = json.loads(run(project, "check", "--format", "json", *arguments).stdout)
        return [diagnostic["code"] for diagnostic in found["diagnostics"]]

    assert codes() == ["small-block", "plain-block"]
    assert codes("--select", "plain-block") == ["plain-block"]
    assert codes("--ignore", "plain-block,odd-block") == ["small-block"]
    (project / "pyproject.toml").write_text(settings)
    assert codes() == ["plain-block"]


def test_ignore_comments_and_those_that_ignore_nothing(project: Path) -> None:
    (project / "k.py").write_text("SMALL  # pallas: ignore[small-block]\nx = 1  # pallas: ignore\n")
    done = run(project, "check", "--format", "concise")
    assert done.returncode == 0
    assert (
        done.stdout.splitlines()[0]
        == "k.py:2:8: warning[unused-ignore] this ignore is of no use: there is nothing here"
    )


def test_the_summary_says_how_much_was_seen(project: Path) -> None:
    (project / "k.py").write_text("SITE\nSITE\nHIDDEN\n")
    assert run(project, "check").stdout.endswith("2 of 3 call sites checked; 1 unknown (--explain)\n")
    explained = run(project, "check", "--explain").stdout.splitlines()
    assert explained[-2:] == ["2 of 3 call sites checked; 1 unknown:", "  k.py:3:1: copy: n is a parameter"]


def test_statistics_count_each_rule(project: Path) -> None:
    (project / "k.py").write_text("SMALL\nPLAIN\nSMALL\n")
    assert run(project, "check", "--statistics").stdout.splitlines()[:2] == ["2  small-block", "1  plain-block"]


def test_many_files_in_several_processes(project: Path) -> None:
    for number in range(60):
        folder = project / f"f{number % 5}"
        folder.mkdir(exist_ok=True)
        (folder / f"k{number:02}.py").write_text("SITE\nSMALL\n" if number % 3 else "SITE\n")
    bad = sorted(f"f{number % 5}/k{number:02}.py" for number in range(60) if number % 3)
    found = "(JAX raises NotImplementedError)"
    assert run(project, "check", "--format", "concise").stdout.splitlines() == [
        *(f"{file}:2:1: error[small-block] the block has 192 bytes {found}" for file in bad),
        "40 errors.",
        "60 of 60 call sites checked.",
    ]


def test_an_unmeasured_version_says_whose_rules_apply(project: Path) -> None:
    (project / "good.py").write_text("x = 1\n")
    done = run(project, "check", "--jax", "0.13.0")
    assert done.stderr == "pallas-ls: JAX 0.13.0 has not been measured: the rules of 0.12.0 apply\n"


@pytest.mark.skipif(os.name == "nt", reason="no such pipes there")
def test_a_closed_output_is_no_internal_error(project: Path) -> None:
    (project / "k.py").write_text("SMALL\n" * 3000)
    done = subprocess.run(
        ["bash", "-c", '"$@" | head -n 1', "-", sys.executable, str(STAND_IN), "check"],
        cwd=project,
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""
