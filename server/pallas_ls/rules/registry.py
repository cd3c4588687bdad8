"""All rules."""

from __future__ import annotations

from . import (
    allocation,
    arguments,
    async_store,
    axes,
    barriers,
    buffers,
    calls,
    copies,
    grid_call,
    hardware,
    kernel_call,
    memory,
    mesh,
    operations,
    pipeline,
    references,
    register_layouts,
    registers_per_thread,
    reshaping,
    signatures,
    silent,
    synchronization,
    tcgen05,
    tensor_memory,
    tmem,
    unlowered,
    wgmma,
)
from .rule import Rule

_MODULES = (
    buffers,
    signatures,
    arguments,
    axes,
    async_store,
    register_layouts,
    # matrix multiplication, tensor memory, operations
    wgmma,
    tcgen05,
    tensor_memory,
    references,
    registers_per_thread,
    operations,
    reshaping,
    calls,
    unlowered,
    hardware,
    # copies and barriers
    copies,
    barriers,
    silent,
    synchronization,
    # the kernel, its memory and pipelines
    mesh,
    grid_call,
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
