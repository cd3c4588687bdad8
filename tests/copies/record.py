"""Records anew what the installed JAX says of the first copies: `python -m tests.copies.record` with each release.

The other releases' columns stay as they are. Run with `PYTHONPATH=server`.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from pallas_ls.domain.target import MEASURED
from tests.oracle.verdict import read, show, write

from .generate import spec, text

TABLE = Path(__file__).parent / "recorded.tsv"
#: How many copies are recorded.
COPIES = 120


def kernels() -> dict[str, str]:
    """Texts of the recorded copies, by seed and digest: a changed generator needs a new record."""
    texts = {seed: text(spec(seed)) for seed in range(COPIES)}
    return {f"{seed:03}-{hashlib.sha256(t.encode()).hexdigest()[:8]}": t for seed, t in texts.items()}


def main() -> None:
    """Writes the column of the installed JAX."""
    from . import live  # noqa: PLC0415 - the tests read the table where JAX is not installed, too

    if live.VERSION not in MEASURED:
        sys.exit(f"JAX {live.VERSION} is none of the measured releases: {', '.join(map(str, MEASURED))}")
    before = read(TABLE) if TABLE.exists() else {}
    results = {name: {v: show(before[name, v]) for v in MEASURED if (name, v) in before} for name in kernels()}
    for name, kernel in kernels().items():
        results[name][live.VERSION] = show(live.verdict(kernel))
    write(TABLE, results)


if __name__ == "__main__":
    main()
