"""`jax.experimental.mosaic.gpu.profiler`: what is measured is called."""

from __future__ import annotations

from typing import Any

from ..domain.python import Builtin, Call, Value
from .registry import Registry

MODULE = "jax.experimental.mosaic.gpu.profiler"


def register(r: Registry) -> None:
    """Registers the module."""
    r.function(f"{MODULE}.measure", "f, *, aggregate=True, iterations=1, mode=None")(_measure)


def _measure(m: Any, call: Call, f: Value, aggregate: Value, iterations: Value, mode: Value) -> Value:
    """`measure(f)(*args)` is `(f(*args), times)`; None in place of the times where no kernel ran."""

    def run(inner: Any, at: Call) -> Value:
        result = inner.program.calls.apply(inner, f, at)
        return result, inner.unknown("measured times", site=at.site)

    return Builtin("measure(...)", run)
