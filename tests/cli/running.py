"""Runs the command line as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pallas_ls

STAND_IN = Path(__file__).with_name("stand_in.py")
PACKAGE = str(Path(pallas_ls.__file__).parent.parent)
#: What the surroundings of a test run must not decide.
FOREIGN = ("VIRTUAL_ENV", "CONDA_PREFIX", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")


def environment(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    return {**kept, "PYTHONPATH": PACKAGE, "PYTHONIOENCODING": "utf-8", **extra}


def run(
    folder: Path, *arguments: str, stdin: bytes | None = None, script: Path = STAND_IN, **extra: str
) -> subprocess.CompletedProcess[str]:
    """pallas-ls in a folder. Fails if a traceback was printed that was not asked for."""
    done = subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=folder,
        input=stdin if stdin is not None else b"",
        capture_output=True,
        timeout=120,
        env=environment(**extra),
        check=False,
    )
    out, err = (stream.decode("utf-8") for stream in (done.stdout, done.stderr))
    assert "Traceback" not in out + err or "--verbose" in arguments, err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)
