"""All models in one registry."""

from __future__ import annotations

from . import builtin, jnp, lax, pallas, plgpu, plgpu_copies, profiler, stdlib, testing
from .registry import Registry


def registry() -> Registry:
    """A registry with every model of this room."""
    r = Registry()
    for namespace in (builtin, stdlib, testing, jnp, lax, pallas, plgpu, plgpu_copies, profiler):
        namespace.register(r)
    return r
