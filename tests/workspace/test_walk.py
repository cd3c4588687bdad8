"""Which Python files a folder has, compared with git itself where git is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pallas_ls.workspace.walk import NoPython, is_excluded, python_files


def make(root: Path, *names: str, **ignores: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for folder, text in ignores.items():
        (root / folder.replace("_", "/")).mkdir(parents=True, exist_ok=True)
        (root / folder.replace("_", "/") / ".gitignore").write_text(text)


def found(root: Path, folder: str = ".", exclude: tuple[str, ...] = ()) -> list[str]:
    files = python_files(str(root / folder), exclude, str(root))
    return [Path(file).relative_to(root).as_posix() for file in files]


def test_files_first_then_folders_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "c/y.py", "a.py", "notes.txt", "a/data.json")
    assert found(tmp_path) == ["a.py", "b.py", "a/z.py", "c/y.py"]


def test_caches_and_python_installations_are_passed_over(tmp_path: Path) -> None:
    make(
        tmp_path,
        "k.py",
        ".git/hooks/x.py",
        "__pycache__/k.py",
        "node_modules/m/x.py",
        "myenv/pyvenv.cfg",
        "myenv/lib/python3.12/site-packages/x.py",
        "conda/conda-meta/history",
        "conda/lib/x.py",
        "vendor/site-packages/x.py",
    )
    assert found(tmp_path) == ["k.py"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "a/k.py")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    (tmp_path / "linked.py").symlink_to(tmp_path / "a" / "k.py")
    assert found(tmp_path) == ["linked.py", "a/k.py"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
@pytest.mark.parametrize(
    "ignores",
    [
        {".": "*.py\n!keep.py\n"},
        {".": "build/\n/top.py\n"},
        {".": "a/\n", "a": "!x.py\n"},  # a file below an ignored folder cannot be kept
        {".": "*.py\n", "a": "!x.py\n"},
        {".": "a/*\n!a/b/\n"},
        {".": "**/b/x.py\n# comment\n\n\\!odd.py\n"},
        {".": "a/**/x.py\n!/a/b/x.py\n", "a_b": "y.py\n"},
        {"a": "/x.py\nb\n"},
        {".": "x.*\nkee?.py\n[ab]/y.py\n"},
        {".": "top.py  \nbuild\n !\n"},
    ],
)
def test_gitignore_as_git_reads_it(tmp_path: Path, ignores: dict[str, str]) -> None:
    make(tmp_path, "top.py", "keep.py", "x.py", "!odd.py", "a/x.py", "a/y.py", "a/b/x.py", "a/b/y.py", **ignores)
    make(tmp_path, "build/z.py", "b/x.py")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = ["git", "ls-files", "--others", "--exclude-standard", "-z", "*.py"]
    listed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert sorted(found(tmp_path)) == sorted(filter(None, listed.split("\0")))


def test_a_subfolder_obeys_the_repository_above(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "a/x.py", "a/y.py", **{".": "x.py\n"})
    assert found(tmp_path, "a") == ["a/y.py"]
    (tmp_path / ".git" / "info").mkdir()
    (tmp_path / ".git" / "info" / "exclude").write_text("y.py\n")
    with pytest.raises(NoPython, match="all Python files in this folder are ignored"):
        found(tmp_path, "a")


def test_a_folder_that_was_asked_for_is_walked_though_it_is_ignored(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "build/deep/x.py", **{".": "build/\n"})
    assert found(tmp_path, "build") == ["build/deep/x.py"]
    assert found(tmp_path, "build/deep") == ["build/deep/x.py"]


def test_a_gitignore_above_means_nothing_outside_a_repository(tmp_path: Path) -> None:
    make(tmp_path, "a/x.py", **{".": "x.py\n"})
    assert found(tmp_path, "a") == ["a/x.py"]


def test_excluded_files_are_relative_to_the_settings(tmp_path: Path) -> None:
    make(tmp_path, "old/x.py", "sub/old/x.py", "gen_a.py", "k.py")
    assert found(tmp_path, exclude=("/old/", "gen_*.py")) == ["k.py", "sub/old/x.py"]
    assert found(tmp_path, "sub", ("/old/",)) == ["sub/old/x.py"]
    assert is_excluded(str(tmp_path / "old" / "x.py"), ("/old/",), str(tmp_path))
    assert not is_excluded(str(tmp_path / "k.py"), ("/old/",), str(tmp_path))


def test_a_folder_without_python(tmp_path: Path) -> None:
    make(tmp_path, "notes.txt")
    with pytest.raises(NoPython, match="no Python files in this folder"):
        found(tmp_path)
