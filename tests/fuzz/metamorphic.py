"""Accepted files, rewritten: `python -m tests.fuzz.metamorphic --count N --seed S FILE...`.

JAX is asked only where we report an error: a rewrite that JAX refuses as well has broken the file.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from . import oracle
from .analysis import check, errors
from .choices import Choices, shrink
from .rewrites import rewritten


def texts_of(path: Path) -> dict[str, str]:
    """A file as the main module, with the modules beside it that it imports."""
    text = path.read_text()
    beside = {
        p.stem: p.read_text()
        for p in path.parent.glob("*.py")
        if (p != path and f"import {p.stem}" in text) or f"from {p.stem} " in text
    }
    return {oracle.MAIN: text, **beside}


def wrong(texts: dict[str, str]) -> str:
    """What is wrong with our answer for a file: a crash, or an error on what JAX lowers; empty where nothing is."""
    try:
        found = errors(check(texts))
    except Exception:  # any crash is a defect to be shown
        return traceback.format_exc()
    if not found or oracle.run(texts) is not None:
        return ""
    return "\n".join(
        f"{e.span.path}:{texts.get(e.span.path[:-3], '').count(chr(10), 0, e.span.start) + 1} {e.code}: {e.message}"
        for e in found
    )


def rewrite(texts: dict[str, str], c: Choices) -> dict[str, str]:
    """The main module rewritten."""
    return {**texts, oracle.MAIN: rewritten(c, texts[oracle.MAIN], 1 + c.below(4))}


def main() -> int:
    """Prints each false error with its smallest rewrite; 1 where there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.metamorphic", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    return 1 if run([texts_of(p) for p in options.files], options.count, options.seed) else 0


def run(files: Sequence[dict[str, str]], count: int, seed: int) -> Counter[str]:
    """Rewrites files in turn; what was wrong, by its text."""
    found: Counter[str] = Counter()
    for n in range(count):
        texts = files[n % len(files)]
        c = Choices(seed + n)
        problem = wrong(rewrite(texts, c))
        if problem and problem not in found:
            row = shrink(c.made, lambda row, texts=texts: bool(wrong(rewrite(texts, Choices(row=row)))), 100)
            print(f"== {problem}\n{rewrite(texts, Choices(row=row))[oracle.MAIN]}", flush=True)
        if problem:
            found[problem] += 1
    print(f"{count} rewrites of {len(files)} files, {found.total()} wrong answers")
    return found


if __name__ == "__main__":
    sys.exit(main())
