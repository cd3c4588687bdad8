"""Requests for the kernels of this folder, and a closer look at what came of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pallas_ls.confirm.host import Outcome
from pallas_ls.confirm.protocol import Raised, Request, Verdict

KERNELS = Path(__file__).parent / "kernels"
TIMEOUT = 120  #: seconds; far more than a confirmation takes on a busy machine
X = "jax.ShapeDtypeStruct((64, 64), jnp.float32)"  #: an argument that most kernels here take


def kernels(target: str, *others: str, **fields: Any) -> Request:
    """A request for a file of the folder `kernels`, sent with the others that are named."""
    return Request({name: (KERNELS / name).read_text() for name in (target, *others)}, target, **fields)


def source(text: str, **fields: Any) -> Request:
    """A request for one file with this text, kernel.py."""
    return Request({"kernel.py": text}, "kernel.py", **fields)


def verdicts(outcome: Outcome) -> dict[str, Verdict]:
    """The verdicts by id, all of them JAX's own."""
    assert outcome.failure is None, outcome.message
    return {verdict.id: verdict for verdict in outcome.verdicts}


def raised(verdict: Verdict) -> Raised:
    assert verdict.error is not None
    return verdict.error
