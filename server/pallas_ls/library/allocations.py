"""What a kernel's body allocates, kept as a tree of scopes while it is evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..domain.array import Array
from ..domain.memory import Allocation, Scope
from ..domain.python import Made, Value
from ..source.span import Site
from .scratch import parameter_names

#: Scopes of one body beyond this many are not kept (a long unrolled loop): they repeat each other.
MOST_INNER = 256
#: Reductions that are no sum, maximum, minimum or product in JAX: they take no scratch memory, or have no lowering.
NOT_REDUCED = frozenset({"any", "all", "median"})


@contextmanager
def scope(m: Any, kind: str, site: Site, entries: tuple[Allocation, ...], made: Made | None = None) -> Iterator[Scope]:
    """A scope that is open while the block runs, inside the innermost one that is."""
    opened = Scope(kind, site, entries, m.path.guards, m.launch, made)
    _keep(m, opened)
    depth = len(m.scopes)
    m.scopes.append(opened)
    try:
        yield opened
    finally:
        del m.scopes[depth:]


def note_reduction(m: Any, site: Site, name: str, a: Array, axis: Value) -> None:
    """A reduction inside a kernel may need scratch memory (lowering.py, _reduce_resource_estimator)."""
    kind = "product" if name in ("prod", "nanprod") else "reduction"
    if name in NOT_REDUCED or not m.scopes or not isinstance(a.shape, tuple) or not a.shape or axis == ():
        return
    if not any(s.kind == kind and s.guards == m.path.guards for s in m.scopes[-1].inner):
        _keep(m, Scope(kind, site, (), m.path.guards, m.launch))


def _keep(m: Any, made: Scope) -> None:
    if m.scopes and len(m.scopes[-1].inner) < MOST_INNER:
        m.scopes[-1].inner.append(made)


def by_name(types: Mapping[str, Value]) -> tuple[Allocation, ...]:
    """Entries from types by name."""
    return tuple(Allocation(name, t) for name, t in types.items())


def of_call(f: Value, types: Value, named: Value) -> tuple[Allocation, ...]:
    """Entries of `pl.run_scoped(f, *types, **named)`."""
    placed = by_place(parameter_names(f, len(types)), types) if type(types) is tuple else ()
    unknown = () if type(types) is tuple else (Allocation("", types),)
    return (*placed, *unknown, *(by_name(named) if isinstance(named, dict) else (Allocation("", named),)))


def by_place(names: list[str], types: tuple[Value, ...]) -> tuple[Allocation, ...]:
    """Entries from types by position, with the names that the body gives them."""
    return tuple(Allocation(n, t) for n, t in zip(names, types, strict=True))
