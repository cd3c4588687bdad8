"""The readable cases in `cases/`: what kernel authors write, and what the evaluator makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import expectations, failures, modules

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    """Every expectation beside a line holds."""
    text = path.read_text(encoding="utf-8")
    assert expectations(modules(text)["main"]), "a case without expectations tests nothing"
    found = failures(text)
    assert not found, "\n".join(found)
