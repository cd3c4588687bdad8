"""A disagreement, printed to be read."""

from __future__ import annotations

import sys

from .compare import Comparison


def show(name: str, text: str, found: Comparison) -> None:
    """The text with its lines numbered, JAX's words and ours."""
    print(f"== {name}: {found.outcome.value}")
    print("\n".join(f"{n:4} {line}" for n, line in enumerate(text.splitlines(), 1) if "import" not in line))
    if found.refusal is not None:
        print(f"    JAX: {found.refusal.type}: {found.refusal.head}")
    for e in found.errors:
        line = text.count("\n", 0, e.span.start) + 1
        print(f"    ours: line {line} {e.code}: {e.message}")
    if found.crash:
        print(found.crash)
    sys.stdout.flush()
