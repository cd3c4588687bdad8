"""The models of `wgmma` and `tcgen05_mma` against JAX: live with the installed release, recorded for the measured
ones."""

from __future__ import annotations

import random

import pytest

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.target import MEASURED, JaxVersion, Semantics
from pallas_ls.rules.mma.case import MmaCase, Open, Operand, Outcome, Refused, WgmmaCase
from pallas_ls.rules.mma.tcgen05 import mma_outcome
from pallas_ls.rules.mma.wgmma import wgmma_outcome
from tests.oracle.verdict import quotes, show

from . import recorded
from .generate import mma_case, wgmma_case

Case = WgmmaCase | MmaCase
#: At most so many of a hundred may be left undecided; a model that decides nothing proves nothing.
MOST_OPEN = 0.03


def outcome(case: Case) -> Outcome:
    return wgmma_outcome(case) if isinstance(case, WgmmaCase) else mma_outcome(case)


def check(pairs: list[tuple[Case, JaxError | None]]) -> None:
    wrong: list[str] = []
    undecided = 0
    for case, theirs in pairs:
        ours = outcome(case)
        undecided += isinstance(ours, Open)
        agree = (theirs is None) if ours is None else isinstance(ours, Open) or _quoted(ours, theirs)
        if not agree:
            wrong.append(f"{case}\n  JAX: {show(theirs)}\n  model: {ours}")
    assert not wrong, "\n".join(wrong)
    assert undecided <= MOST_OPEN * len(pairs)


def _quoted(ours: Refused, theirs: JaxError | None) -> bool:
    return theirs is not None and quotes(ours.jax, theirs)


@pytest.mark.parametrize("version", MEASURED, ids=str)
def test_they_agree_with_recorded_verdicts(version: JaxVersion) -> None:
    pairs = list(recorded.read(version))
    for kind in (WgmmaCase, MmaCase):
        mine = [theirs for case, theirs in pairs if isinstance(case, kind)]
        assert len(mine) >= 250
        assert sum(theirs is None for theirs in mine) >= 30
    check(pairs)


def test_they_agree_with_the_installed_jax() -> None:
    live = pytest.importorskip("tests.mma.live", reason="JAX is not installed", exc_type=ImportError)
    if live.VERSION not in MEASURED:
        pytest.skip(f"JAX {live.VERSION} was not measured")
    rng = random.Random(7)
    cases: list[Case] = [make(rng, live.VERSION) for make in (wgmma_case, mma_case) for _ in range(40)]
    check([(case, live.verdict(case)) for case in cases])


def test_a_recorded_case_is_the_case_that_was_recorded(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = MEASURED[-1]
    monkeypatch.setattr(recorded, "path", lambda _: tmp_path / "table.tsv")
    rng = random.Random(1)
    cases: list[Case] = [make(rng, version) for make in (wgmma_case, mma_case) for _ in range(50)]
    recorded.write(version, ((case, None) for case in cases))
    assert [case for case, _ in recorded.read(version)] == cases


@pytest.mark.parametrize(
    ("k", "swizzle", "refused"), [(64, 128, False), (32, 128, True), (32, 64, False), (48, 32, False)]
)
def test_k_is_whole_rows_of_the_swizzle(k: int, swizzle: int, refused: bool) -> None:
    row = swizzle // 2
    a = Operand((64, k), "float16", tiling=(8, row), swizzle=swizzle, transposed=True)
    b = Operand((k, 64), "float16", tiling=(8, row), swizzle=swizzle)
    for semantics in Semantics:
        found = wgmma_outcome(WgmmaCase((64, 64), "float32", a, b, semantics))
        assert isinstance(found, Refused) == refused
        assert found is None or found.jax.message == f"K must be a multiple of {row}, got: {k}"
