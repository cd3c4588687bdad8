"""JAX's verdict on a kernel file, as text and as data."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.target import MEASURED, JaxVersion

#: In a message that we quote: text that differs from run to run (names of MLIR values, for instance).
VARYING = "…"
OK = "OK"


def parse(text: str) -> JaxError | None:
    """ "OK" is None; "ValueError: Swizzle 16 ..." the error."""
    if text == OK:
        return None
    kind, _, message = text.partition(":")
    return JaxError(kind, message.removeprefix(" "))


def show(error: JaxError | None) -> str:
    """The reverse of `parse`; of a message of several lines the first."""
    return OK if error is None else f"{error.type}: {error.message.partition(chr(10))[0]}"


def quotes(ours: JaxError, theirs: JaxError) -> bool:
    """Whether our message is how JAX's begins, up to what varies; a bare exception is quoted as one."""
    if ours.type != theirs.type or bool(ours.message) != bool(theirs.message):
        return False
    at = 0
    for part in ours.message.split(VARYING):
        found = theirs.message.find(part, at)
        if found < 0 or (at == 0 and found != 0):
            return False
        at = found + len(part)
    return True


def read(path: Path) -> dict[tuple[str, JaxVersion], JaxError | None]:
    """A table of results: a row a file, a column a version of JAX."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["file"], v): parse(row[str(v)]) for row in rows for v in MEASURED if row[str(v)]}


def write(path: Path, results: Mapping[str, Mapping[JaxVersion, str]]) -> None:
    """Writes a table that `read` reads; what was not recorded is left empty."""
    columns = [*reversed(MEASURED)]
    lines = ["\t".join(["file", *map(str, columns)])]
    lines += ["\t".join([name, *(results[name].get(v, "") for v in columns)]) for name in sorted(results)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
