"""`python -m tests.copies --copies N --seed S`: random copies, the installed JAX's verdict beside ours."""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict

from . import live
from .compare import Outcome, compare
from .generate import spec, text

BAD = (Outcome.FALSE_ERROR, Outcome.OTHER_WORDS)


def main() -> int:
    """Prints a table; 1 where we refuse what JAX lowers, or for another reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.copies", description=__doc__)
    parser.add_argument("--copies", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the next has the next one")
    options = parser.parse_args()
    seen: dict[Outcome, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for seed in range(options.seed, options.seed + options.copies):
        kernel = text(spec(seed))
        found = compare(kernel, live.verdict(kernel), live.VERSION)
        reason = "" if found.outcome in (Outcome.LOWERS, Outcome.FOUND) else re.sub(r"\d+", "N", str(found))
        seen[found.outcome][reason].append(seed)
    for outcome, reasons in seen.items():
        print(f"{sum(map(len, reasons.values())):6}  {outcome.value}")
        for reason, seeds in sorted(reasons.items(), key=lambda r: -len(r[1])):
            if reason:
                print(f"{len(seeds):12}  {reason}  {seeds[:5]}")
    return 1 if any(seen[o] for o in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
