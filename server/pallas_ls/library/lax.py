"""`jax.lax`."""

from __future__ import annotations

from . import lax_collective, lax_control, lax_elementwise, lax_shape, nn
from .registry import Registry


def register(r: Registry) -> None:
    """Registers jax.lax and jax.nn."""
    for part in (lax_elementwise, lax_shape, lax_control, lax_collective, nn):
        part.register(r)
