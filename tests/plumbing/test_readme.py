"""What the README shows is what the commands print."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOWN = "0.12.0.1"


@pytest.mark.skipif(version("jax") != SHOWN, reason=f"the README shows what JAX {SHOWN} says")
def test_the_readme_shows_real_output() -> None:
    done = subprocess.run([sys.executable, "tools/readme.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "python tools/readme.py writes the present output into README.md"
