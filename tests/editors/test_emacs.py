"""pallas-ls in a real Emacs with eglot, configured as the README says, without a screen."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .setting import EXAMPLE, LIMIT, environment, project, readme

SCRIPT = Path(__file__).with_name("emacs.el")
HAS_JAX = importlib.util.find_spec("jax") is not None


def has_eglot() -> bool:
    if shutil.which("emacs") is None:
        return False
    command = ["emacs", "--batch", "--eval", '(kill-emacs (if (locate-library "eglot") 0 1))']
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not has_eglot(), reason="needs Emacs 29, or 28 with eglot: apt-get install emacs-nox elpa-eglot")
def test_emacs_shows_a_finding_asks_jax_and_applies_a_fix(tmp_path: Path) -> None:
    kernel, result, init = project(tmp_path / "project"), tmp_path / "result.json", tmp_path / "init.el"
    init.write_text(readme("elisp"))
    env = environment(tmp_path / "home") | {"PALLAS_KERNEL": str(kernel), "PALLAS_RESULT": str(result)}
    env |= {"PALLAS_CONFIRM": "1"} if HAS_JAX else {}
    libraries = ["-l", "eglot", "-l", "cl-lib", "-l", str(init), "-l", str(SCRIPT)]
    done = subprocess.run(
        ["emacs", "--batch", *libraries],
        env=env, cwd=kernel.parent, timeout=LIMIT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.exists(), done.stderr
    answer = json.loads(result.read_text())
    assert "error" not in answer, f"{answer['error']}\n{done.stderr}"
    seen = answer["result"]
    assert "pallas" in seen["message"] and "Sends 6,144 B (float16[48, 64])." in seen["message"]
    assert seen["under"] == "tile"
    assert "async_store_smem: 6,144 B (6,144 = 48 x 128)" in seen["hover"]  # no markdown-mode here, so no marks
    if HAS_JAX:
        assert "swap: JAX raised" in seen["verdict"]
    assert "Ignore pallas rule async-store-layout here" in seen["titles"]
    assert seen["text"] == EXAMPLE.read_text().replace("TILE_ROWS = 48", "TILE_ROWS = 64")
