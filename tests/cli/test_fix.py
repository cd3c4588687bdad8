"""`--fix`, `--unsafe-fixes` and `--diff`."""

from __future__ import annotations

from pathlib import Path

from .running import run


def test_safe_fixes_alone_without_unsafe(project: Path) -> None:
    (project / "k.py").write_text("SMALL\nODD\nSMALL\n")
    done = run(project, "check", "--fix", "--format", "concise")
    assert (project / "k.py").read_text() == "LARGE\nODD\nLARGE\n"
    assert done.returncode == 1
    assert done.stdout.startswith("k.py:2:1: error[odd-block]")
    assert done.stderr.splitlines() == [
        "fixed: k.py:1: small-block: Write LARGE",
        "fixed: k.py:3: small-block: Write LARGE",
    ]


def test_unsafe_fixes_too(project: Path) -> None:
    (project / "k.py").write_text("SMALL\nODD\n")
    done = run(project, "check", "--unsafe-fixes")
    assert (project / "k.py").read_text() == "LARGE\nEVEN\n"
    assert done.returncode == 0
    assert "fixed (unsafe): k.py:2: odd-block: Write EVEN" in done.stderr


def test_diff_changes_nothing(project: Path) -> None:
    (project / "k.py").write_text("SMALL\nODD\n")
    done = run(project, "check", "--diff")
    assert (project / "k.py").read_text() == "SMALL\nODD\n"
    assert done.stdout == "--- k.py\n+++ k.py\n@@ -1,2 +1,2 @@\n-SMALL\n+LARGE\n ODD\n"
    assert done.stderr.startswith("pallas-ls: 1 finding would be fixed\n")
    assert done.returncode == 1


def test_fixes_that_undo_each_other_come_to_an_end(project: Path) -> None:
    (project / "k.py").write_text("PING\n")
    done = run(project, "check", "--fix")
    assert (project / "k.py").read_text() in ("PING\n", "PONG\n")
    assert done.returncode == 1


def test_standard_input_is_fixed_to_standard_output(project: Path) -> None:
    done = run(project, "check", "--fix", "-", stdin=b"SMALL\r\nODD\r\n")
    assert done.stdout.splitlines() == ["LARGE", "ODD"]
    assert "error[odd-block]" in done.stderr
    assert done.returncode == 1
    assert run(project, "check", "--fix", "-", stdin=b"x = 1\n").stdout == "x = 1\n"


def test_encoding_mark_and_line_ends_are_kept(project: Path) -> None:
    marked, declared = project / "bom.py", project / "latin.py"
    marked.write_bytes(b"\xef\xbb\xbfx = SMALL\r\ny = 'caf\xc3\xa9'\r\n")
    declared.write_bytes(b"# -*- coding: latin-1 -*-\nx = SMALL, 'caf\xe9'\n")
    run(project, "check", "--fix")
    assert marked.read_bytes() == b"\xef\xbb\xbfx = LARGE\r\ny = 'caf\xc3\xa9'\r\n"
    assert declared.read_bytes() == b"# -*- coding: latin-1 -*-\nx = LARGE, 'caf\xe9'\n"


def test_an_ignore_that_ignores_nothing_is_removed(project: Path) -> None:
    (project / "k.py").write_text("x = 1  # pallas: ignore[small-block]\nSMALL  # pallas: ignore[small-block, ping]\n")
    done = run(project, "check", "--fix")
    assert (project / "k.py").read_text() == "x = 1\nSMALL  # pallas: ignore[small-block]\n"
    assert done.returncode == 0
    assert done.stdout.startswith("Nothing found.\n")


def test_ignored_findings_are_not_fixed(project: Path) -> None:
    (project / "k.py").write_text("SMALL  # pallas: ignore\n")
    run(project, "check", "--fix")
    assert (project / "k.py").read_text() == "SMALL  # pallas: ignore\n"
