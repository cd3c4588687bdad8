"""`python -m tests.fuzz.mutants --kept N --seed S [--python PYTHON]`: real kernels, changed until N still lower."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

from pallas_ls.domain.target import JaxVersion
from tests.fuzz.choices import Choices
from tests.fuzz.whole.compare import Outcome, compare
from tests.fuzz.whole.oracle import Oracle
from tests.fuzz.whole.show import show

from .mutate import mutant
from .sources import Source, good_kernels, jax_kernels

BAD = (Outcome.FALSE_ERROR, Outcome.CRASH)
#: One mutant in so many is of a kernel that JAX brings along: those take seconds each.
_OWN = 60
#: Changes that one mutant has at most.
_CHANGES = 2


def main() -> int:
    """Prints counts and what disagrees; 1 where there is a false error or a crash."""
    options = _options()
    outcomes: Counter[Outcome] = Counter()
    missed: Counter[str] = Counter()
    begun = time.monotonic()
    with Oracle(options.python) as oracle:
        version = JaxVersion.parse(oracle.version)
        made = mutants(good_kernels(), jax_kernels(oracle.home), options.seed)
        names: list[str] = []
        texts = (_noted(name, text, names) for name, text in made)
        for text, refusal in oracle.verdicts(texts):
            found = compare(text, refusal, version)
            outcomes[found.outcome] += 1
            if found.outcome in BAD:
                show(names[outcomes.total() - 1], text, found)
            if found.outcome is Outcome.MISSED:
                missed[found.reason()] += 1
            if outcomes[Outcome.LOWERS] + outcomes[Outcome.FALSE_ERROR] >= options.kept:
                break
    print(
        f"JAX {oracle.version}: {outcomes.total()} mutants in {time.monotonic() - begun:.0f} s, seed {options.seed} on"
    )
    for outcome in Outcome:
        print(f"{outcomes[outcome]:6}  {outcome.value}")
    for reason, n in missed.most_common(options.missed):
        print(f"{n:6}  {reason}")
    return 1 if any(outcomes[o] for o in BAD) else 0


def mutants(good: list[Source], own: list[Source], seed: int) -> Iterator[tuple[str, str]]:
    """Mutants without end, each with the name that it can be found under: its kernel and its seed."""
    while True:
        c = Choices(seed)
        source = c.pick(own if own and seed % _OWN == 0 else good)
        text = mutant(c, source.text, _CHANGES)
        if text != source.text:
            yield f"{source.name}, seed {seed}", text
        seed += 1


def _noted(name: str, text: str, names: list[str]) -> str:
    names.append(name)
    return text


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.mutants", description=__doc__)
    parser.add_argument("--kept", type=int, default=300, help="how many that still lower")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the next has the next one")
    parser.add_argument("--python", default=sys.executable, help="whose JAX is asked")
    parser.add_argument("--missed", type=int, default=0, help="so many reasons for refusals that we missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
