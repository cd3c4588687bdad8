"""How long `pallas-ls check` takes beside basedpyright, over the operators of tokamax and jax-linear-attention.

Run with `python -m tests.benchmarks.beside_basedpyright [SECONDS]` where the packages `tokamax`, `jla`
(jax-linear-attention) and `basedpyright` are installed; where one is missing it says so and measures nothing. Both
tools are given the same copy of the packages and this Python's environment; each runs alone. Processor seconds are
those of all its processes. A tool that takes more than SECONDS (default: 1200) is stopped.
"""

from __future__ import annotations

import importlib.util
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDERS = {"tokamax": "tokamax/_src/ops", "jla": "jla/ops"}
LIMIT = 1200.0


def main() -> None:
    """Measures both, or says what is missing."""
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else LIMIT
    packages = {name: _folder(name) for name in FOLDERS}
    program = shutil.which("basedpyright", path=str(Path(sys.executable).parent)) or shutil.which("basedpyright")
    missing = [name for name, folder in packages.items() if folder is None]
    missing += [] if program else ["basedpyright"]
    if missing or program is None:
        print(f"skipped: not installed: {', '.join(missing)}")
        return
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for name, folder in packages.items():
            if folder is not None:
                shutil.copytree(folder, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "pyproject.toml").write_text("")
        paths = list(FOLDERS.values())
        print(f"{sum(1 for path in paths for _ in (root / path).rglob('*.py'))} files")
        check = [sys.executable, "-m", "pallas_ls", "check", "--format", "concise", "--python", sys.executable, *paths]
        for title, command in (
            ("pallas-ls check", check),
            ("basedpyright", [program, "--pythonpath", sys.executable, *paths]),
        ):
            print(f"{title:16} {_timed(command, root, limit)}", flush=True)


def _folder(name: str) -> Path | None:
    """Where a package is installed; it is not imported."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _timed(command: list[str], folder: Path, limit: float) -> str:
    before, start = _processor_seconds(), time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not done after {limit:.0f} s"
    lines = done.stdout.strip().splitlines()
    wall, spent = time.monotonic() - start, _processor_seconds() - before
    return f"{wall:7.1f} s, {spent:7.1f} s of processor time; exit code {done.returncode}: {lines[-1] if lines else ''}"


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
