"""Which symbols a value depends on: where two bindings agree on these, the value is the same for both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from . import cond as conds
from . import dim as dims
from .cond import Cond
from .dim import Dim, Expr
from .memory import Scope
from .python import (
    Bool,
    Choice,
    DictCell,
    Endless,
    Instance,
    Int,
    IteratorCell,
    Lazy,
    ListCell,
    Opaque,
    Origin,
    PartlyKnown,
    SetCell,
    Unknown,
    Value,
)

#: Names of symbols, and identities of origins that stand for those of their numbers. None: on more than these (an
#: object of which each binding gets its own, a condition that is decided elsewhere).
Needs = frozenset[str | int] | None

_NOTHING: frozenset[str | int] = frozenset()


class Dependence:
    """Answers by identity for values that live as long as this does.

    Attributes:
      names: the symbols; `origins`: identities of the origins that they were given.
      bounds: bounds of symbols made on the way that are no plain integers.
      foreign: slots of objects that were there before; `own`: objects of which each binding gets its own.
      opaque: types that are left as they are.
    """

    def __init__(
        self,
        names: Iterable[str],
        origins: frozenset[int],
        bounds: Mapping[str, tuple[Dim | None, Dim | None]],
        foreign: frozenset[int],
        own: frozenset[int],
        opaque: tuple[type, ...],
    ) -> None:
        self.names = frozenset(names)
        self.origins = origins
        self.bounds = bounds
        self.foreign = foreign
        self.own = own
        self.opaque = opaque
        self.known: dict[int, Needs] = {}
        self._words = re.compile(r"\w+")

    def of(self, v: Value) -> Needs:
        """What a value depends on."""
        if id(v) not in self.known:
            self.known[id(v)] = None  # what contains itself has an identity
            self.known[id(v)] = self._look(v)
        return self.known[id(v)]

    def all(self, values: Iterable[Value]) -> Needs:
        """What any of the values depends on."""
        out = _NOTHING
        for v in values:
            needs = self.of(v)
            if needs is None:
                return None
            out |= needs
        return out

    def _look(self, v: Value) -> Needs:
        kind: type = v.__class__
        if kind in self.opaque:
            return _NOTHING
        special = _SPECIAL.get(kind)
        if special is not None:
            return special(self, v)
        if id(v) in self.own:
            return None
        return self.all(getattr(v, n) for n in _names(kind)) if is_dataclass(kind) else _NOTHING

    def dim(self, d: Dim) -> frozenset[str | int]:
        """What an integer depends on."""
        out = _NOTHING
        for s in dims.symbols(d):
            out |= self._name(s.name)
            if s.name in self.bounds:
                for bound in self.bounds[s.name]:
                    out |= _NOTHING if bound is None else self.dim(bound)
        return out

    def _name(self, name: str) -> frozenset[str | int]:
        return frozenset(w for w in self._words.findall(name) if w in self.names)

    def _case(self, c: Cond, *parts: Value) -> Needs:
        """A condition that speaks of symbols only is decided by them."""
        names = conds.names(c)
        rest = self.all(parts)
        return None if rest is None or not names <= self.names else rest | names

    def _origin(self, o: Origin) -> Needs:
        return frozenset((id(o),)) if id(o) in self.origins else self.all(o.inputs)

    def _int(self, v: Int) -> Needs:
        origin = self.of(v.origin)
        return None if origin is None else origin | self.dim(v.dim)

    def _unknown(self, v: Unknown) -> Needs:
        return frozenset(n for n in v.needs if n in self.names)

    def _cell(self, v: Any) -> Needs:
        return _NOTHING if id(v.slots) in self.foreign else None

    def _instance(self, v: Instance) -> Needs:
        return _NOTHING if v.cls.kind == "enum" else self._cell(v)

    def _opaque(self, v: Opaque) -> Needs:
        return self._name(v.name)


@lru_cache(maxsize=256)
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.init)


#: Types of which more is known than their fields.
_SPECIAL: Mapping[type, Callable[[Dependence, Any], Needs]] = {
    Int: Dependence._int,  # pyright: ignore[reportPrivateUsage]
    Expr: Dependence.dim,
    Bool: lambda d, v: d._case(v.cond),  # pyright: ignore[reportPrivateUsage]
    Choice: lambda d, v: d._case(v.cond, v.yes, v.no),  # pyright: ignore[reportPrivateUsage]
    Unknown: Dependence._unknown,  # pyright: ignore[reportPrivateUsage]
    Opaque: Dependence._opaque,  # pyright: ignore[reportPrivateUsage]
    Origin: Dependence._origin,  # pyright: ignore[reportPrivateUsage]
    ListCell: Dependence._cell,  # pyright: ignore[reportPrivateUsage]
    DictCell: Dependence._cell,  # pyright: ignore[reportPrivateUsage]
    IteratorCell: Dependence._cell,  # pyright: ignore[reportPrivateUsage]
    Lazy: lambda d, v: None,
    Scope: lambda d, v: None,
    Endless: lambda d, v: None,
    PartlyKnown: Dependence._unknown,  # pyright: ignore[reportPrivateUsage]
    SetCell: Dependence._cell,  # pyright: ignore[reportPrivateUsage]
    Instance: Dependence._instance,  # pyright: ignore[reportPrivateUsage]
    tuple: Dependence.all,
    dict: lambda d, v: d.all(v.values()),
}
