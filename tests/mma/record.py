"""Records anew what the installed JAX says of a sample of multiplications.

Run as `PYTHONPATH=server python -m tests.mma.record` with each of the measured releases.
"""

from __future__ import annotations

import random
import sys

from . import live, recorded
from .generate import mma_case, wgmma_case

SEED, COUNT = 20, 300


def main() -> None:
    rng = random.Random(SEED)
    cases = [make(rng, live.VERSION) for make in (wgmma_case, mma_case) for _ in range(COUNT)]
    recorded.write(live.VERSION, ((case, live.verdict(case)) for case in cases))
    print(f"{recorded.path(live.VERSION)}: {len(cases)} multiplications", file=sys.stderr)


if __name__ == "__main__":
    main()
