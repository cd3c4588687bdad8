"""Idioms of real kernel files, in Python that runs: the evaluator says what Python does, and leaves nothing unknown.

Each snippet of `idioms/` is a module with a function `main(a: int, b: int)`. A line `# unknown over symbols: WHY` says
that on symbols its result may stay unknown; on integers it may not.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from .compare import Account, disagreements
from .substitute import incomplete, plain

_HEAD = re.compile(r"^# idiom: ([\w-]+)$", re.MULTILINE)
_EXEMPT = "# unknown over symbols: "
BINDINGS = [dict(zip("ab", pair, strict=True)) for pair in product((-2, 0, 1, 5), (1, 3))]


def _snippets() -> dict[str, str]:
    out: dict[str, str] = {}
    for path in sorted((Path(__file__).parent / "idioms").glob("*.txt")):
        _, *parts = _HEAD.split(path.read_text(encoding="utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            assert name not in out, f"two idioms named {name}"
            out[name] = text.strip("\n") + "\n"
    return out


SNIPPETS = _snippets()


@pytest.mark.parametrize("name", SNIPPETS)
def test_idiom(name: str) -> None:
    """On integers and over symbols."""
    text = SNIPPETS[name]
    account = Account.of(text, ["a", "b"])
    for binding in BINDINGS:
        found = disagreements(account, binding)
        assert not found, f"{binding}\n" + "\n".join(found)
        exact = account.concrete(binding)
        assert exact.raised is None and not incomplete(value := plain(exact.value, {})), f"{exact.raised} {value}"
        open_ = plain(account.symbolic.value, binding)
        assert _EXEMPT in text or not incomplete(open_), f"over symbols: {open_}"
