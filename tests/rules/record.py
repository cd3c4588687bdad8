"""Records anew what the installed JAX says of the rules' kernels: `python -m tests.rules.record` with each release.

Run with `PYTHONPATH=server`.
"""

from __future__ import annotations

from pathlib import Path

from tests.oracle.record import record

import pallas_ls.rules

KERNELS = Path(pallas_ls.rules.__file__).parent / "kernels"
TABLE = Path(__file__).parent / "results.tsv"

if __name__ == "__main__":
    record(sorted(KERNELS.glob("*.py")), TABLE)
