"""Call facts as rows of `pallas-ls facts`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..domain import dim as dims
from ..domain.array import Array, Shape, ShapeDtype, byte_count
from ..domain.dim import Dim
from ..domain.dtype import DType
from ..domain.fact import CallFact
from ..domain.facts import Facts
from ..domain.python import Choice, DictCell, Int, ListCell, Opaque, Unknown, Value
from ..domain.ref import BlockSpec, Ref, RefType, Swizzle, Tiling
from .report import FactRow

Shown = tuple[int | str | None, ...]


def rows_of_site(file: str, line: int, col: int, facts: list[CallFact]) -> Iterator[FactRow]:
    """Rows of one call site, from all the ways in which it was seen.

    Those of the entry's own parameters speak for every caller; callers found in the workspace are examples, and count
    only where the
    former know nothing.
    """
    general = [f for f in facts if not f.chain] or facts
    names: dict[str, list[tuple[Value, Facts]]] = {}
    for fact in general:
        for name, v in (*fact.operands.items(), ("result", fact.result)):
            for path, x in _leaves(name, v):
                names.setdefault(path, []).append((x, fact.facts))
    for name, seen in names.items():
        yield _row(file, line, col, general[0].api, name, seen)


def _leaves(name: str, v: Value) -> Iterator[tuple[str, Value]]:
    """Shaped values of an operand; pytrees are flattened."""
    if isinstance(v, (Array, Ref, RefType, ShapeDtype, BlockSpec)):
        yield name, v
    elif isinstance(v, Choice):
        yield from _leaves(name, v.yes)
        yield from _leaves(name, v.no)
    elif isinstance(v, (ListCell, DictCell)):
        yield from _leaves(name, v.slots["items"])
    elif isinstance(v, dict):
        for key, row in v.items():
            yield from _leaves(f"{name}[{key!r}]", row[1] if type(row) is tuple and len(row) == 2 else row)
    elif type(v) is tuple:
        for i, x in enumerate(v):
            yield from _leaves(f"{name}[{i}]", x)
    elif isinstance(v, (Unknown, Opaque)) and name in _REFERENCES:
        yield name, v


#: Operands that always have a shape: where they are not known, a row says why.
_REFERENCES = frozenset(("src", "dst", "ref", "barrier", "acc", "a", "b", "self", "x", "value", "smem_ref", "tmem_ref"))


def _row(file: str, line: int, col: int, api: str, operand: str, seen: list[tuple[Value, Facts]]) -> FactRow:
    shapes = list(dict.fromkeys(_shape(v, f) for v, f in seen))
    known = [s for s in shapes if s is not None]
    first, facts = next(((v, f) for v, f in seen if _shape(v, f) is not None), seen[0])
    dtypes = list(dict.fromkeys(_dtype(v) for v, f in seen if _shape(v, f) is not None))
    sizes = list(dict.fromkeys(_bytes(v, f) for v, f in seen if _shape(v, f) is not None))
    t = first.type if isinstance(first, Ref) else first if isinstance(first, RefType) else None
    single = len(known) == 1
    return FactRow(
        file,
        line,
        col,
        api,
        operand,
        known[0] if single else None,
        dtypes[0] if len(dtypes) == 1 else None,
        sizes[0] if len(sizes) == 1 else None,
        t.space if t is not None else None,
        _tiling(t, facts),
        _swizzle(t, facts),
        tuple(known) if len(known) > 1 else None,
        _why(seen) if not known else None,
    )


def _shape(v: Value, facts: Facts) -> Shown | None:
    shape: Shape | None = getattr(v, "shape", None)
    if not isinstance(shape, tuple):
        return None
    return tuple(_number(e.dim, facts) if isinstance(e, Int) else None for e in shape)


def _number(d: Dim, facts: Facts) -> int | str | None:
    """A Dim as a number or an expression over the source's names; None where it holds a name that the source has
    not."""
    d = facts.simplify(d)
    if isinstance(d, int):
        return d
    return (
        None if any(s.name.startswith("?") or "(" in s.name or ":" in s.name for s in dims.symbols(d)) else dims.text(d)
    )


def _dtype(v: Value) -> str | None:
    d: Any = getattr(v, "dtype", None)
    return d.name if isinstance(d, (DType, Opaque)) else None


def _bytes(v: Value, facts: Facts) -> int | str | None:
    shape, dtype = getattr(v, "shape", None), getattr(v, "dtype", None)
    n = byte_count(shape, dtype) if shape is not None and dtype is not None else None
    return _number(n, facts) if n is not None else None


def _tiling(t: RefType | None, facts: Facts) -> Shown | None:
    if t is None or not isinstance(t.transforms, tuple):
        return None
    for x in t.transforms:
        if isinstance(x, Tiling) and isinstance(x.tiling, tuple):
            return tuple(_number(e.dim, facts) if isinstance(e, Int) else None for e in x.tiling)
    return None


def _swizzle(t: RefType | None, facts: Facts) -> int | str | None:
    if t is None or not isinstance(t.transforms, tuple):
        return None
    return next(
        (_number(x.swizzle.dim, facts) for x in t.transforms if isinstance(x, Swizzle) and isinstance(x.swizzle, Int)),
        None,
    )


def _why(seen: list[tuple[Value, Facts]]) -> str:
    for v, _ in seen:
        shape = getattr(v, "shape", v)
        if isinstance(shape, Unknown):
            return shape.why
        if isinstance(shape, Opaque):
            return f"{shape.name} is a parameter: its shape comes from the caller"
    return "not known"
