"""What is offered for the rules' own kernels lowers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pallas_ls.domain.target import JaxVersion
from pallas_ls.fixes import capacity, moves, multiplication, operands, operations, stores, tensor_memory, values
from pallas_ls.rules.registry import rule_named
from pallas_ls.rules.rule import REFUSED

from .offered import Offered, fixed, session

TABLES = (
    *(capacity.FIXES, moves.FIXES, multiplication.FIXES, operands.FIXES, operations.FIXES),
    *(stores.FIXES, tensor_memory.FIXES, values.FIXES),
)
FIXED = sorted({id for table in TABLES for id in table})


def offered(text: str, jax: str) -> list[Offered]:
    """All fixes for all findings of a text, warnings included."""
    s, files = session({"kernel.py": text}, jax)
    return [Offered(f.code, o.fix, fixed(files, o.fix)) for f in s.check("kernel.py").findings for o in s.fixes_of(f)]


def bad(id: str) -> str:
    rule = rule_named(id)
    assert rule is not None
    return rule.example("bad").replace(REFUSED, "")


@pytest.mark.parametrize("id", FIXED)
def test_something_is_offered(id: str) -> None:
    assert {o.code for o in offered(bad(id), "0.12.0")} == {id}


@pytest.mark.parametrize("id", FIXED)
def test_what_is_offered_lowers(id: str, tmp_path: Path) -> None:
    live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)
    assert isinstance(live.VERSION, JaxVersion)
    for i, o in enumerate(offered(bad(id), str(live.VERSION))):
        made = tmp_path / f"{i}.py"
        made.write_text(o.texts["kernel.py"], "utf-8")
        assert live.verdict(made) is None, o.fix.title
