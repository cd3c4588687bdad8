"""Whether two evaluations of one call left the same behind, names that they made up on the way aside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from ..domain import dim as dims
from ..domain.array import Operation
from ..domain.cond import And, Cond, NonPos, Not, Or, Same, Truth, Zero
from ..domain.dim import Dim, Expr, Sym
from ..domain.fact import CallFact
from ..domain.facts import Facts
from ..domain.python import Builtin, Class, DictCell, Instance, IteratorCell, ListCell, SetCell
from .frame import Frame, Function

_FRESH = re.compile(r"\?(.*?)\d+")
_CONDS = (Zero, NonPos, Truth, Same, Not, And, Or)
_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))
_OBJECTS = (ListCell, DictCell, SetCell, IteratorCell, Instance, Operation)


def difference(one: Any, other: Any) -> str:
    """Where two values, facts or series of them differ first, and how; empty where they do not."""
    return _Comparison().difference(one, other)


class _Comparison:
    """One comparison: objects that were met before are met again at the same places."""

    def __init__(self) -> None:
        self.same: dict[tuple[int, int], tuple[Any, Any]] = {}
        self.partner: dict[int, int] = {}

    def difference(self, a: Any, b: Any) -> str:
        """The first place where they differ."""
        kind = type(a)
        if kind is not type(b) and not (isinstance(a, list) and isinstance(b, list)):
            return f"{_shown(a)} against {_shown(b)}"
        if a is b:
            return ""
        if kind in _PLAIN:
            return "" if a == b else f"{_shown(a)} against {_shown(b)}"
        key = id(a), id(b)
        if key in self.same:
            return ""
        if isinstance(a, _OBJECTS) and self.partner.setdefault(id(b), id(a)) != id(a):
            return "another object"
        self.same[key] = a, b
        return self._parts(a, b, kind)

    def _parts(self, a: Any, b: Any, kind: type) -> str:
        if isinstance(a, (tuple, list)):
            return self._series(a, b)
        if kind is dict:
            keys, others = list(a), list(b)
            return self._series(list(a.values()), list(b.values())) if keys == others else f"{keys} against {others}"
        if kind is Expr or isinstance(a, _CONDS) or kind is Facts:
            return "" if _form(a) == _form(b) else f"{_shown(a)} against {_shown(b)}"
        if kind is Function:
            return "" if a.code.site == b.code.site else f"function {a.name} against {b.name}"
        if kind is Builtin:
            return "" if a.name == b.name else f"{a.name} against {b.name}"
        if kind is Class:
            return "" if (a.name, a.site) == (b.name, b.site) else f"{_shown(a)} against {_shown(b)}"
        if isinstance(a, Instance) and a.cls.kind == "enum":
            return self._series((a.cls, a.slots.get("name")), (b.cls, b.slots.get("name")))
        if not is_dataclass(kind) or kind is Frame:
            return "" if a == b else f"{_shown(a)} against {_shown(b)}"
        for name in _names(kind):
            if name == "operations" and isinstance(a, CallFact) and a.launch is None:  # those of the whole unit so far
                continue
            x, y = getattr(a, name), getattr(b, name)
            if name == "by" and isinstance(x, Operation) and isinstance(y, Operation):
                found = self._operation(x, y)
            else:
                found = self.difference(x, y)
            if found:
                return f"{kind.__name__}.{name} {found}"
        return ""

    def _operation(self, a: Operation, b: Operation) -> str:
        """What computed an array, without what that was given: its kernel's facts list the operations."""
        if self.partner.setdefault(id(b), id(a)) != id(a):
            return "another operation"
        return "" if (a.name, a.site) == (b.name, b.site) else f"{a.name} against {b.name}"

    def _series(self, a: Sequence[Any], b: Sequence[Any]) -> str:
        if len(a) != len(b):
            return f"{len(a)} against {len(b)}"
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            found = self.difference(x, y)
            if found:
                return f"[{i}] {found}"
        return ""


def _shown(v: Any) -> str:
    return repr(v)[:200]


@lru_cache(maxsize=256)
def _names(kind: type) -> tuple[str, ...]:
    """The fields that are compared: what a missing value would need is of no account where nothing is bound, nor what
    variables hold a number."""
    return tuple(f.name for f in fields(kind) if f.name not in ("needs", "answers", "run", "names"))


def _form(v: Any) -> Any:
    if isinstance(v, Facts):
        return v.contradictory, frozenset(map(cond_form, v.assumed))
    return dim_form(v) if isinstance(v, Expr) else cond_form(v)


def made_up(name: str) -> str:
    """A name without the number that it was given."""
    found = _FRESH.fullmatch(name)
    return name if found is None else f"?{found[1]}"


@lru_cache(maxsize=1 << 14)
def dim_form(d: Dim) -> Any:
    """A Dim with made-up names alike."""
    if isinstance(d, int):
        return d
    return frozenset((frozenset((_atom(a), p) for a, p in m), c) for m, c in d.terms)


def _atom(a: dims.Atom) -> Any:
    if isinstance(a, Sym):
        return made_up(a.name), a.sure, a.low, a.high
    return a.name, tuple(map(dim_form, a.args))


def cond_form(c: Cond) -> Any:
    """A condition with made-up names alike."""
    match c:
        case bool():
            return c
        case Zero() | NonPos():
            return type(c).__name__, dim_form(c.expr)
        case Truth():
            return "truth", made_up(c.name)
        case Same():
            return "same", made_up(c.name), repr(c.value)
        case Not():
            return "not", cond_form(c.cond)
        case And() | Or():
            return type(c).__name__, frozenset(map(cond_form, c.conds))
