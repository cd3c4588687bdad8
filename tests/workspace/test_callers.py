"""Where a module is imported: the files in which calls of its functions may stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pallas_ls.workspace.callers import Callers, imported_names
from pallas_ls.workspace.files import WorkspaceFiles


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import ops.matmul as mm, os\n", {"ops", "matmul", "as", "mm", "os"}),
        (
            "from ops.matmul import (\n    kernel,\n    Config as C,\n)\n",
            {"ops", "matmul", "kernel", "Config", "as", "C"},
        ),
        ("def f():\n    from . import matmul\n", {"matmul"}),
        ("x = 'import matmul'  # import matmul\n", set()),
    ],
)
def test_names_in_imports(text: str, names: set[str]) -> None:
    assert imported_names(text) == names


def test_importers_of_a_file_the_nearest_first(tmp_path: Path) -> None:
    texts = {
        "ops/matmul.py": "def kernel(): ...\n",
        "ops/test_matmul.py": "from ops.matmul import kernel\n",
        "bench/run.py": "from ops import matmul\n",
        "bench/other.py": "import os\n",
        "node_modules/x.py": "import matmul\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    files = WorkspaceFiles([str(tmp_path)])
    callers = Callers(files, [str(tmp_path)])
    matmul = str(tmp_path / "ops/matmul.py")
    near, far = str(tmp_path / "ops/test_matmul.py"), str(tmp_path / "bench/run.py")
    assert callers.of(matmul, 8) == [near, far]
    assert callers.of(matmul, 1) == [near]

    files.overlay(far, "")
    assert callers.of(matmul, 8) == [near]
    (tmp_path / "bench/other.py").write_text("from ops.matmul import kernel\n")
    assert callers.of(matmul, 8) == [near, str(tmp_path / "bench/other.py")]
