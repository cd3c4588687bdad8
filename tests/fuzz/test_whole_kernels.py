"""A seeded sample of whole kernels and of changed real ones: pallas-ls beside the installed JAX.

`python -m tests.fuzz.whole` and `python -m tests.fuzz.mutants` run as many more as one likes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest

pytest.importorskip("jax", reason="JAX is not installed")

from pallas_ls.domain.target import JaxVersion

from .choices import Choices
from .mutants.__main__ import mutants
from .mutants.mutate import mutant
from .mutants.sources import good_kernels
from .whole.compare import Comparison, Outcome, compare
from .whole.drawing import Draw
from .whole.generate import generate
from .whole.oracle import ABORTED, IDLE, Oracle, Refusal
from .whole.sites import is_decidable

KERNELS, MUTANTS = 80, 60
BAD = (Outcome.FALSE_ERROR, Outcome.CRASH)


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as started:
        yield started


def test_no_kernel_that_lowers_has_an_error_and_most_refusals_are_found(oracle: Oracle) -> None:
    version = JaxVersion.parse(oracle.version)
    outcomes: Counter[Outcome] = Counter()
    seeds = range(KERNELS)
    for seed, (text, refusal) in zip(seeds, oracle.verdicts(map(generate, seeds)), strict=True):
        found = compare(text, refusal, version)
        outcomes[found.outcome] += 1
        assert found.outcome not in BAD, _shown(f"seed {seed}", found)
    assert outcomes[Outcome.LOWERS] * 100 >= outcomes.total() * 30
    assert outcomes[Outcome.FOUND] * 100 >= (outcomes[Outcome.FOUND] + outcomes[Outcome.MISSED]) * 80


def test_no_changed_kernel_that_still_lowers_has_an_error(oracle: Oracle) -> None:
    version = JaxVersion.parse(oracle.version)
    kept = 0
    made = list(islice(mutants(good_kernels(), [], seed=1), MUTANTS))
    for (name, _), (text, refusal) in zip(made, oracle.verdicts(text for _, text in made), strict=True):
        found = compare(text, refusal, version)
        kept += refusal is None
        assert found.outcome not in BAD, _shown(name, found)
    assert kept * 100 >= MUTANTS * 20


def test_a_kernel_that_ends_the_process_is_an_answer_and_the_next_one_is_asked_anew(oracle: Oracle) -> None:
    lowers = 'import jax; jax.jit(lambda x: x).trace(1).lower(lowering_platforms=("cuda",))'
    answers = dict(oracle.verdicts(["import os; os._exit(3)", lowers, "pass", "raise ValueError('no')"]))
    assert answers["import os; os._exit(3)"] == ABORTED
    assert answers[lowers] is None
    assert answers["pass"] == IDLE
    refused = answers["raise ValueError('no')"]
    assert refused is not None
    assert (refused.type, refused.message, refused.at) == ("ValueError", "no", 1)


def test_a_fault_stands_at_the_point_that_was_named_and_nowhere_else() -> None:
    def drawn(faults: tuple[int, ...]) -> list[int]:
        d = Draw(7, faults)
        return [d.odd(d.below(100), -1) for _ in range(5)]

    sound = drawn(())
    assert -1 not in sound
    assert drawn((2,)) == [*sound[:2], -1, *sound[3:]]


def test_kernels_and_mutants_are_the_same_for_the_same_seed_and_can_be_read() -> None:
    for seed in range(200):
        text = generate(seed)
        assert text == generate(seed)
        ast.parse(text)
    source = good_kernels()[0].text
    made = {mutant(Choices(seed), source, 2) for seed in range(50)}
    assert len(made) > 20
    assert mutant(Choices(3), source, 2) == mutant(Choices(3), source, 2)


@pytest.mark.parametrize(
    ("function", "message", "decidable"),
    [
        ("Barrier.__post_init__", "Num arrivals must be at least 1, but got 0", True),
        ("Barrier.__post_init__", "something else", False),
        ("nowhere", "Num arrivals must be at least 1, but got 0", False),
    ],
)
def test_sites_are_told_by_function_and_words(function: str, message: str, decidable: bool) -> None:
    refusal = Refusal("ValueError", message, 1, "jax/_src/pallas/mosaic_gpu/core.py", function, 1)
    assert is_decidable(refusal) is decidable


def _shown(name: str, found: Comparison) -> str:
    return f"{name}: {found.outcome.value}: {found.reason()}"
