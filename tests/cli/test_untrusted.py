"""Nothing that lies in the folder is run, whatever it is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .running import environment

#: Modules that the command line, its processes or the standard library import on their way. (`python -m` itself finds
#: a `pallas_ls.py` there, before anything of ours runs: option -P of Python, or the installed script, prevents that.)
NAMES = (
    "nt",
    "json",
    "click",
    "rich",
    "pathspec",
    "traceback",
    "multiprocessing",
    "pickle",
    "jax",
    "signal",
)


@pytest.mark.parametrize("files", [1, 60])
def test_modules_of_the_working_folder_are_not_imported(project: Path, files: int) -> None:
    trace = project / "ran"
    for name in NAMES:
        (project / f"{name}.py").write_text(f"import pathlib\npathlib.Path({str(trace)!r}).touch()\n")
    for number in range(files):
        (project / f"k{number}.py").write_text("import json\nimport jax\n")
    command = [sys.executable, "-m", "pallas_ls", "check"]
    done = subprocess.run(
        command, cwd=project, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert not trace.exists()
    assert (done.returncode, done.stderr) == (0, "")
