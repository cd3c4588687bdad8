"""Records anew what the installed JAX says of the corpus: `python -m tests.oracle.record` with each measured release.

The other releases' columns stay as they are. Run with `PYTHONPATH=server`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pallas_ls.domain.target import MEASURED

from . import live
from .verdict import read, show, write

FOLDER = Path(__file__).parent.parent / "kernels" / "async_store"


def record(kernels: Sequence[Path], table: Path) -> None:
    """Lowers the kernels and writes the column of the installed JAX."""
    if live.VERSION not in MEASURED:
        sys.exit(f"JAX {live.VERSION} is none of the measured releases: {', '.join(map(str, MEASURED))}")
    before = read(table) if table.exists() else {}
    results = {k.name: {v: show(before[k.name, v]) for v in MEASURED if (k.name, v) in before} for k in kernels}
    for k in kernels:
        results[k.name][live.VERSION] = show(live.verdict(k))
    write(table, results)
    print(f"{table.name}: {len(kernels)} kernels, JAX {live.VERSION}", file=sys.stderr)


if __name__ == "__main__":
    record(sorted(FOLDER.glob("ass_*.py")), FOLDER / "results.tsv")
