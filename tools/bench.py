"""`make bench`: the benchmarks of tests/benchmarks, one after the other. Arguments: names of some of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNEL = "examples/neighbour_tiles.py"
#: What each is given.
ARGUMENTS = {
    "lsp_keystroke": [KERNEL],
    "source_parse": [],
    "dim_speed": [],
    "evaluate_speed": [KERNEL],
    "beside_basedpyright": [],
}


def main() -> int:
    """Runs them; the exit code is that of the last one that failed."""
    status = 0
    for name in sys.argv[1:] or ARGUMENTS:
        print(f"\n== {name}", flush=True)
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", *ARGUMENTS.get(name, [])]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode or status
    return status


if __name__ == "__main__":
    sys.exit(main())
