"""Settings of all tests.

Property tests draw the same examples at every run, so that a red run means a change and not a draw, and have no
deadline, for machines differ. `PALLAS_LS_RANDOM=1` draws anew: that is how new examples are found (run it from time to
time, and after changes of the part that a test is about).
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("random", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("random" if os.environ.get("PALLAS_LS_RANDOM") else "same")
