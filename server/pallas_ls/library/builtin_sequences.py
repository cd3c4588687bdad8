"""Iterators and what makes them: zip, map, enumerate, sorted, next. They are evaluated when they are first asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..domain.python import (
    Alike,
    Call,
    Choice,
    DictCell,
    Endless,
    Instance,
    Int,
    IteratorCell,
    ListCell,
    NotConstant,
    SetCell,
    Unknown,
    Value,
)
from ..source.span import Site
from . import builtin_types
from .operate import binary, contents, lazily, plain, truth
from .registry import Registry

#: Longer results are not built.
LONGEST = 4096


def register(r: Registry) -> None:
    """Registers them."""
    _makers(r)
    _users(r)


def _makers(r: Registry) -> None:
    @r.raw("builtins.zip")
    def zip_(m: Any, call: Call) -> Value:
        strict = {k: v for k, v in call.kwargs.items() if k == "strict"}
        if call.open or len(strict) != len(call.kwargs):
            return m.unknown("zip of values that are not known", *call.args, site=call.site)
        return lazily(lambda m: zipped(m, call.args, call.site), *call.args)

    @r.function("builtins.enumerate", "iterable, start=0")
    def enumerate_(m: Any, call: Call, iterable: Value, start: Value) -> Value:
        return lazily(
            lambda m: m.lift(lambda items: _enumerate(m, items, start, call.site), contents(m, iterable)), iterable
        )

    @r.raw("builtins.map")
    def map_(m: Any, call: Call) -> Value:
        if call.open or len(call.args) < 2:
            return m.unknown("map of values that are not known", *call.args, site=call.site)
        f, *sources = call.args

        def run(m: Any) -> Value:
            rows = zipped(m, tuple(sources), call.site)
            return m.lift(lambda items: _map(m, f, items, call.site), rows)

        return lazily(run, *call.args)

    @r.function("builtins.filter", "function, iterable")
    def filter_(m: Any, call: Call, function: Value, iterable: Value) -> Value:
        return lazily(
            lambda m: m.lift(lambda items: _filter(m, function, items, call.site), contents(m, iterable)),
            function,
            iterable,
        )

    @r.function("builtins.reversed", "sequence")
    def reversed_(m: Any, call: Call, sequence: Value) -> Value:
        if isinstance(sequence, Instance):
            method = m.program.attributes.special(m, sequence, "__reversed__")
            if method is not None:
                return m.program.calls.call(m, method, (), call.site)

        def run(m: Any) -> Value:
            return m.lift(
                lambda items: (
                    items[::-1]
                    if type(items) is tuple
                    else items
                    if isinstance(items, Alike)
                    else m.unknown("a reversed sequence", items)
                ),
                contents(m, sequence),
            )

        return lazily(run, sequence)

    @r.raw("builtins.iter")
    def iter_(m: Any, call: Call) -> Value:
        if len(call.args) != 1 or call.open:
            return m.unknown("an iterator that is not known", *call.args, site=call.site)
        return m.lift(lambda v: _iter(m, v, call.site), call.args[0])


def _iter(m: Any, v: Value, site: Site) -> Value:
    if isinstance(v, IteratorCell):
        return v
    if isinstance(v, Instance):
        method = m.program.attributes.special(m, v, "__iter__")
        if method is not None:
            return m.program.calls.call(m, method, (), site)
    return lazily(lambda m: contents(m, v), v)


def _users(r: Registry) -> None:
    @r.function("builtins.sorted", "iterable, *, key=None, reverse=False")
    def sorted_(m: Any, call: Call, iterable: Value, key: Value, reverse: Value) -> Value:
        source = contents(m, iterable, ordered=False)
        if isinstance(iterable, SetCell):
            source = m.lift(lambda items: builtin_types.distinct(m, items), source)
        return ListCell({"items": m.lift(lambda items: sort(m, items, key, reverse, call.site), source)})

    @r.raw("builtins.next")
    def next_(m: Any, call: Call) -> Value:
        return _next(m, call)


def zipped(m: Any, sources: tuple[Value, ...], site: Site) -> Value:
    """The rows of several iterables. Iterators give one element after the other: `zip(it, it)` makes pairs."""
    if any(isinstance(s, IteratorCell) and m.program.items.alike(m, s) is None for s in sources):
        return _drawn_in_turn(m, sources, site)
    return m.lift(lambda *columns: _zip(m, columns), *(contents(m, s) for s in sources))


def _zip(m: Any, columns: tuple[Value, ...]) -> Value:
    if columns and all(isinstance(c, Alike) for c in columns):
        return replace(columns[0], element=tuple(c.element for c in columns))
    if not all(type(c) is tuple for c in columns):
        return m.unknown("zip of an iterable of unknown length", *columns)
    return tuple(zip(*columns, strict=False))


def _drawn_in_turn(m: Any, sources: tuple[Value, ...], site: Site) -> Value:
    items = m.program.items
    iterators = [s if isinstance(s, IteratorCell) else IteratorCell({"items": contents(m, s)}) for s in sources]
    contents_ = [items.remaining(m, s) for s in iterators]
    if len({id(s) for s in iterators}) == len(iterators) and any(isinstance(c, Choice) for c in contents_):
        found = [tuple(f) if (f := items.iterate(m, s)) is not None else Unknown("an iterator") for s in iterators]
        return _zip(m, tuple(found))
    rows: list[tuple[Value, ...]] = []
    while len(rows) <= LONGEST:
        row: list[Value] = []
        for s in iterators:
            left = items.remaining(m, s)
            if left == () and type(left) is tuple:
                return tuple(rows)
            if not isinstance(left, (tuple, Endless)):
                return m.unknown("zip of an iterable of unknown length", left, site=site)
            row.append(items.next(m, s, site))
        rows.append(tuple(row))
    return m.unknown("a very long sequence", site=site)


def _enumerate(m: Any, items: Value, start: Value, site: Site) -> Value:
    if isinstance(items, Alike):
        return replace(items, element=(Int(m.fresh_symbol("i", 0)), items.element))
    if type(items) is not tuple:
        return m.unknown("an iterable of unknown length", items, site=site)
    return tuple((binary(m, "+", start, Int(i), site), x) for i, x in enumerate(items))


def _map(m: Any, f: Value, rows: Value, site: Site) -> Value:
    if isinstance(rows, Alike):
        return m.program.items.mapped(m, rows, lambda row: m.program.calls.call(m, f, row, site))
    if type(rows) is not tuple:
        return m.unknown("map over an iterable of unknown length", rows, site=site)
    return tuple(m.program.calls.call(m, f, row, site) for row in rows)


def _filter(m: Any, f: Value, items: Value, site: Site) -> Value:
    if type(items) is not tuple:
        return m.unknown("an iterable of unknown length", items, site=site)
    kept: list[Value] = []
    for x in items:
        keep = truth(m, x if f is None else m.program.calls.call(m, f, (x,), site))
        if not isinstance(keep, bool):
            return m.unknown("filtered by a condition that is not known", *items, site=site)
        kept += [x] if keep else []
    return tuple(kept)


def sort(m: Any, items: Value, key: Value, reverse: Value, site: Site) -> Value:
    """The elements in order, where their keys are known exactly, or can be compared one with the other."""
    if type(items) is not tuple or not isinstance(reverse, bool):
        return m.unknown("a sorted iterable of unknown content", items, site=site)
    keys = [x if key is None else m.program.calls.call(m, key, (x,), site) for x in items]
    try:
        known = [plain(k) for k in keys]
        order = sorted(range(len(items)), key=known.__getitem__, reverse=reverse)
    except NotConstant:
        return _inserted(m, items, keys, reverse, site)
    except TypeError:
        return m.unknown("sorted by keys that cannot be compared", *items, site=site)
    return tuple(items[i] for i in order)


def _inserted(m: Any, items: tuple[Value, ...], keys: list[Value], reverse: bool, site: Site) -> Value:
    """Sorted by comparisons, as long as each is decided."""
    out: list[int] = []
    for i in range(len(items)):
        at = len(out)
        while at > 0:
            first, second = (keys[out[at - 1]], keys[i]) if reverse else (keys[i], keys[out[at - 1]])
            before = m.program.items.truth(m, m.program.items.compare(m, "<", first, second, site))
            if not isinstance(before, bool):
                return m.unknown("sorted by keys that are not known", *items, site=site)
            if not before:
                break
            at -= 1
        out.insert(at, i)
    return tuple(items[i] for i in out)


def _next(m: Any, call: Call) -> Value:
    """The first element of an iterator, which is taken from it."""
    v = m.select(call.args[0]) if call.args else None
    if isinstance(v, IteratorCell):
        return m.program.items.next(m, v, call.site, *call.args[1:2])
    if isinstance(v, Instance):
        method = m.program.attributes.special(m, v, "__next__")
        if method is not None and len(call.args) == 1:
            return m.program.calls.call(m, method, (), call.site)
    if isinstance(v, (ListCell, DictCell, SetCell)):
        return m.unknown("the next element of what is no iterator", site=call.site)
    return m.unknown("the next element of an iterator", *call.args, site=call.site)
