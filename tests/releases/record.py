"""Records anew the public names of Pallas in the installed JAX: `python -m tests.releases.record` with each release.

Run with `PYTHONPATH=server` and each of the measured releases; the other releases' rows stay as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pallas_ls.library.releases import TABLE, Row, rows

from . import live


def main() -> None:
    kept = [r for r in rows() if r.version != live.VERSION]
    lines = sorted("\t".join(r.texts()) for r in (*kept, *live.names()))
    Path(str(TABLE)).write_text("\n".join(["\t".join(Row.HEAD), *lines]) + "\n", "utf-8")
    print(f"{TABLE.name}: {len(lines)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
