"""What a kernel allocates, as a tree of scopes: what is inside a scope is alive together with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..source.span import Site
from .cond import Cond
from .python import Made, Value
from .ref import Launch


@dataclass(frozen=True, slots=True)
class Allocation:
    """One entry of a scope.

    Attributes:
      name: the parameter or key that it is bound to.
      type: a `RefType`, a tree of such (tuples, dicts), or Unknown.
      note: what it is for, where the program did not write it ("4 stages").
    """

    name: str
    type: Value
    note: str = ""


@dataclass(slots=True, eq=False)
class Scope:
    """Allocations that live as long as one body runs, and the scopes that open and close while it does.

    Scopes inside the same one follow each other: they use the same memory. Filled while the body is evaluated.

    Attributes:
      kind: "kernel", "pl.run_scoped", "emit_pipeline", "emit_pipeline_warp_specialized", "dynamic_scheduling_loop",
        "reduction" or "product" (scratch memory for a reduction across the warpgroup).
      site: the call that allocates.
      guards: conditions of the path on which it does.
      launch: the kernel.
      made: where the kernel or the pipeline was made, with its arguments.
    """

    kind: str
    site: Site
    entries: tuple[Allocation, ...]
    guards: tuple[Cond, ...] = ()
    launch: Launch | None = None
    made: Made | None = None
    inner: list[Scope] = field(default_factory=list["Scope"])
