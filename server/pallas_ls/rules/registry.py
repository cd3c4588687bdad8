"""All rules."""

from __future__ import annotations

from . import (
    accumulators,
    allocation,
    arguments,
    async_store,
    axes,
    barriers,
    buffers,
    copies,
    kernel_call,
    memory,
    mesh,
    pipeline,
    register_layouts,
    tcgen05,
    tmem,
    wgmma,
)
from .rule import Rule

_MODULES = (
    buffers,
    arguments,
    axes,
    async_store,
    register_layouts,
    # matrix multiplication
    accumulators,
    wgmma,
    tcgen05,
    # copies and barriers
    copies,
    barriers,
    # the kernel, its memory and pipelines
    mesh,
    kernel_call,
    allocation,
    tmem,
    memory,
    pipeline,
)


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of its module and of JAX's checks."""
    return tuple(rule for module in _MODULES for rule in module.RULES)


def rule_named(id: str) -> Rule | None:
    """The rule with this id."""
    return next((r for r in all_rules() if r.id == id), None)
