"""Guarded values and conditions under a substitution of integers for symbols, as plain Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.cond import Cond
from pallas_ls.domain.python import (
    Bool,
    Choice,
    Class,
    DictCell,
    Instance,
    Int,
    ListCell,
    Opaque,
    Range,
    SetCell,
    Value,
)


class _Unknown:
    """The evaluator does not say."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN = _Unknown()


class NoValue(Exception):
    """The value needs an operation that has none for this substitution (a division by zero)."""


Binding = Mapping[str, int]


def truth(c: Cond, binding: Binding) -> bool | None:
    """Whether a condition holds; None where it speaks of what the substitution does not give."""
    match c:
        case bool():
            return c
        case conds.Zero() | conds.NonPos():
            value = integer(c.expr, binding)
            return None if value is None else value == 0 if isinstance(c, conds.Zero) else value <= 0
        case conds.Truth():
            return bool(binding[c.name]) if c.name in binding else None
        case conds.Same():
            return binding[c.name] == c.value if c.name in binding else None
        case conds.Not():
            inner = truth(c.cond, binding)
            return None if inner is None else not inner
        case conds.And():
            return _all([truth(x, binding) for x in c.conds])
        case conds.Or():
            none_holds = _all([_not(truth(x, binding)) for x in c.conds])
            return _not(none_holds)


def _not(v: bool | None) -> bool | None:
    return None if v is None else not v


def _all(parts: list[bool | None]) -> bool | None:
    return False if False in parts else None if None in parts else True


def integer(d: dims.Dim, binding: Binding) -> int | None:
    """The value of a Dim; None where a symbol is not bound or an operation has no value."""
    if isinstance(d, int):
        return d
    leaf: dict[dims.Atom, dims.Dim] = {s: binding[s.name] for s in dims.symbols(d) if s.name in binding}
    try:
        value = dims.rebuild(d, leaf)
    except (ZeroDivisionError, ValueError):
        return None
    return value if isinstance(value, int) else None


def plain(v: Value, binding: Binding) -> Any:
    """The value as plain Python, in the form that `normal` gives, with UNKNOWN in the place of what is not known."""
    known = _REDUCERS.get(type(v))
    if known is not None:
        return known(v, binding)
    if v is None or isinstance(v, (bool, str, float)):
        return v
    return UNKNOWN


def _int(v: Int, binding: Binding) -> Any:
    value = integer(v.dim, binding)
    return UNKNOWN if value is None else value


def _bool(v: Bool, binding: Binding) -> Any:
    held = truth(v.cond, binding)
    return UNKNOWN if held is None else held


def _choice(v: Choice, binding: Binding) -> Any:
    held = truth(v.cond, binding)
    if held is None:
        yes, no = plain(v.yes, binding), plain(v.no, binding)
        return yes if not incomplete(yes) and not incomplete(no) and agrees(yes, no) else UNKNOWN
    return plain(v.yes if held else v.no, binding)


def _opaque(v: Opaque, binding: Binding) -> Any:
    return binding.get(v.name, UNKNOWN)


def _sequence(kind: str) -> Callable[[Any, Binding], Any]:
    def reduced(items: Any, binding: Binding) -> Any:
        items = _chosen(items, binding)
        if type(items) is not tuple:
            return UNKNOWN
        return (kind, *(plain(x, binding) for x in items))

    return reduced


def _chosen(items: Any, binding: Binding) -> Any:
    while isinstance(items, Choice):
        held = truth(items.cond, binding)
        if held is None:
            return UNKNOWN
        items = items.yes if held else items.no
    return items


def _list(v: ListCell, binding: Binding) -> Any:
    return _sequence("list")(v.slots["items"], binding)


def _set(v: SetCell, binding: Binding) -> Any:
    items = _sequence("set")(v.slots["items"], binding)
    return UNKNOWN if incomplete(items) else ("set", *sorted(set(items[1:]), key=repr))


def _dict(v: DictCell, binding: Binding) -> Any:
    items = _chosen(v.slots["items"], binding)
    if not isinstance(items, dict):
        return UNKNOWN
    pairs = [(plain(k, binding), plain(x, binding)) for k, x in items.values()]
    return UNKNOWN if any(k is UNKNOWN for k, _ in pairs) else ("dict", *sorted(pairs, key=_by_key))


def _by_key(pair: tuple[Any, Any]) -> str:
    return repr(pair[0])


def _instance(v: Instance, binding: Binding) -> Any:
    if v.cls.kind == "enum":
        return ("enum", v.cls.name, v.slots["name"])
    return ("object", v.cls.name, *sorted(((name, plain(x, binding)) for name, x in v.slots.items()), key=_by_key))


def _range(v: Range, binding: Binding) -> Any:
    bounds = [_int(x, binding) for x in (v.start, v.stop, v.step)]
    return UNKNOWN if any(b is UNKNOWN for b in bounds) else ("range", *range(*bounds))


_REDUCERS: dict[type, Callable[[Any, Binding], Any]] = {
    Int: _int,
    Bool: _bool,
    Choice: _choice,
    Opaque: _opaque,
    tuple: _sequence("tuple"),
    ListCell: _list,
    SetCell: _set,
    DictCell: _dict,
    Instance: _instance,
    Range: _range,
    Class: lambda v, binding: ("class", v.name),
}


def normal(v: Any) -> Any:
    """A value of real Python in the form of `plain`; UNKNOWN for functions."""
    if v is None or isinstance(v, (bool, int, str, float)):
        return v
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return ("object", type(v).__name__, *sorted((n, normal(getattr(v, n))) for n in v._fields))
    if isinstance(v, (tuple, list)):
        return (type(v).__name__, *(normal(x) for x in v))
    if isinstance(v, (set, frozenset)):
        return ("set", *sorted((normal(x) for x in v), key=repr))
    if isinstance(v, dict):
        return ("dict", *sorted(((normal(k), normal(x)) for k, x in v.items()), key=_by_key))
    if isinstance(v, range):
        return ("range", *v)
    if hasattr(type(v), "__members__"):
        return ("enum", type(v).__name__, v.name)
    if isinstance(v, type):
        return ("class", v.__name__)
    if hasattr(v, "__dict__") and not callable(v):
        return ("object", type(v).__name__, *sorted((n, normal(x)) for n, x in vars(v).items()))
    return UNKNOWN


def agrees(claimed: Any, real: Any) -> bool:
    """Whether a claim is what Python has, types included (True is not 1); UNKNOWN claims nothing."""
    if claimed is UNKNOWN or real is UNKNOWN:
        return True
    if type(claimed) is not type(real):
        return False
    if isinstance(claimed, tuple):
        return len(claimed) == len(real) and all(agrees(x, y) for x, y in zip(claimed, real, strict=True))
    return claimed == real


def incomplete(claimed: Any) -> bool:
    """Whether any part of a claim is unknown."""
    return claimed is UNKNOWN or (isinstance(claimed, tuple) and any(incomplete(x) for x in claimed))
