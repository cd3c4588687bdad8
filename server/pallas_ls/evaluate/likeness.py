"""Whether two evaluations begin alike, the names of what is not known aside: then they find the same.

Values are compared by content, mutable ones and closures included; a parameter is told from the others by where it
first comes up, not by its name. Where numbers came from is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Operation
from ..domain.cond import And, Cond, NonPos, Not, Or, Same, Truth, Zero
from ..domain.dim import Expr, Sym
from ..domain.facts import Facts
from ..domain.python import Builtin, Class, Opaque, Origin, Unknown, Value, root_of
from ..source.span import Site
from .frame import Frame, Function

_WORD = re.compile(r"[^\W\d]\w*")
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class Likeness:
    """The form of some values, which is equal for equal starts. What comes up again is named by its place.

    Attributes:
      same: what is compared by identity: who keeps a key keeps these, so that no other object gets their place.
    """

    def __init__(self) -> None:
        self.seen: dict[int, tuple[int, Any]] = {}
        self.roots: dict[str, int] = {}
        self.conds: dict[Cond, Any] = {}
        self.same: list[object] = []

    def of(self, values: Iterable[Value]) -> int:
        """A key of the values."""
        return hash(tuple([self.value(v) for v in values]))

    def known(self, facts: Facts) -> frozenset[Any]:
        """What is known of the parameters that came up in the values."""
        speaking = [c for c in facts.assumed if not self._roots_of(c).isdisjoint(self.roots)]
        return frozenset(map(self.cond, sorted(speaking, key=conds.text)))

    def holds(self, slots: object) -> bool:
        """Whether the values lead to an object's slots."""
        return id(slots) in self.seen

    # -- names ---------------------------------------------------------------------------------------------------------

    def name(self, name: str) -> Any:
        """The name of a symbol, a condition or a parameter, its root by number."""
        if "(" in name:  # it speaks of others
            return name, tuple(self._root(w) for w in _WORD.findall(name))
        root = root_of(name) or name
        return self._root(root), name[len(root) :]

    def _root(self, root: str) -> int:
        return self.roots.setdefault(root, len(self.roots))

    # -- integers and conditions ---------------------------------------------------------------------------------------

    def dim(self, d: dims.Dim) -> Any:
        if isinstance(d, int):
            return d
        return tuple((tuple((self._atom(a), p) for a, p in m), c) for m, c in d.terms)

    def _atom(self, a: dims.Atom) -> Any:
        if isinstance(a, Sym):
            return self.name(a.name), a.sure, a.low, a.high
        return a.name, tuple(map(self.dim, a.args))

    def cond(self, c: Cond) -> Any:
        if isinstance(c, bool):
            return c
        known = self.conds.get(c)
        if known is None:
            known = self.conds[c] = self._cond(c)
        return known

    def _cond(self, c: Cond) -> Any:
        match c:
            case Zero() | NonPos():
                return type(c).__name__, self.dim(c.expr)
            case Truth():
                return "truth", self.name(c.name)
            case Same():
                return "same", self.name(c.name), repr(c.value)
            case Not():
                return "not", self.cond(c.cond)
            case And() | Or():
                return type(c).__name__, frozenset(map(self.cond, sorted(c.conds, key=conds.text)))
            case _:
                return repr(c)

    def _roots_of(self, c: Cond) -> set[str]:
        return {root_of(n) or n for n in conds.names(c)}

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, v: Value) -> Any:
        if isinstance(v, _PLAIN):
            return type(v).__name__, v
        known = self.seen.get(id(v))
        if known is not None:
            return known[0]
        self.seen[id(v)] = len(self.seen), v  # kept, so that its identity stays its own
        return self._new(v)

    def _new(self, v: Value) -> Any:
        kind: type = v.__class__
        if kind is Expr:
            return self.dim(v)
        if isinstance(v, (Zero, NonPos, Truth, Same, Not, And, Or)):
            return self.cond(v)
        if kind in (tuple, list):
            return kind.__name__, tuple(map(self.value, v))
        if isinstance(v, dict):
            return "dict", tuple((k, self.value(x)) for k, x in v.items())
        if isinstance(v, (frozenset, set)):
            return "set", frozenset(map(self.value, v))
        if isinstance(v, Function):
            return "function", v.code.site, self.value(v.defaults), self.value(v.slots), self._frames(v.up)
        if isinstance(v, Builtin):
            return "builtin", v.name, self._identity(v.run)
        if isinstance(v, Class):
            return "class", v.name, v.site, self._identity(v)
        if kind is Opaque:
            return "opaque", self.name(v.name), v.hint, self.value(v.cls)
        if kind in _BY_PLACE:
            return None
        if isinstance(v, Unknown):
            return kind.__name__, self.name(v.label) if v.label else "", v.number, getattr(v, "text", "")
        if is_dataclass(kind) and kind not in _BY_IDENTITY:
            return kind.__name__, tuple(self.value(getattr(v, n)) for n in _fields(kind))
        return kind.__name__, self._identity(v)

    def _identity(self, v: object) -> int:
        self.same.append(v)
        return id(v)

    def _frames(self, fr: Frame | None) -> Any:
        out: list[Any] = []
        while fr is not None and fr.code is not None:
            out.append(self.value(fr.vars))
            fr = fr.up
        return tuple(out)


#: Where something came from is of no account.
_BY_PLACE = frozenset((Origin, Site))
_BY_IDENTITY = frozenset((Operation, Frame))


@lru_cache(maxsize=256)
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.init and f.name not in ("origin", "made", "site", "why", "needs"))
