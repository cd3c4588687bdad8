"""Random copies: what we refuse, JAX refuses in the same words, and of what JAX lowers we refuse nothing."""

from __future__ import annotations

import pytest

from pallas_ls.domain.target import MEASURED, JaxVersion
from tests.oracle.verdict import read, show

from .compare import Outcome, compare
from .generate import spec, text
from .record import TABLE, kernels

KERNELS = kernels()
RECORDED = read(TABLE)
#: Copies that no record has and no other test looks at.
LIVE = range(5000, 5030)


def test_the_record_is_of_these_copies() -> None:
    assert {name for name, _ in RECORDED} == set(KERNELS), "run tests.copies.record with each release"
    assert len(RECORDED) == len(KERNELS) * len(MEASURED)


def test_the_copies_are_of_all_kinds() -> None:
    for version in MEASURED:
        verdicts = [RECORDED[name, version] for name in KERNELS]
        assert sum(v is None for v in verdicts) > 30
        assert len({v.message[:30] for v in verdicts if v is not None}) > 15


@pytest.mark.parametrize("version", MEASURED, ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_we_say_what_jax_said(name: str, version: JaxVersion) -> None:
    found = compare(KERNELS[name], RECORDED[name, version], version)
    assert found.outcome in (Outcome.LOWERS, Outcome.FOUND, Outcome.BEYOND), str(found)


@pytest.mark.parametrize("name", list(KERNELS)[:12])
def test_the_installed_jax_still_says_so(name: str) -> None:
    live = pytest.importorskip("tests.copies.live", reason="JAX is not installed", exc_type=ImportError)
    if live.VERSION not in MEASURED:
        pytest.skip(f"JAX {live.VERSION} has no record")
    assert (
        show(live.verdict(KERNELS[name])).partition(" at 0x")[0]
        == show(RECORDED[name, live.VERSION]).partition(" at 0x")[0]
    )


@pytest.mark.parametrize("seed", LIVE)
def test_the_installed_jax_agrees(seed: int) -> None:
    live = pytest.importorskip("tests.copies.live", reason="JAX is not installed", exc_type=ImportError)
    kernel = text(spec(seed))
    found = compare(kernel, live.verdict(kernel), live.VERSION)
    assert found.outcome in (Outcome.LOWERS, Outcome.FOUND, Outcome.BEYOND), str(found)
