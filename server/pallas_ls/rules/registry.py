"""All rules."""

from __future__ import annotations

from . import (
    accumulators,
    arguments,
    async_store,
    axes,
    buffers,
    hardware,
    operations,
    references,
    register_layouts,
    registers_per_thread,
    tcgen05,
    tensor_memory,
    unlowered,
    wgmma,
)
from .rule import Rule

_MODULES = (
    buffers,
    arguments,
    axes,
    async_store,
    register_layouts,
    # matrix multiplication, tensor memory, operations
    accumulators,
    wgmma,
    tcgen05,
    tensor_memory,
    references,
    registers_per_thread,
    operations,
    unlowered,
    hardware,
)


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of its module and of JAX's checks."""
    return tuple(rule for module in _MODULES for rule in module.RULES)


def rule_named(id: str) -> Rule | None:
    """The rule with this id."""
    return next((r for r in all_rules() if r.id == id), None)
