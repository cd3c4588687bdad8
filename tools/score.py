"""`make score`: facts about JAX's own kernels against what JAX saw when it traced them.

The truth and its scorer are not part of this repository: they are looked for in ../shared/truth, or in the folder
given.
"""

from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Writes predictions, then runs the scorer."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "truth"
    scorer, packed = folder / "score.py", folder / "truth_ops.jsonl.gz"
    if not scorer.exists() or not packed.exists():
        print(f"make score: no truth in {folder}; give the folder that holds score.py and truth_ops.jsonl.gz")
        return 2
    spec = importlib.util.find_spec("jax")
    if spec is None or spec.origin is None:
        print("make score: JAX is not installed; its kernels are what is scored")
        return 2
    site = Path(spec.origin).parent.parent
    kernels = sorted((site / "jax/experimental/pallas/ops/gpu").glob("*_mgpu.py"))
    with tempfile.TemporaryDirectory() as name:
        truth, predictions = Path(name) / "truth.jsonl", Path(name) / "predictions.jsonl"
        truth.write_bytes(gzip.decompress(packed.read_bytes()))
        with predictions.open("w") as out:
            command = [sys.executable, "-m", "pallas_ls", "facts", "--format", "json"]
            subprocess.run([*command, *(str(k.relative_to(site)) for k in kernels)], cwd=site, stdout=out, check=True)
        return subprocess.run(
            [
                sys.executable,
                str(scorer),
                "--truth",
                str(truth),
                "--pred",
                str(predictions),
                "--by-api",
                "--list",
                "20",
            ],
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
