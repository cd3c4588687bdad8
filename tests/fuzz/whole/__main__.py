"""`python -m tests.fuzz.whole --kernels N --seed S [--python PYTHON]`: whole kernels, JAX beside us."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from pallas_ls.domain.target import JaxVersion

from .compare import Outcome, compare
from .generate import generate
from .oracle import Oracle
from .show import show

BAD = (Outcome.FALSE_ERROR, Outcome.CRASH)
_SHOWN = (*BAD, Outcome.MISSED, Outcome.BEYOND, Outcome.ABORTED)
_NAME = re.compile(r"\b(?:plgpu|pl|jnp|lax|jax)\.([A-Za-z_]\w*)")


def main() -> int:
    """Prints counts, sites and what disagrees; 1 where there is a false error or a crash."""
    options = _options()
    outcomes: Counter[Outcome] = Counter()
    sites: Counter[str] = Counter()
    names: Counter[str] = Counter()
    reasons: dict[Outcome, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    begun = time.monotonic()
    with Oracle(options.python) as oracle:
        version = JaxVersion.parse(oracle.version)
        seeds = range(options.seed, options.seed + options.kernels)
        for seed, (text, refusal) in zip(seeds, oracle.verdicts(map(generate, seeds)), strict=True):
            found = compare(text, refusal, version)
            outcomes[found.outcome] += 1
            names.update(set(_NAME.findall(text)))
            if found.refusal is not None:
                sites[found.site] += 1
            if found.outcome in _SHOWN:
                reasons[found.outcome][found.reason()].append(seed)
            if found.outcome in BAD:
                show(f"seed {seed}", text, found)
    print(
        f"JAX {oracle.version}: {options.kernels} kernels in {time.monotonic() - begun:.0f} s, seed {options.seed} on"
    )
    _report(outcomes, sites, names, reasons)
    if options.sites is not None:
        options.sites.write_text("".join(f"{n}\t{site}\n" for site, n in sites.most_common()), encoding="utf-8")
    return 1 if any(outcomes[o] for o in BAD) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.whole", description=__doc__)
    parser.add_argument("--kernels", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the next has the next one")
    parser.add_argument("--python", default=sys.executable, help="whose JAX is asked")
    parser.add_argument("--sites", type=Path, help="a file for the places where JAX raised, with their counts")
    return parser.parse_args()


def _report(
    outcomes: Counter[Outcome],
    sites: Counter[str],
    names: Counter[str],
    reasons: dict[Outcome, dict[str, list[int]]],
) -> None:
    for outcome in Outcome:
        print(f"{outcomes[outcome]:6}  {outcome.value}")
    print(f"{len(sites):6}  places of JAX that raised; {len(names)} names of its API used")
    for outcome in _SHOWN:
        if reasons[outcome]:
            print(f"== {outcome.value}")
        for reason, seeds in sorted(reasons[outcome].items(), key=lambda r: -len(r[1])):
            print(f"{len(seeds):6}  {reason}  {seeds[:5]}")


if __name__ == "__main__":
    sys.exit(main())
