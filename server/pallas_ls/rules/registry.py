"""All rules."""

from __future__ import annotations

from collections.abc import Mapping

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
    loops,
    memory,
    mesh,
    operations,
    pipeline,
    pipeline_alone,
    references,
    register_layouts,
    register_product,
    register_uses,
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
    register_product,
    references,
    register_uses,
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
    pipeline_alone,
    loops,
)

#: Ids that no rule has any more, and the rule that tells of the same now. They are never given to another rule.
RETIRED: Mapping[str, str] = {"layout-cast-shape": "layout-fits-shape"}


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of its module and of JAX's checks."""
    return tuple(rule for module in _MODULES for rule in module.RULES)


def rule_named(id: str) -> Rule | None:
    """The rule with this id."""
    return next((r for r in all_rules() if r.id == id), None)
