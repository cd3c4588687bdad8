"""Register layouts followed through a kernel's values, against live JAX: what we refuse, JAX refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ..oracle.answers import findings
from .chains import kernel

live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)

#: How many kernels; more with PALLAS_LS_CHAINS=N.
COUNT = int(os.environ.get("PALLAS_LS_CHAINS", "60"))
BLOCK = 20


@pytest.mark.parametrize("first", range(0, COUNT, BLOCK))
def test_what_we_refuse_is_refused(first: int, tmp_path: Path) -> None:
    found = 0
    for seed in range(first, first + BLOCK):
        text, path = kernel(seed, live.VERSION), tmp_path / f"chain_{seed}.py"
        path.write_text(text)
        ours, theirs = (
            [f for f in findings("k.py", text, live.VERSION) if f.severity.name == "ERROR"],
            live.verdict(path),
        )
        assert not ours or theirs is not None, f"JAX lowers this; we say {[f.message for f in ours]}:\n{text}"
        found += bool(ours)
    assert found >= BLOCK // 10, "these kernels do not try what they are made to try"
