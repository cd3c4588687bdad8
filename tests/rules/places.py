"""Where the rules' kernels and their record are."""

from __future__ import annotations

from pathlib import Path

import pallas_ls.rules

KERNELS = Path(pallas_ls.rules.__file__).parent / "kernels"
TABLE = KERNELS / "results.tsv"
