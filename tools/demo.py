"""`make demo`: the main job on an example, from the finding to JAX's verdict on the fix."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "neighbour_tiles.py"


def say(text: str) -> None:
    """A heading."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def pallas_ls(*args: str, folder: Path) -> int:
    """Runs the command line as a user would."""
    print("$ pallas-ls " + " ".join(args), flush=True)
    return subprocess.run([sys.executable, "-m", "pallas_ls", *args], cwd=folder, check=False).returncode


def main() -> int:
    """Shows the example, fixes a copy of it, and lets JAX lower both."""
    with tempfile.TemporaryDirectory(prefix="pallas-ls-demo-") as name:
        folder = Path(name)
        shutil.copy(EXAMPLE, folder)
        file = EXAMPLE.name
        say("1. What the editor says while you type (no JAX, no GPU)")
        found = pallas_ls("check", file, folder=folder)
        say("2. What JAX says of the same file, lowered on the spot for a GPU that is not there")
        refused = pallas_ls("confirm", file, folder=folder)
        say("3. The fix, applied")
        pallas_ls("check", "--unsafe-fixes", file, folder=folder)
        say("4. JAX's verdict now")
        lowered = pallas_ls("confirm", file, folder=folder)
    if (found, refused, lowered) == (1, 1, 0):
        say("The finding was JAX's, and the fix lowers.")
        return 0
    say(f"Not as it should be: check {found}, confirm before {refused}, confirm after {lowered} (expected 1, 1, 0).")
    return 1


if __name__ == "__main__":
    sys.exit(main())
