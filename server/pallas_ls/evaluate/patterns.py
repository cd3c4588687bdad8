"""Match statements: patterns compiled to conditions, and the names that they bind where they fit.

A compiled pattern is called with a frame and a value; it returns the condition under which it fits and what it binds
then. Python binds the names of a pattern only where the whole of it fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..domain import cond as conds
from ..domain.cond import Cond
from ..domain.python import (
    MISSING,
    Bool,
    Builtin,
    Class,
    DictCell,
    Instance,
    Int,
    IteratorCell,
    ListCell,
    NotConstant,
    Opaque,
    Range,
    SetCell,
    Unknown,
    Value,
    constant,
    field_names,
    has_known_bases,
    lookup,
)
from ..source.span import Site
from . import operators as ops
from .control import if_
from .frame import NORMAL, Eval, Exec, Frame
from .machine import Raised

Store = Callable[[Frame, Value], None]
Bindings = tuple[tuple[Store, Value], ...]
Pattern = Callable[[Frame, Value], tuple[Cond, Bindings]]

FAILS: tuple[Cond, Bindings] = (False, ())
#: Builtin classes that give the value itself to their one positional pattern: `int(n)`.
_SELF_MATCHING = ("bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a match statement."""

    pattern: Pattern
    guard: Eval | None
    body: Exec


def match_(fr: Frame, subject: Value, cases: list[Case]) -> int:
    """A match statement: its cases are tried in order."""
    if not cases:
        return NORMAL
    case, rest = cases[0], cases[1:]
    fits, bindings = case.pattern(fr, subject)
    known = fr.m.decide(fits)
    c: Cond = fits if known is None else known
    if c is not False and (bindings or case.guard is not None):
        c = _bound(fr, c, bindings, case.guard)
    return if_(fr, c, case.body, lambda inner: match_(inner, subject, rest))


def _bound(fr: Frame, fits: Cond, bindings: Bindings, guard: Eval | None) -> Cond:
    """Binds the names where the pattern fits; whether its guard lets it."""

    def bind() -> Value:
        for store, value in bindings:
            store(fr, value)
        return True if guard is None else ops.as_value(ops.truth(fr.m, guard(fr)))

    allowed = fr.m.branch(fits, bind, lambda: False)
    return fits if guard is None else conds.all_of([fits, ops.truth(fr.m, allowed)])


# -- patterns ------------------------------------------------------------------------------------


def value(evaluate: Eval, op: str, site: Site) -> Pattern:
    """`case Mode.FAST`, `case None`."""
    return lambda fr, v: (ops.truth(fr.m, ops.compare(fr.m, op, v, evaluate(fr), site)), ())


def capture(inner: Pattern | None, store: Store | None) -> Pattern:
    """`case x`, `case _`, `case pattern as x`."""

    def match(fr: Frame, v: Value) -> tuple[Cond, Bindings]:
        fits, bindings = (True, ()) if inner is None else inner(fr, v)
        return fits, bindings if store is None else (*bindings, (store, v))

    return match


def either(parts: list[Pattern]) -> Pattern:
    """`case a | b`: the first that fits binds."""

    def match(fr: Frame, v: Value) -> tuple[Cond, Bindings]:
        found = [p(fr, v) for p in parts]
        if not any(b for _, b in found):
            return conds.any_of([c for c, _ in found]), ()
        for fits, bindings in found:
            known = fr.m.decide(fits)
            if known is not False:
                return (True, bindings) if known else (fr.m.fresh_condition(), _unknown(bindings))
        return FAILS

    return match


def _unknown(bindings: Bindings) -> Bindings:
    return tuple((store, Unknown("bound by one of several patterns")) for store, _ in bindings)


def sequence(before: list[Pattern], star: Store | None, after: list[Pattern], starred: bool) -> Pattern:
    """`case [a, *rest, b]`."""

    def match(fr: Frame, v: Value) -> tuple[Cond, Bindings]:
        v = fr.m.select(v)
        named = isinstance(v, Instance) and v.cls.kind == "namedtuple"
        if not isinstance(v, (tuple, ListCell, Range, Opaque, Unknown)) and not named:
            return FAILS if _is_plain(v) or isinstance(v, DictCell) else _open(fr, [*before, *after], star)
        items = fr.m.program.items.iterate(fr.m, v)
        if items is None:
            return _open(fr, [*before, *after], star)
        fixed = len(before) + len(after)
        if len(items) < fixed or (not starred and len(items) != fixed):
            return FAILS
        middle = items[len(before) : len(items) - len(after)]
        rows = [*zip(before, items, strict=False), *zip(after, items[len(items) - len(after) :], strict=True)]
        fits, bindings = _all(fr, rows)
        return fits, bindings if star is None else (*bindings, (star, ListCell({"items": tuple(middle)})))

    return match


def mapping(keys: list[Eval], values: list[Pattern], rest: Store | None) -> Pattern:
    """`case {"m": m, **others}`."""

    def match(fr: Frame, v: Value) -> tuple[Cond, Bindings]:
        v = fr.m.select(v)
        if not isinstance(v, DictCell):
            return FAILS if _is_plain(v) or isinstance(v, (tuple, ListCell, Range)) else _open(fr, values, rest)
        items = fr.m.select(v.slots["items"])
        try:
            wanted = [constant(k(fr)) for k in keys]
        except NotConstant:
            return _open(fr, values, rest)
        if not isinstance(items, dict):
            return _open(fr, values, rest)
        if not all(k in items for k in wanted):
            return FAILS
        fits, bindings = _all(fr, [(p, items[k][1]) for p, k in zip(values, wanted, strict=True)])
        left = {k: x for k, x in items.items() if k not in wanted}
        return fits, bindings if rest is None else (*bindings, (rest, DictCell({"items": left})))

    return match


def class_(cls: Eval, positional: list[Pattern], names: list[str], named: list[Pattern], site: Site) -> Pattern:
    """`case Point(x, y=0)`, `case int(n)`."""

    def match(fr: Frame, v: Value) -> tuple[Cond, Bindings]:
        m, kind = fr.m, cls(fr)
        v = m.select(v)
        fits = ops.truth(m, m.program.calls.call(m, m.program.library.builtin("isinstance"), (v, kind), site))
        if fits is False:
            return FAILS
        attributes = _positional(kind, len(positional))
        if attributes is None:
            return _open(fr, [*positional, *named], None)
        rows: list[tuple[Pattern, Value]] = []
        for name, pattern in (*zip(attributes, positional, strict=True), *zip(names, named, strict=True)):
            try:
                rows.append((pattern, m.program.attributes.get(m, v, name, site) if name else v))
            except Raised:
                return FAILS
        inner, bindings = _all(fr, rows)
        return conds.all_of([fits, inner]), bindings

    return match


def _positional(kind: Value, count: int) -> list[str] | None:
    """The attributes that positional patterns speak of ("": the value itself); None where that is not known."""
    if count == 0:
        return []
    if isinstance(kind, Builtin):
        itself = kind.name.removeprefix("builtins.") in _SELF_MATCHING
        return [""] if itself and count == 1 else None
    if not isinstance(kind, Class):
        return None
    listed = lookup(kind, "__match_args__")
    if listed is MISSING and kind.kind in ("dataclass", "namedtuple"):
        listed = tuple(field_names(kind))
    if type(listed) is not tuple or len(listed) < count or not all(isinstance(n, str) for n in listed):
        return None
    return list(listed[:count])


def _all(fr: Frame, rows: list[tuple[Pattern, Value]]) -> tuple[Cond, Bindings]:
    found = [p(fr, x) for p, x in rows]
    return conds.all_of([c for c, _ in found]), tuple(b for _, bs in found for b in bs)


def _open(fr: Frame, parts: list[Pattern], star: Store | None) -> tuple[Cond, Bindings]:
    """A pattern of which it cannot be told whether it fits: its names are unknown then."""
    unknown = Unknown("bound by a pattern of which it is not known whether it fits")
    bindings = tuple((store, unknown) for p in parts for store, _ in p(fr, unknown)[1])
    return fr.m.fresh_condition(), bindings if star is None else (*bindings, (star, unknown))


_NEITHER = (Int, Bool, bool, float, complex, str, bytes, SetCell, IteratorCell, type(None))


def _is_plain(v: Value) -> bool:
    """Values that are certainly neither sequences nor mappings."""
    if isinstance(v, Instance) and v.cls.kind != "namedtuple":
        return has_known_bases(v.cls) or v.cls.kind == "enum"
    return isinstance(v, _NEITHER)
