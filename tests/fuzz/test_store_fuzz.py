"""A seeded sample of random kernel files and rewrites: pallas-ls beside the installed JAX.

`python -m tests.fuzz` and `python -m tests.fuzz.metamorphic` run as many more as one likes.
"""

from __future__ import annotations

from collections import Counter
from importlib import resources

import pytest

pytest.importorskip("jax", reason="JAX is not installed")

from pallas_ls.rules.registry import all_rules

from .choices import Choices, shrink
from .compare import Comparison, Outcome, compare
from .kernels import generate
from .metamorphic import run

SHARDS, EACH = 6, 50
#: Of the refusals that the rules speak of, at least so many of a hundred are found; the others are unknown to us.
FOUND_PERCENT = 80


@pytest.fixture(scope="module")
def outcomes() -> Counter[Outcome]:
    return Counter()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_file_that_lowers_has_an_error_and_refusals_have_jax_type(shard: int, outcomes: Counter[Outcome]) -> None:
    for seed in range(shard * EACH, (shard + 1) * EACH):
        generated = generate(Choices(seed))
        found = compare(generated.texts)
        outcomes[found.outcome] += 1
        assert found.outcome not in (Outcome.FALSE_ERROR, Outcome.WRONG_TYPE, Outcome.CRASH), _shown(seed, found)


def test_the_sample_has_files_of_both_kinds_and_most_refusals_are_found(outcomes: Counter[Outcome]) -> None:
    if outcomes.total() < SHARDS * EACH:
        pytest.skip("needs the whole sample")
    claimed = outcomes[Outcome.FOUND] + outcomes[Outcome.MISSED]
    assert outcomes[Outcome.LOWERS] * 4 >= outcomes.total()
    assert outcomes[Outcome.FOUND] * 100 >= claimed * FOUND_PERCENT


def test_rewrites_of_kernels_that_lower_have_no_error() -> None:
    folder = resources.files("pallas_ls.rules") / "kernels"
    files = [{"main": (folder / f"{rule.id}.good.py").read_text("utf-8")} for rule in all_rules()]
    assert not run(files, count=200, seed=0)


def test_a_row_shrinks_to_the_plainest_that_still_shows_the_same() -> None:
    small = shrink([7, 0, 93, 5, 41, 0, 12], lambda row: sum(row) > 50)
    assert sum(small) == 51
    assert sum(1 for x in small if x) <= 2


def _shown(seed: int, found: Comparison) -> str:
    return f"seed {seed}: {found.outcome.value}: {found.reason()}"
