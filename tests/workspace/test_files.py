"""Texts: buffers over the disk, read again when they change, parsed incrementally."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pallas_ls.workspace.files import UnreadableFile, WorkspaceFiles


@pytest.fixture
def files(tmp_path: Path) -> WorkspaceFiles:
    return WorkspaceFiles([str(tmp_path)])


def test_a_buffer_hides_the_file_until_it_is_closed(tmp_path: Path, files: WorkspaceFiles) -> None:
    path = str(tmp_path / "k.py")
    (tmp_path / "k.py").write_text("disk = 1\n")
    assert files.content(path) == "disk = 1\n"
    files.overlay(path, "buffer = 1\n")
    assert files.is_open(path)
    assert files.content(path) == "buffer = 1\n"
    files.overlay(path, None)
    assert files.content(path) == "disk = 1\n"


def test_a_buffer_needs_no_file(tmp_path: Path, files: WorkspaceFiles) -> None:
    path = str(tmp_path / "new" / "k.py")
    assert files.module(path) is None
    files.overlay(path, "x = 1\n")
    module = files.module(path)
    assert module is not None
    assert [chunk.text for chunk in module.chunks] == ["x = 1"]
    assert files.find("new.k", 0, str(tmp_path / "main.py")) == path


def test_the_disk_is_read_again_when_it_changed_and_not_before(tmp_path: Path, files: WorkspaceFiles) -> None:
    file = tmp_path / "k.py"
    file.write_text("a = 1\n")
    first = files.module(str(file))
    assert files.module(str(file)) is first
    status = file.stat()
    file.write_text("b = 1\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert files.content(str(file)) == "b = 1\n"
    file.write_text("b = 12\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert files.content(str(file)) == "b = 12\n"
    file.unlink()
    assert files.module(str(file)) is None


def test_an_edit_keeps_the_other_chunks(tmp_path: Path, files: WorkspaceFiles) -> None:
    path = str(tmp_path / "k.py")
    files.overlay(path, "def f():\n    return 1\n\n\nx = 1\n")
    before = files.module(path)
    files.overlay(path, "def f():\n    return 1\n\n\nx = 2\n")
    after = files.module(path)
    assert before is not None and after is not None
    assert after.chunks[0] is before.chunks[0]
    assert after.chunks[1] is not before.chunks[1]


def test_names_of_paths_are_normalised(tmp_path: Path, files: WorkspaceFiles) -> None:
    files.overlay(str(tmp_path / "a" / ".." / "k.py"), "x = 1\n")
    assert files.content(str(tmp_path / "k.py")) == "x = 1\n"


def test_why_a_file_cannot_be_read(tmp_path: Path, files: WorkspaceFiles) -> None:
    (tmp_path / "latin.py").write_bytes(b"x = 'caf\xe9'\n")
    for name, reason in (
        ("nope.py", "no such file"),
        ("latin.py", "not UTF-8: byte 0xe9 on line 1 cannot be decoded"),
        (".", "is a folder"),
    ):
        with pytest.raises(UnreadableFile, match=reason):
            files.read(str(tmp_path / name))
    assert files.content(str(tmp_path / "latin.py")) is None
    assert files.module(str(tmp_path / "latin.py")) is None


@pytest.mark.skipif(os.name == "nt", reason="no such pipes there")
def test_a_pipe_is_not_waited_for(tmp_path: Path, files: WorkspaceFiles) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(UnreadableFile, match="is not a regular file"):
        files.read(str(tmp_path / "pipe.py"))


def test_a_namespace_package_is_an_empty_module(tmp_path: Path, files: WorkspaceFiles) -> None:
    (tmp_path / "ns").mkdir()
    (tmp_path / "ns" / "a.py").write_text("x = 1\n")
    module = files.module(str(tmp_path / "ns"))
    assert module is not None
    assert module.chunks == ()
