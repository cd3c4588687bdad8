"""The formats, to the letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .running import run

TEXT = "# a kernel\n\tx = copy(SMALL)\ns = '日本🎉', ODD\n"

FULL = """\
warning[syntax-error]: this does not parse and is passed over: unexpected indent
 --> k.py:2:2
  |
2 |     x = copy(SMALL)
  |     ^^^^^^^^^^^^^^^

error[small-block]: the block has 192 bytes
 --> k.py:2:11
  |
2 |     x = copy(SMALL)
  |              ^^^^^
  = JAX (0.12.0) raises NotImplementedError: Transfer is not a multiple of 128 bytes
  note: the module begins here
 --> k.py:1:1
  |
1 | # a kernel
  | ----------
  fix (safe): Write LARGE
    --- k.py
    +++ k.py
    @@ -1,3 +1,3 @@
     # a kernel
    -   x = copy(SMALL)
    +   x = copy(LARGE)
     s = '日本🎉', ODD

error[odd-block]: the block is odd
 --> k.py:3:12
  |
3 | s = '日本🎉', ODD
  |               ^^^
  = JAX (0.12.0) raises a bare AssertionError
  fix (unsafe: it changes tiles, grid or numbers): Write EVEN
    --- k.py
    +++ k.py
    @@ -1,3 +1,3 @@
     # a kernel
        x = copy(SMALL)
    -s = '日本🎉', ODD
    +s = '日本🎉', EVEN

2 errors, 1 warning.
No call sites that pallas-ls has rules for in this file.
"""


@pytest.fixture
def kernel(project: Path) -> Path:
    (project / "k.py").write_text(TEXT, encoding="utf-8")
    return project


def test_full(kernel: Path) -> None:
    assert run(kernel, "check", "k.py").stdout == FULL


def test_full_names_semantics_that_are_set(kernel: Path) -> None:
    out = run(kernel, "check", "--jax", "0.10.2", "--semantics", "warpgroup", "k.py").stdout
    assert "  = JAX (0.10.2, warpgroup) raises NotImplementedError" in out


def test_full_is_coloured_where_colours_are_wanted_only(kernel: Path) -> None:
    assert "\x1b[" not in run(kernel, "check", "k.py").stdout
    coloured = run(kernel, "check", "k.py", FORCE_COLOR="1", TERM="xterm-256color").stdout
    assert "\x1b[1;31merror[small-block]" in coloured
    assert "\x1b[3" not in run(kernel, "check", "k.py", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color").stdout


def test_concise(kernel: Path) -> None:
    assert run(kernel, "check", "--format", "concise", "k.py").stdout.splitlines()[:3] == [
        "k.py:2:2: warning[syntax-error] this does not parse and is passed over: unexpected indent",
        "k.py:2:11: error[small-block] the block has 192 bytes (JAX raises NotImplementedError)",
        "k.py:3:12: error[odd-block] the block is odd (JAX raises AssertionError)",
    ]


def place(line: int, start: int, end: int) -> dict[str, Any]:
    return {
        "file": "k.py",
        "range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}},
    }


def test_json_is_one_object_with_positions_as_in_lsp(kernel: Path) -> None:
    done = run(kernel, "check", "--format", "json", "k.py")
    found = json.loads(done.stdout)
    assert found["version"] == 1
    assert found["diagnostics"][1:] == [
        {
            **place(1, 10, 15),
            "code": "small-block",
            "severity": "error",
            "message": "the block has 192 bytes",
            "jax": {"type": "NotImplementedError", "message": "Transfer is not a multiple of 128 bytes"},
            "related": [{**place(0, 0, 10), "message": "the module begins here"}],
            "fixes": [{"title": "Write LARGE", "safe": True, "edits": [{**place(1, 10, 15), "newText": "LARGE"}]}],
        },
        {
            **place(2, 12, 15),  # the emoji counts twice
            "code": "odd-block",
            "severity": "error",
            "message": "the block is odd",
            "jax": {"type": "AssertionError", "message": ""},
            "related": [],
            "fixes": [{"title": "Write EVEN", "safe": False, "edits": [{**place(2, 12, 15), "newText": "EVEN"}]}],
        },
    ]
    assert found["diagnostics"][0]["jax"] is None
    assert done.stderr.startswith("2 errors, 1 warning.\n")


def test_json_of_nothing_is_an_object_too(project: Path) -> None:
    (project / "good.py").write_text("x = 1\n")
    out = run(project, "check", "--format", "json").stdout
    assert json.loads(out) == {"version": 1, "diagnostics": []}


def test_github(kernel: Path) -> None:
    lines = run(kernel, "check", "--format", "github", "k.py").stdout.splitlines()
    assert lines[1] == (
        "::error title=pallas-ls (small-block),file=k.py,line=2,endLine=2,col=11,endColumn=16::the block has 192 bytes"
        "%0AJAX raises NotImplementedError: Transfer is not a multiple of 128 bytes"
    )
    assert lines[0].startswith("::warning title=pallas-ls (syntax-error),")
    assert lines[2].endswith("::the block is odd%0AJAX raises AssertionError")


def test_sarif_has_what_the_schema_requires(kernel: Path) -> None:
    log = json.loads(run(kernel, "check", "--format", "sarif", "k.py").stdout)
    assert log["version"] == "2.1.0"
    (single,) = log["runs"]
    driver = single["tool"]["driver"]
    assert driver["name"] == "pallas-ls"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for result in single["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            physical = location["physicalLocation"]
            assert physical["artifactLocation"] == {"uri": "k.py"}
            region = physical["region"]
            assert (1, 1) <= (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])
        for fix in result.get("fixes", ()):
            (change,) = fix["artifactChanges"]
            assert change["artifactLocation"] == {"uri": "k.py"}
            (replacement,) = change["replacements"]
            assert replacement["deletedRegion"] == result["locations"][0]["physicalLocation"]["region"]
    assert [result["level"] for result in single["results"]] == ["warning", "error", "error"]
    assert single["results"][1]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {
        "text": "LARGE"
    }


def test_an_encoding_that_lacks_a_character_is_no_reason_to_fail(kernel: Path) -> None:
    done = run(kernel, "check", "k.py", PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert "'\\u65e5\\u672c\\U0001f389', ODD" in done.stdout


def test_files_elsewhere_are_named_in_full(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "k.py").write_text("PLAIN\n")
    out = run(project, "check", "--format", "concise", "--jax", "0.12.0", str(elsewhere)).stdout
    assert out.startswith(f"{elsewhere / 'k.py'}:1:1: warning[plain-block]")
