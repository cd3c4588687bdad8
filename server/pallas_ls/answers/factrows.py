"""Call facts as rows of `pallas-ls facts`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..domain import dim as dims
from ..domain.array import Array, Shape, ShapeDtype
from ..domain.dim import Dim
from ..domain.dtype import DType
from ..domain.fact import CallFact
from ..domain.facts import Facts
from ..domain.python import Choice, DictCell, Int, ListCell, Opaque, Unknown, Value
from ..domain.ref import BlockSpec, Ref, RefType, Swizzle, Tiling, Transform
from ..source.span import Site
from .implied import completed
from .report import FactRow

Shown = tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """An operand as one fact saw it: its value, what was known, and what the source calls its numbers."""

    value: Value
    facts: Facts
    names: Mapping[Dim, tuple[str, ...]]
    stack: tuple[Site, ...]
    launched: bool


def rows_of_site(file: str, line: int, col: int, facts: list[CallFact]) -> Iterator[FactRow]:
    """Rows of one call site, from all the ways in which it was seen."""
    seen: dict[str, list[Seen]] = {}
    calls: set[Way] = set()
    for fact in facts:
        in_kernel = fact.launch is not None and fact.launch.made is not None
        calls.add((fact.stack, in_kernel, False))
        for name, v in completed(fact, partial(_told, fact=fact)).items():
            for path, x in _leaves(name, v):
                seen.setdefault(path, []).append(Seen(x, fact.facts, fact.names, fact.stack, in_kernel))
    for name, ways in seen.items():
        if general := _general(ways, calls):
            yield _row(file, line, col, facts[0].api, name, general)


def _told(extent: Value, fact: CallFact) -> bool:
    """Whether an extent is a number or an expression over the source's names."""
    return _extent(extent, Seen(extent, fact.facts, fact.names, fact.stack, False)) is not None


#: How a call was seen: its callers, whether in a kernel, and whether the shape is known.
Way = tuple[tuple[Site, ...], bool, bool]


def _general(ways: list[Seen], calls: set[Way]) -> list[Seen]:
    """The ways that speak for every caller; none where a function by itself says nothing of the operand. `calls`: how
    the call was seen at all.

    A function evaluated over its own parameters speaks for all who call it; a caller of it is an example. Only of what
    kernels call do the kernels tell more than the function by itself, which knows none of its references.
    """
    distinct = calls | {(w.stack, w.launched, _shape(w) is not None) for w in ways}

    def spoken_for(w: Seen) -> bool:
        ends = (k for k in distinct if _ends_with(w.stack, k[0]))
        return any(knows or launched == w.launched for _, launched, knows in ends)

    return [w for w in ways if not spoken_for(w)]


def _ends_with(stack: tuple[Site, ...], end: tuple[Site, ...]) -> bool:
    return len(end) < len(stack) and stack[len(stack) - len(end) :] == end


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
_REFERENCES = frozenset(
    (
        *("src", "dst", "ref", "barrier", "acc", "a", "b", "self", "x", "value", "smem_ref", "tmem_ref", "source"),
        *("result_ref", "semaphore", "sem_or_view", "target"),
    )
)


def _row(file: str, line: int, col: int, api: str, operand: str, seen: list[Seen]) -> FactRow:
    known = [s for s in seen if _shape(s) is not None]
    shapes = _one_or_several([_shape(s) or () for s in known], [_extents(s.value) for s in known], known)
    dtypes = list(dict.fromkeys(_dtype(s.value) for s in known))
    first = known[0] if known else seen[0]
    t = first.value.type if isinstance(first.value, Ref) else first.value
    described = t if isinstance(t, (RefType, BlockSpec)) else None
    return FactRow(
        file,
        line,
        col,
        api,
        operand,
        shapes[0] if len(shapes) == 1 else None,
        dtypes[0] if len(dtypes) == 1 else None,
        _bytes(shapes[0], known[0].value) if len(shapes) == 1 and len(dtypes) == 1 else None,
        described.space if isinstance(described, RefType) else None,
        _tiling(known),
        _swizzle(known),
        tuple(shapes) if len(shapes) > 1 else None,
        _why(seen) if not known else None,
    )


def _only(values: list[Any]) -> Any:
    """What all ways agree on."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else None


# -- shapes ----------------------------------------------------------------------------------------


def _extents(v: Value) -> tuple[Value, ...]:
    shape: Shape | None = getattr(v, "shape", None)
    return shape if isinstance(shape, tuple) else ()


def _shape(seen: Seen) -> Shown | None:
    shape: Shape | None = getattr(seen.value, "shape", None)
    return tuple(_extent(e, seen) for e in shape) if isinstance(shape, tuple) else None


def _one_or_several(shown: list[Shown], extents: list[tuple[Value, ...]], seen: list[Seen]) -> list[Shown]:
    """The distinct shapes; one by the source's names, where they differ only in what one name stands for."""
    distinct = list(dict.fromkeys(shown))
    if len(distinct) < 2 or len({len(s) for s in distinct}) > 1:
        return distinct
    columns = [_column([t[i] for t in shown], [e[i] for e in extents], seen) for i in range(len(distinct[0]))]
    if all(len(c) == 1 for c in columns):
        return [tuple(c[0] for c in columns)]
    return list(dict.fromkeys(_complete(distinct)))


def _column(texts: list[int | str | None], extents: list[Value], seen: list[Seen]) -> list[int | str | None]:
    """One extent as all ways show it; by the name that it has in all of them, where they differ."""
    distinct = list(dict.fromkeys(texts))
    if len(distinct) == 1:
        return distinct
    common = [_names_of(e, s) for e, s in zip(extents, seen, strict=True)]
    shared = [n for n in common[0] if all(n in others for others in common)]
    return [shared[0]] if shared else distinct


def _complete(shapes: list[Shown]) -> list[Shown]:
    """Shapes without those that another one tells more of."""
    return [s for s in shapes if not any(t is not s and _tells_more(t, s) for t in shapes)]


def _tells_more(a: Shown, b: Shown) -> bool:
    return a != b and all(y is None or x == y for x, y in zip(a, b, strict=True))


def _names_of(e: Value, seen: Seen) -> tuple[str, ...]:
    if not isinstance(e, Int):
        return ()
    return (*seen.names.get(e.dim, ()), *seen.names.get(seen.facts.simplify(e.dim), ()))


def _extent(e: Value, seen: Seen) -> int | str | None:
    return _number(e.dim, seen) if isinstance(e, Int) else None


def _number(d: Dim, seen: Seen) -> int | str | None:
    """A Dim as a number or an expression over the source's names; None where it holds a name that the source has
    not."""
    exact = seen.facts.simplify(d)
    if isinstance(exact, int):
        return exact
    for whole in (d, exact):
        if names := seen.names.get(whole):
            return names[0]
    named = {a: dims.symbol(seen.names[dims.of_atom(a)][0]) for a in dims.atoms(exact) if dims.of_atom(a) in seen.names}
    text = dims.rebuild(exact, named) if named else exact
    return None if any(_hidden(s.name) for s in dims.symbols(text)) else dims.text(text)


def _hidden(name: str) -> bool:
    """Whether a symbol is no expression over the source's names."""
    return name.startswith("?") or "(" in name or ":" in name


# -- other fields ----------------------------------------------------------------------------------


def _dtype(v: Value) -> str | None:
    d: Any = getattr(v, "dtype", None)
    return d.name if isinstance(d, (DType, Opaque)) else None


def _bytes(shape: Shown, v: Value) -> int | str | None:
    """The size of a shape as it is shown: a number, or a product over the source's names."""
    dtype: Any = getattr(v, "dtype", None)
    if None in shape or not isinstance(dtype, (DType, Opaque)):
        return None
    constant, factors = 1, [f"itemsize({dtype.name})"] if isinstance(dtype, Opaque) else []
    for e in shape:
        if isinstance(e, int):
            constant *= e
        else:
            factors.append(str(e) if _ATOM.fullmatch(str(e)) else f"({e})")
    if isinstance(dtype, DType):
        if constant * dtype.bits % 8:
            return None
        constant = constant * dtype.bits // 8
    return "*".join([str(constant)] * (constant != 1) + [str(f) for f in factors]) if factors else constant


#: An expression that needs no parentheses in a product.
_ATOM = re.compile(r"[\w.\[\]]+")


def _transforms(seen: Seen) -> tuple[Transform, ...]:
    t = seen.value.type if isinstance(seen.value, Ref) else seen.value
    listed = t.transforms if isinstance(t, (RefType, BlockSpec)) else ()
    return listed if isinstance(listed, tuple) else ()


def _tiling(seen: list[Seen]) -> Shown | None:
    def one(s: Seen) -> Shown | None:
        tilings = (t.tiling for t in _transforms(s) if isinstance(t, Tiling) and isinstance(t.tiling, tuple))
        return next((tuple(_extent(e, s) for e in t) for t in tilings), None)

    return _only([one(s) for s in seen])


def _swizzle(seen: list[Seen]) -> int | None:
    def one(s: Seen) -> int | str | None:
        return next((_extent(t.swizzle, s) for t in _transforms(s) if isinstance(t, Swizzle)), None)

    found = _only([one(s) for s in seen])
    return found if isinstance(found, int) else None


def _why(seen: list[Seen]) -> str:
    for s in seen:
        shape = getattr(s.value, "shape", s.value)
        if isinstance(shape, Unknown):
            return shape.why
        if isinstance(shape, Opaque):
            return f"{shape.name} is a parameter: its shape comes from the caller"
    return "not known"
