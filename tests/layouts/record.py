"""Records anew what the installed JAX says of a sample of stores.

Run as `PYTHONPATH=server python -m tests.layouts.record` with each of the measured releases.
"""

from __future__ import annotations

import random
import sys

from . import live, recorded
from .generate import random_case

SEED = 20
COUNT = 250


def main() -> None:
    rng = random.Random(SEED)
    cases = [random_case(rng, live.VERSION) for _ in range(COUNT)]
    recorded.write(live.VERSION, ((case, live.verdict(case)) for case in cases))
    print(f"{recorded.path(live.VERSION)}: {COUNT} stores", file=sys.stderr)


if __name__ == "__main__":
    main()
