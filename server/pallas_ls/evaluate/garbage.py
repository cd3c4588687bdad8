"""When Python looks for objects that only hold each other."""

from __future__ import annotations

import gc

#: New objects between two searches (Python's own number is 700 to 2,000, by version), and searches of each generation
#: before one of the next. An analysis makes hundreds of thousands of objects that stay: looking at all of them again
#: and again takes a quarter of its time.
THRESHOLDS = (50_000, 20, 50)


def collect_rarely() -> None:
    """Lets a process that analyses search less often."""
    gc.set_threshold(*THRESHOLDS)
