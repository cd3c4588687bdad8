"""The carry of a loop, as a fact: what it starts as and what a round makes of it."""

from __future__ import annotations

from typing import Any

from ..domain.array import Array, Operation
from ..domain.python import Int, Value
from ..source.span import Site
from .jax_tree import NotATree, leaves
from .recording import record


def note_carry(m: Any, site: Site, start: Value, out: Value, unroll: Value = None, *, counts: bool = True) -> None:
    """Records the arrays that a loop inside a kernel carries.

    Not of a loop that may be unrolled altogether: it carries nothing. `counts`: rounds are counted, as JAX's message
    tells.
    """
    rolled = unroll in (None, False) or (isinstance(unroll, Int) and unroll.dim == 1)
    if m.launch is None or not rolled:
        return
    try:
        pairs = list(zip(leaves(m, start), leaves(m, out), strict=True))
    except (NotATree, ValueError):
        return
    for init, new in pairs:
        if isinstance(init, Array) and isinstance(new, Array) and init.shape != ():
            operands = {"init": init, "new": new, "counts": counts}
            m.operations.append(Operation("carry", operands, site))
            record(m, "carry", site, operands, None)
