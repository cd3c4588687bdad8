"""Random programs: what the evaluator says of them is what Python does."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .compare import Account, disagreements
from .generate import PRELUDE, bindings, programs

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
