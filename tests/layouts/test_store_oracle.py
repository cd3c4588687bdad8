"""The model of async_store_smem against JAX: live with the installed release, recorded for the measured ones."""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.target import MEASURED, JaxVersion
from pallas_ls.rules.transfer.case import Accepted, Outcome, StoreCase, Undecided
from pallas_ls.rules.transfer.store import async_store_outcome

from . import recorded
from .generate import random_case

#: At most so many of a hundred random stores may be left undecided; a model that decides nothing proves nothing.
MOST_UNDECIDED = 0.08


def disagreement(case: StoreCase, said: Outcome, verdict: Accepted | JaxError) -> str | None:
    """Why the model is wrong, in a line, or None."""
    if isinstance(said, Undecided):
        return None
    if isinstance(said, Accepted) and isinstance(verdict, Accepted):
        return None
    if said == verdict:
        return None
    return f"{case}\n  JAX: {verdict}\n  model: {said}"


def check(pairs: list[tuple[StoreCase, Accepted | JaxError]]) -> None:
    said = [async_store_outcome(case) for case, _ in pairs]
    wrong = [
        text
        for outcome, (case, verdict) in zip(said, pairs, strict=True)
        if (text := disagreement(case, outcome, verdict))
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(isinstance(outcome, Undecided) for outcome in said) <= MOST_UNDECIDED * len(pairs)


@pytest.mark.parametrize("version", MEASURED, ids=str)
def test_agrees_with_recorded_verdicts(version: JaxVersion) -> None:
    pairs = list(recorded.read(version))
    assert len(pairs) >= 200
    assert sum(isinstance(verdict, Accepted) for _, verdict in pairs) >= 20
    check(pairs)


def test_agrees_with_the_installed_jax(live: ModuleType) -> None:
    rng = random.Random(7)
    cases = [random_case(rng, live.VERSION) for _ in range(200)]
    check([(case, live.verdict(case)) for case in cases])
