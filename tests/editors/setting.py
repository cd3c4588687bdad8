"""What an editor under test stands on: the README's configuration, a project, `pallas-ls` on its PATH."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "neighbour_tiles.py"
#: Seconds after which an editor is given up; the scripts in it give up earlier and say what they waited for.
LIMIT = 300


def readme(language: str) -> str:
    """The README's block of a language: users copy it, so it is what is tested."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1, f"the README has {len(blocks)} blocks in {language}"
    return blocks[0]


def project(folder: Path, text: str | None = None) -> Path:
    """A kernel in a project whose rules do not depend on the JAX that is installed here: the file's path."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[tool.pallas-ls]\njax-version = "0.12.0"\n')
    kernel = folder / "kernel.py"
    kernel.write_text(EXAMPLE.read_text() if text is None else text)
    return kernel


def environment(home: Path) -> dict[str, str]:
    """The environment of an editor whose user has nothing but `pallas-ls`, run by the Python of the tests."""
    command = home / "bin" / "pallas-ls"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!{sys.executable}\nfrom pallas_ls.cli import main\n\nmain()\n")
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_RUNTIME_DIR": str(home),
        "PATH": os.pathsep.join((str(command.parent), os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join((str(ROOT / "server"), os.environ.get("PYTHONPATH", ""))),
    }
