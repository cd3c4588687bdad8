"""The values that must be in one layout with a stored one, where nothing names a layout (Warpgroup semantics).

The solver (jax/experimental/mosaic/gpu/layout_inference.py) lays loaded values out by what it can guess: a strided
layout where 128 threads can share the elements, or the layouts of wgmma and tcgen05 where a buffer's tiling asks for
tiles. A value that is loaded and stored with only elementwise operations in between is laid out by its buffers alone;
where no guess serves all of them, JAX fails to infer a layout. As soon as anything else uses one of the values, other
layouts may come in, and nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...domain.array import Array, Operation
from ...domain.array import Splat as SplatLayout
from ...domain.layout import Strided, Tiled
from ...domain.python import Value
from ...domain.ref import Ref
from ...source.span import Site
from ..rule import Unsure
from ..store_case import transfer_case
from ..transfer.case import StoreCase, Undecided
from ..transfer.solver import can_transfer, tried_layouts
from ..view import CallView
from .names import LOADS, POINTWISE

#: Uses that ask for no layout.
INDIFFERENT = frozenset(("debug_print", "print_layout"))
#: Stores, and the operands that hold the buffer and the value.
STORES = {"ref.set": ("target", "value"), "store": ("dst", "value")}


@dataclass(frozen=True, slots=True)
class Transfer:
    """A load or a store of one of the values: the buffer, and where."""

    ref: Ref
    optimized: bool
    site: Site


@dataclass(slots=True)
class Shared:
    """Values of one shape that must be in one layout: their loads and stores."""

    shape: tuple[int, ...]
    loads: list[Transfer] = field(default_factory=list[Transfer])
    stores: list[Transfer] = field(default_factory=list[Transfer])


def shared_with(view: CallView, value: Array, operations: Sequence[Operation]) -> Shared | None:
    """The values that share the layout of a stored one; None where anything else decides, or is not known."""
    shape = view.exact_shape(value.shape)
    if shape is None or not shape or value.by is None:
        return None
    shared = Shared(shape)
    users: dict[int, list[Operation]] = view.once(("users", id(operations)), lambda: _users(operations))
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        a = waiting.pop()
        if isinstance(a.layout, SplatLayout) or a.shape == ():
            continue
        if a.by is None or view.exact_shape(a.shape) != shape:
            return None
        if id(a.by) in seen:
            continue
        seen.add(id(a.by))
        found = _produced(shared, a.by)
        if found is None:
            return None
        waiting += found
        for user in users.get(id(a.by), ()):
            more = _used(shared, user, a.by)
            if more is None:
                return None
            waiting += more
    return shared if shared.loads else None


def _users(operations: Sequence[Operation]) -> dict[int, list[Operation]]:
    users: dict[int, list[Operation]] = {}
    for op in operations:
        for a in _arrays(tuple(op.operands.values())):
            if a.by is not None:
                users.setdefault(id(a.by), []).append(op)
    return users


def _arrays(v: Value) -> Iterator[Array]:
    """The arrays in an operand; containers that may change count as using what they hold elsewhere."""
    if isinstance(v, Array):
        yield v
    elif type(v) is tuple:
        for x in v:
            yield from _arrays(x)


def _produced(shared: Shared, by: Operation) -> list[Array] | None:
    """What shares the layout with the result of an operation because it is computed from it."""
    if by.name in LOADS and by.operands.get("layout") is None:
        source = by.operands.get("source", by.operands.get("src"))
        optimized = by.operands.get("optimized", True)
        if not isinstance(source, Ref) or not isinstance(optimized, bool):
            return None
        shared.loads.append(Transfer(source, optimized, by.site))
        return []
    if by.name in POINTWISE:
        return [v for v in by.operands.values() if isinstance(v, Array)]
    return None


def _used(shared: Shared, user: Operation, made: Operation) -> list[Array] | None:
    """What shares the layout with a value because it is computed from it."""
    if user.name in INDIFFERENT:
        return []
    if user.name in STORES:
        ref, value = (user.operands.get(n) for n in STORES[user.name])
        optimized = user.operands.get("optimized", True)
        if not isinstance(ref, Ref) or not isinstance(optimized, bool) or not isinstance(value, Array):
            return None
        if value.by is not made:
            return None
        shared.stores.append(Transfer(ref, optimized, user.site))
        return []
    if user.name in POINTWISE and isinstance(user.result, Array):
        result = user.result if user.result.by is not None else replace(user.result, by=user)
        return [result, *(v for v in user.operands.values() if isinstance(v, Array))]
    return None


def some_layout(view: CallView, shared: Shared) -> Tiled | Strided | Unsure | None:
    """A layout that serves all loads and stores, of those that the solver tries; None: there is none."""
    cases: list[StoreCase] = []
    for t in (*shared.loads, *shared.stores):
        if t.ref.type.space == "gmem":
            continue  # any layout will do there
        case = transfer_case(view, t.ref, t.optimized)
        if isinstance(case, Unsure):
            return case
        cases.append(case)
    for layout in _tried(shared, cases):
        answers = [can_transfer(case, layout) for case in cases]
        if any(isinstance(x, Undecided) for x in answers):
            return Unsure("a transfer has no model")
        if all(answers):
            return layout
    return None


def _tried(shared: Shared, cases: list[StoreCase]) -> Iterator[Tiled | Strided]:
    """The layouts that the solver can come up with."""
    for vec in (1, 2, 4, 8, 16):
        strided = Strided(shared.shape, vec)
        if strided.applies_to(shared.shape):
            yield strided
    for case in cases:
        for layout in tried_layouts(case):
            if layout.applies_to(shared.shape):
                yield layout
