"""Records anew what the installed JAX says of the rules' kernels: `python -m tests.rules.record` with each release.

Run with `PYTHONPATH=server`.
"""

from __future__ import annotations

from tests.oracle.record import record

from .places import KERNELS, TABLE

if __name__ == "__main__":
    record(sorted(KERNELS.glob("*.py")), TABLE)
