"""Random programs: what the evaluator says of them is what Python does."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .compare import Account, disagreements, share_unknown
from .generate import PRELUDE, bindings, programs, seeded

EXAMPLES = int(os.environ.get("PALLAS_LS_EXAMPLES", "1"))


@settings(max_examples=150 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_claims_are_what_python_does(data: st.DataObject) -> None:
    """On integers and over symbols: results, exceptions, and the calls that are made with their arguments."""
    text, parameters = data.draw(programs())
    account = Account.of(text, parameters)
    for _ in range(3):
        binding = data.draw(bindings(parameters))
        found = disagreements(account, binding)
        assert not found, f"{binding}\n{text[len(PRELUDE) :]}\n" + "\n".join(found)


def test_little_is_unknown() -> None:
    """On integers nearly nothing is unknown, over symbols little: a result counts as unknown if any part of it is."""
    concrete = symbolic = whole = 0
    for seed in range(150):
        text, parameters, binding = seeded(seed)
        shares = share_unknown(Account.of(text, parameters), binding)
        if shares is not None:
            whole += 1
            concrete += shares[0]
            symbolic += shares[1]
    assert whole > 100
    assert concrete <= 0.01 * whole, f"{concrete} of {whole}"
    assert symbolic <= 0.15 * whole, f"{symbolic} of {whole}"
