"""The functions that JAX has no lowering for, release by release, as `unlowered.tsv` keeps them.

A row is a *cell*: a function called with so many arrays first, all of one rank and one family of element types, and
whatever else ("any") or nothing else ("plain"). It stands in the table where every call of the cell that JAX traces
stops at a primitive without a lowering rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import ClassVar

from ...domain.target import MEASURED, JaxVersion, Semantics

TABLE = resources.files("pallas_ls.rules.primitives").joinpath("unlowered.tsv")


@dataclass(frozen=True, slots=True)
class Row:
    """A cell for a release and lowering semantics, and the primitive at which it stops ("…" where it depends)."""

    function: str
    arrays: int
    rank: int
    family: str
    others: str
    version: JaxVersion
    semantics: Semantics
    primitive: str
    HEAD: ClassVar[tuple[str, ...]] = (
        "function",
        "arrays",
        "rank",
        "family",
        "others",
        "version",
        "semantics",
        "primitive",
    )

    def texts(self) -> tuple[str, ...]:
        """As the table writes it."""
        values = (self.function, self.arrays, self.rank, self.family, self.others, self.version, self.semantics.value)
        return (*map(str, values), self.primitive)


@cache
def rows() -> tuple[Row, ...]:
    """All rows."""
    if not TABLE.is_file():
        return ()
    lines = TABLE.read_text("utf-8").splitlines()[1:]
    cells = (line.split("\t") for line in lines)
    return tuple(
        Row(name, int(arrays), int(rank), family, others, JaxVersion.parse(version), Semantics(semantics), primitive)
        for name, arrays, rank, family, others, version, semantics, primitive in cells
    )


@cache
def unlowered(version: JaxVersion, semantics: Semantics) -> dict[tuple[str, int, int, str, str], str]:
    """The primitive at which each cell stops; a release that was not measured is as the newest before it."""
    known = [measured for measured in MEASURED if measured <= version]
    measured = known[-1] if known else MEASURED[0]
    mine = (r for r in rows() if r.version == measured and r.semantics is semantics)
    return {(r.function, r.arrays, r.rank, r.family, r.others): r.primitive for r in mine}


def functions() -> tuple[str, ...]:
    """Every function that some release cannot lower."""
    return tuple(sorted({r.function for r in rows()}))
