"""What else a kernel does with a value and its buffers, which the layout solver may take layouts from.

Under Warpgroup semantics a value that nothing names a layout for is laid out by what the solver can guess from the
buffers that it, and all that is computed with it, come from and go to (layout_inference.py, `conjure_assignment`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...domain.array import Array, LayoutName, Operation
from ...domain.array import Splat as SplatLayout
from ...domain.fact import CallFact
from ...domain.python import Value
from ...domain.ref import Ref
from ..view import CallView
from .known import arrays_in, source_of
from .names import BROADCASTS, CASTS, CONCATENATIONS, LOADS, POINTWISE, REDUCTIONS, STORES

#: Uses that ask for no layout.
_INDIFFERENT = frozenset(("debug_print", "pl.debug_print", "print_layout"))
#: Operations that relate the layouts of operands and result, and name none.
_RELATING = POINTWISE | REDUCTIONS | CONCATENATIONS | BROADCASTS | {"getitem"}
#: Calls that move a buffer's bytes; they ask only that tiles divide what they move.
_MOVING = frozenset(("copy_gmem_to_smem", "copy_smem_to_gmem", "async_prefetch"))
#: Operations between which nothing is written.
_READING = LOADS | CASTS | POINTWISE | REDUCTIONS | BROADCASTS


class Closures:
    """For each load of a kernel, whether only a strided layout can be guessed for it; worked out when asked for."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations
        self.users: dict[int, list[Operation]] | None = None
        self.known: dict[int, bool] = {}

    def only_in_turns(self, value: Array) -> bool:
        """Whether nothing that is computed with a loaded value, or stands in its buffers, can be laid out in tiles."""
        if self.users is None:
            self.users = _users(self.operations)
        if id(value.by) not in self.known:
            related = _related(value, self.users)
            answer = related is not None and _only_in_turns(related, self.operations)
            self.known |= {id(o): answer for o in related or ()} | {id(value.by): answer}
        return self.known[id(value.by)]


def _only_in_turns(related: list[Operation], operations: Sequence[Operation]) -> bool:
    refs = [r for o in related for r in _refs(o) if r.type.space == "smem"]
    if not all(r.type.transforms == () and r.type.kind == "data" for r in refs):
        return False
    buffers = {id(r.type) for r in refs}
    members = {id(o) for o in related}
    others = (o for o in operations if id(o) not in members and o.name not in _MOVING)
    return not any(id(r.type) in buffers for o in others for r in _refs(o))


def _related(value: Array, users: dict[int, list[Operation]]) -> list[Operation] | None:
    """All operations that share values with this one, however far; None where one of them may name a layout."""
    found: dict[int, Operation] = {}
    waiting = [value]
    while waiting:
        a = waiting.pop()
        by = a.by
        if by is None:
            if isinstance(a.layout, SplatLayout) or a.shape == ():
                continue
            return None
        if id(by) in found:
            continue
        if by.name in LOADS:
            if by.operands.get("layout") is not None:
                return None
        elif by.name in _RELATING:
            waiting += [x for v in by.operands.values() for x in arrays_in(v)]
        elif isinstance(a.layout, SplatLayout) or a.shape == ():
            continue
        else:
            return None
        found[id(by)] = by
        for user in users.get(id(by), ()):
            if id(user) in found:
                continue
            if user.name in _RELATING and isinstance(user.result, Array):
                waiting.append(_result(user, user.result))
            elif user.name in STORES:
                found[id(user)] = user
            elif user.name not in _INDIFFERENT:
                return None
    return list(found.values())


def _result(by: Operation, made: Array) -> Array:
    """What an operation gave, as its users have it."""
    return made if made.by is not None else replace(made, by=by)


def _users(operations: Sequence[Operation]) -> dict[int, list[Operation]]:
    users: dict[int, list[Operation]] = {}
    for o in operations:
        for v in o.operands.values():
            for a in arrays_in(v):
                if a.by is not None:
                    users.setdefault(id(a.by), []).append(o)
    return users


def _refs(o: Operation) -> Iterator[Ref]:
    for v in o.operands.values():
        yield from _refs_in(v)


def _refs_in(v: Value) -> Iterator[Ref]:
    if isinstance(v, Ref):
        yield v
    elif type(v) is tuple:
        for x in v:
            yield from _refs_in(x)


# -- loads that JAX merges -------------------------------------------------------------------------


def merged_loads(view: CallView) -> dict[int, int]:
    """For each load (and each cast of one) a number that it shares with the loads that MLIR merges it with.

    Common subexpressions are eliminated before layouts are inferred: loads of the same part of a buffer, in one block,
    with nothing between them that writes.
    """
    facts = {id(f.result.by): f for f in view.kernel() if isinstance(f.result, Array) and f.result.by is not None}
    groups: dict[int, int] = {}
    open_loads: list[tuple[Operation, Ref, CallFact]] = []
    for o in view.fact.operations:
        if isinstance(o.result, LayoutName):
            continue
        if o.name not in _READING:
            open_loads = []
        elif o.name in CASTS:
            x = o.operands.get("x")
            if isinstance(x, Array) and x.by is not None and id(x.by) in groups:
                groups[id(o)] = groups[id(x.by)]
        elif o.name in LOADS and isinstance(o.result, Array) and id(o) in facts:
            ref, fact = source_of(o.result, o), facts[id(o)]
            if ref is not None:
                same = next((p for p, r, f in open_loads if _is_same_load(ref, r, fact, f)), o)
                groups[id(o)] = id(same)
                open_loads.append((o, ref, fact))
    return groups


def _is_same_load(a: Ref, b: Ref, first: CallFact, second: CallFact) -> bool:
    """One type object may serve several buffers (`scratch_types=dict(rows=vec, columns=vec)`): their names differ."""
    same = a.type is b.type and a.name == b.name != "" and a.views == b.views
    return same and first.stack == second.stack and first.guards == second.guards
