"""The standard library, as far as kernels and what launches them use it; and NumPy's host arrays."""

from __future__ import annotations

from . import stdlib_classes, stdlib_functions, stdlib_iteration, stdlib_math, stdlib_numpy
from .registry import Registry


def register(r: Registry) -> None:
    """Registers all modules of the standard library."""
    for module in (stdlib_math, stdlib_functions, stdlib_iteration, stdlib_classes, stdlib_numpy):
        module.register(r)
