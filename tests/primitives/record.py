"""Records anew which functions the installed JAX cannot lower in a kernel: `python -m tests.primitives.record`.

Run with `PYTHONPATH=server` and each of the measured releases; the other releases' rows stay as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pallas_ls.rules.primitives.table import TABLE, Row, rows

from . import live


def main() -> None:
    kept = [r for r in rows() if r.version != live.VERSION]
    for name in live.functions():
        for (cell, semantics), primitive in live.unlowered(name).items():
            kept.append(Row(*cell, live.VERSION, semantics, primitive))
    lines = sorted("\t".join(r.texts()) for r in kept)
    Path(str(TABLE)).write_text("\n".join(["\t".join(Row.HEAD), *lines]) + "\n", "utf-8")
    print(f"{TABLE.name}: {len(lines)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
