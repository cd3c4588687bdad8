"""Writes real output into README.md: each block between `<!-- output: COMMAND -->` and `<!-- end -->`.

`python tools/readme.py` rewrites them; `--check` only says whether they are current.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
_BLOCK = re.compile(r"<!-- output: (pallas-ls [^\n]*) -->\n.*?<!-- end -->", re.DOTALL)


def output_of(command: str) -> str:
    """What a command prints, without what differs from machine to machine."""
    args = [sys.executable, "-m", *command.replace("pallas-ls", "pallas_ls", 1).split()]
    done = subprocess.run(args, cwd=ROOT, capture_output=True, text=True, check=False)
    return re.sub(r"(?m)^JAX (\S+) on \S+ \(Python [^,]*, ", r"JAX \1 on this machine (", done.stdout.strip())


def rendered(text: str) -> str:
    """The README with its blocks current."""

    def block(found: re.Match[str]) -> str:
        command = found[1]
        return f"<!-- output: {command} -->\n```console\n$ {command}\n{output_of(command)}\n```\n<!-- end -->"

    return _BLOCK.sub(block, text)


def main() -> int:
    """Rewrites or checks."""
    old = README.read_text("utf-8")
    new = rendered(old)
    if "--check" in sys.argv:
        return 0 if old == new else 1
    README.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
