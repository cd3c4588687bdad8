"""Which names the public modules of Pallas have in each measured release, and how their functions are called.

`releases.tsv` keeps them as the installed JAX told them (tests/releases): a row a name and release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import ClassVar

from ..domain.target import MEASURED, JaxVersion

TABLE = resources.files("pallas_ls.library").joinpath("releases.tsv")
#: The modules by the prefix of their names here.
MODULES: Mapping[str, str] = {"": "jax.experimental.pallas.mosaic_gpu", "pl.": "jax.experimental.pallas"}
#: Instead of parameters: the name is no function, or it takes any keyword.
ANY = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """A name in one release.

    Attributes:
      name: "load", "Layout.WGMMA", "pl.semaphore_signal".
      called: what Python calls it in errors ("Barrier.__init__").
      parameters: as Python writes them, each default as None; ANY where nothing is to be said of them.
    """

    name: str
    version: JaxVersion
    called: str
    parameters: str
    HEAD: ClassVar[tuple[str, ...]] = ("name", "version", "called", "parameters")

    def texts(self) -> tuple[str, ...]:
        """As the table writes it."""
        return (self.name, str(self.version), self.called, self.parameters)


@cache
def rows() -> tuple[Row, ...]:
    """All rows."""
    if not TABLE.is_file():
        return ()
    cells = (line.split("\t") for line in TABLE.read_text("utf-8").splitlines()[1:])
    return tuple(Row(name, JaxVersion.parse(version), called, told) for name, version, called, told in cells)


@cache
def by_name() -> Mapping[str, Mapping[JaxVersion, Row]]:
    """The releases that have each name."""
    out: dict[str, dict[JaxVersion, Row]] = {}
    for r in rows():
        out.setdefault(r.name, {})[r.version] = r
    return out


def is_in_all(name: str) -> bool:
    """Whether every measured release has the name (and so, it is taken, every other one)."""
    return len(by_name().get(name, {})) == len(MEASURED)


def nearest(version: JaxVersion) -> tuple[JaxVersion, ...]:
    """The measured releases that a version lies between; itself where it was measured."""
    if version in MEASURED:
        return (version,)
    before = [v for v in MEASURED if v < version][-1:]
    after = [v for v in MEASURED if v > version][:1]
    return (*before, *after)
