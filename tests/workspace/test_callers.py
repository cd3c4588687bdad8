"""Which files are read for calls of a file's functions."""

from __future__ import annotations

from pathlib import Path

from pallas_ls.workspace.callers import possible_callers
from pallas_ls.workspace.files import WorkspaceFiles


def found(root: Path, path: str, exclude: tuple[str, ...] = ()) -> list[str]:
    files = WorkspaceFiles([str(root)], [])
    names = possible_callers(str(root / path), str(root), exclude, files)
    return [Path(name).relative_to(root).as_posix() for name in names]


def write(root: Path, **texts: str) -> None:
    for name, text in texts.items():
        file = root / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_files_that_import_the_module_nearest_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        bench="import pkg.matmul\n",
        pkg__matmul="",
        pkg__test_matmul="from .matmul import run\n",
        pkg__inside="def f():\n    from pkg import matmul\n",
        other="matmul = 1  # import matmul\n",
        pkg__similar="from pkg.matmul_fast import run\n",
    )
    assert found(tmp_path, "pkg/matmul.py") == ["pkg/inside.py", "pkg/test_matmul.py", "bench.py"]


def test_a_package_is_imported_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "__init__.py").write_text("")
    write(tmp_path, use="from ops import run\n")
    assert found(tmp_path, "ops/__init__.py") == ["use.py"]


def test_excluded_files_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, k="", old__use="import k\n")
    assert found(tmp_path, "k.py", ("old/",)) == []
    assert found(tmp_path, "k.py") == ["old/use.py"]


def test_a_folder_that_is_gone_has_no_callers(tmp_path: Path) -> None:
    assert list(possible_callers("k.py", str(tmp_path / "gone"), (), WorkspaceFiles([], []))) == []
