"""Where JAX raises for what follows from shapes, element types, transforms, spaces and literals alone.

`sites.tsv` has those of 0.12.0: file, qualified function, exception, and words of the message where other exceptions of
that function depend on more. Line numbers differ from release to release; these rarely do.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from .oracle import Refusal

_TABLE = Path(__file__).with_name("sites.tsv")
#: What a site's exception was called in other releases.
_SAME = {"MLIRError": "VerificationError"}


@cache
def _decidable() -> dict[tuple[str, str, str], tuple[str, ...]]:
    out: dict[tuple[str, str, str], tuple[str, ...]] = {}
    with _TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            key = (row["file"], row["function"], row["exception"])
            out[key] = (*out.get(key, ()), row["words"])
    return out


def is_decidable(refusal: Refusal) -> bool:
    """Whether it comes from a site whose condition the text of a kernel decides."""
    if "values to unpack" in refusal.message:  # no `raise` of JAX, though in a function that has one
        return False
    key = (refusal.file.rpartition("/")[2], refusal.function, _SAME.get(refusal.type, refusal.type))
    return any(words in refusal.message for words in _decidable().get(key, ()))
