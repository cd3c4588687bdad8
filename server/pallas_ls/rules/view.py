"""A call fact as rules look at it: the target it is lowered for, and questions about its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, Extent, Shape
from ..domain.cond import Cond
from ..domain.dim import Dim
from ..domain.dtype import DType
from ..domain.fact import CallFact
from ..domain.python import Int, Origin, Unknown, Value
from ..domain.ref import Ref, RefType
from ..domain.target import JaxVersion, Semantics, Target
from ..source.span import Site


@dataclass(slots=True)
class CallView:
    """One call fact for one target."""

    fact: CallFact
    target: Target
    #: Semantics supposed where they cannot be known, to ask what each would say.
    supposed: Semantics | None = None
    #: The calls of the same kernel in the same context, this one among them, in the order in which they were seen.
    kernel: Callable[[], Sequence[CallFact]] = tuple
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    #: What the calls of one kernel have worked out together.
    shared: dict[Any, Any] = field(default_factory=dict[Any, Any])

    # -- target ------------------------------------------------------------------------------------

    @property
    def version(self) -> JaxVersion:
        """The JAX version whose checks apply."""
        return self.target.jax

    @property
    def semantics(self) -> Semantics | None:
        """What `CompilerParams` asks for, else the target's default; None where it cannot be known (no kernel in
        sight, too)."""
        if self.fact.launch is None:
            return self.supposed
        given = self.fact.launch.semantics
        if isinstance(given, str):
            return Semantics(given)
        return self.supposed if isinstance(given, Unknown) else self.target.default_semantics()

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability: (9, 0) for sm_90a."""
        digits = "".join(c for c in (self.target.arch or "sm_90a") if c.isdigit())
        return int(digits[:-1]), int(digits[-1])

    # -- operands ----------------------------------------------------------------------------------

    def value(self, name: str) -> Value:
        """An operand's value."""
        return self.fact.operands.get(name)

    def site(self, name: str) -> Site | None:
        """The expression given for an operand."""
        return self.fact.arg_sites.get(name)

    def cached(self, key: str, compute: Callable[[], Any]) -> Any:
        """A computation that several rules share."""
        if key not in self.memory:
            self.memory[key] = compute()
        return self.memory[key]

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """A computation about a whole kernel, done once for all of its calls."""
        if key not in self.shared:
            self.shared[key] = compute()
        return self.shared[key]

    # -- questions ---------------------------------------------------------------------------------

    def decide(self, c: Cond) -> bool | None:
        """True: always on this path; False: never; None: cannot tell."""
        return c if isinstance(c, bool) else self.fact.facts.decide(c)

    def exact(self, v: Value) -> int | None:
        """An integer that is known exactly on this path."""
        if isinstance(v, bool) or not isinstance(v, Int):
            return None
        d = self.fact.facts.simplify(v.dim)
        return d if isinstance(d, int) else None

    def exact_shape(self, shape: Shape) -> tuple[int, ...] | None:
        """A shape that is known exactly on this path."""
        if not isinstance(shape, tuple):
            return None
        out = [self.exact(e) for e in shape]
        return None if None in out else tuple(e for e in out if e is not None)

    def simplify(self, d: Dim) -> Dim:
        """A Dim under what is known on this path."""
        return self.fact.facts.simplify(d)

    def shapes_differ(self, a: Shape, b: Shape) -> bool | None:
        """Whether two shapes certainly differ (True), certainly agree (False), or cannot be told."""
        if not isinstance(a, tuple) or not isinstance(b, tuple):
            return None
        if len(a) != len(b):
            return True
        answers: list[bool | None] = []
        for x, y in zip(a, b, strict=True):
            same = self.decide(conds.equal(x.dim, y.dim)) if isinstance(x, Int) and isinstance(y, Int) else None
            answers.append(same)
        if False in answers:
            return True
        return None if None in answers else False


def show_shape(shape: Shape) -> str:
    """A shape for a message: "(64, tile_n)"."""
    if not isinstance(shape, tuple):
        return "an unknown shape"
    inner = _extents(shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _extents(shape: tuple[Extent, ...]) -> str:
    return ", ".join(dims.text(e.dim) if isinstance(e, Int) else "?" for e in shape)


def show_array(shape: Shape, dtype: Any) -> str:
    """An array's type for a message: "float32[64, tile_n]"."""
    name = dtype.name if hasattr(dtype, "name") else "?"
    return f"{name}[{_extents(shape)}]" if isinstance(shape, tuple) else f"{name}[…]"


def type_name(v: Value) -> str:
    """What kind of value this is, for a message."""
    if isinstance(v, Ref):
        return {"barrier": "a Barrier", "cluster_barrier": "a ClusterBarrier"}.get(
            v.type.kind, f"a {v.type.space.upper()} reference"
        )
    if isinstance(v, Array):
        return f"an array, {show_array(v.shape, v.dtype)}"
    if isinstance(v, RefType):
        return "a buffer type"
    return type(v).__name__


def origins(v: Value) -> list[Origin]:
    """Where a number's literals stand, for notes: the leaves of how it came about."""
    out: list[Origin] = []
    stack = [v.origin] if isinstance(v, Int) and v.origin is not None else []
    while stack and len(out) < 16:
        o = stack.pop()
        if o.inputs:
            stack.extend(o.inputs)
        elif o.how == "literal":
            out.append(o)
    return out


def is_known(v: Value) -> bool:
    """Whether a value is known at least by its kind."""
    return isinstance(v, (Ref, Array, DType, Int, RefType, str, bool, float, tuple)) or v is None
