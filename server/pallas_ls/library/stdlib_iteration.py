"""`itertools`, on iterables whose elements are known one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..domain.python import Call, Endless, Int, IteratorCell, Value
from ..source.span import Site
from .operate import binary, contents, equal, lazily, truth
from .registry import Registry

#: Longer results are not built.
LONGEST = 4096


def register(r: Registry) -> None:
    """Registers itertools."""
    _combining(r)
    _counting(r)
    _folding(r)


def bounded(m: Any, values: Iterable[Value], site: Site) -> Value:
    """The values as a tuple, or unknown where there are too many."""
    out = tuple(itertools.islice(iter(values), LONGEST + 1))
    return out if len(out) <= LONGEST else m.unknown("a very long sequence", site=site)


def _over(m: Any, call: Call, run: Callable[..., Iterator[Value]], sources: Iterable[Value]) -> Value:
    """An iterator over `run(*sequences)`, where all sequences are known."""
    given = tuple(sources)

    def evaluate(m: Any) -> Value:
        def built(*columns: Value) -> Value:
            if not all(type(c) is tuple for c in columns):
                return m.unknown("an iterable of unknown length", *columns, site=call.site)
            return bounded(m, run(*columns), call.site)

        return m.lift(built, *(contents(m, s) for s in given))

    return lazily(evaluate, *given)


def _combining(r: Registry) -> None:
    @r.function("itertools.product", "*iterables, repeat=1")
    def product(m: Any, call: Call, iterables: tuple[Value, ...], repeat: Value) -> Value:
        n = _count(m, repeat)
        if n is None:
            return m.unknown("a product repeated an unknown number of times", repeat, site=call.site)
        return _over(m, call, lambda *columns: itertools.product(*columns, repeat=n), iterables)

    @r.function("itertools.chain", "*iterables")
    def chain(m: Any, call: Call, iterables: tuple[Value, ...]) -> Value:
        return _over(m, call, itertools.chain, iterables)

    @r.function("itertools.chain.from_iterable", "iterables")
    def from_iterable(m: Any, call: Call, iterables: Value) -> Value:
        outer = m.program.items.iterate(m, iterables)
        if outer is None:
            return m.unknown("an iterable of unknown length", iterables, site=call.site)
        return _over(m, call, itertools.chain, outer)

    for name in ("combinations", "permutations", "combinations_with_replacement"):
        r.function(f"itertools.{name}", "iterable, r=None")(_chosen(getattr(itertools, name)))

    @r.function("itertools.pairwise", "iterable")
    def pairwise(m: Any, call: Call, iterable: Value) -> Value:
        return _over(m, call, itertools.pairwise, (iterable,))

    @r.function("itertools.zip_longest", "*iterables, fillvalue=None")
    def zip_longest(m: Any, call: Call, iterables: tuple[Value, ...], fillvalue: Value) -> Value:
        return _over(m, call, lambda *columns: itertools.zip_longest(*columns, fillvalue=fillvalue), iterables)


def _chosen(run: Callable[..., Iterator[Value]]) -> Callable[..., Value]:
    def model(m: Any, call: Call, iterable: Value, r: Value) -> Value:
        n = None if r is None else _count(m, r)
        if n is None and (r is not None or run is not itertools.permutations):
            return m.unknown("a selection of unknown size", r, site=call.site)
        return _over(m, call, lambda items: run(items, n), (iterable,))

    return model


def _count(m: Any, v: Value) -> int | None:
    n = m.as_int(v)
    return n.dim if n is not None and isinstance(n.dim, int) and n.dim >= 0 else None


def _counting(r: Registry) -> None:
    @r.function("itertools.repeat", "x, times=None")
    def repeat(m: Any, call: Call, x: Value, times: Value) -> Value:
        if times is None:
            return IteratorCell({"items": Endless(lambda i: x)})
        n = _count(m, times)
        if n is None:
            return m.unknown("a value repeated an unknown number of times", times, site=call.site)
        return IteratorCell({"items": bounded(m, itertools.repeat(x, n), call.site)})

    @r.function("itertools.count", "start=0, step=1")
    def count(m: Any, call: Call, start: Value, step: Value) -> Value:
        def at(i: int) -> Value:
            return binary(m, "+", start, binary(m, "*", Int(i), step, call.site), call.site)

        return IteratorCell({"items": Endless(at)})

    @r.function("itertools.cycle", "iterable")
    def cycle(m: Any, call: Call, iterable: Value) -> Value:
        items = m.select(contents(m, iterable))
        if type(items) is not tuple or not items:
            return m.unknown("a cycle of unknown elements", items, site=call.site)
        return IteratorCell({"items": Endless(lambda i: items[i % len(items)])})

    @r.raw("itertools.islice")
    def islice(m: Any, call: Call) -> Value:
        bounds = [None if b is None else _count(m, b) for b in call.args[1:]]
        if (
            call.open
            or not 1 <= len(bounds) <= 3
            or any(b is None and v is not None for b, v in zip(bounds, call.args[1:], strict=True))
        ):
            return m.unknown("a slice of an iterable", *call.args, site=call.site)
        source = m.select(call.args[0])
        if isinstance(source, IteratorCell):
            return lazily(lambda m: _sliced(m, source, slice(*bounds), call.site), source)
        return _over(m, call, lambda items: itertools.islice(items, *bounds), (source,))


def _sliced(m: Any, source: IteratorCell, part: slice, site: Site) -> Value:
    """A part of what an iterator gives, which is taken from it."""
    out: list[Value] = []
    for i in itertools.count() if part.stop is None else range(part.stop):
        left = m.program.items.remaining(m, source)
        if not isinstance(left, (tuple, Endless)) or len(out) > LONGEST:
            return m.unknown("a slice of an unknown iterator", left, site=site)
        if left == ():
            break
        x = m.program.items.next(m, source, site)
        first = part.start or 0
        if i >= first and (i - first) % (part.step or 1) == 0:
            out.append(x)
    return tuple(out)


def _folding(r: Registry) -> None:
    @r.function("itertools.accumulate", "iterable, func=None, *, initial=None")
    def accumulate(m: Any, call: Call, iterable: Value, func: Value, initial: Value) -> Value:
        def combine(a: Value, b: Value) -> Value:
            if func is None:
                return m.lift(lambda x, y: binary(m, "+", x, y, call.site), a, b)
            return m.program.calls.call(m, func, (a, b), call.site)

        return _over(m, call, lambda items: itertools.accumulate(items, combine, initial=initial), (iterable,))

    @r.function("itertools.starmap", "function, iterable")
    def starmap(m: Any, call: Call, function: Value, iterable: Value) -> Value:
        def rows(items: tuple[Value, ...]) -> Iterator[Value]:
            for row in items:
                args = m.program.items.iterate(m, row)
                yield (
                    m.unknown("unknown arguments", row)
                    if args is None
                    else m.program.calls.call(m, function, tuple(args), call.site)
                )

        return _over(m, call, rows, (iterable,))

    @r.function("itertools.compress", "data, selectors")
    def compress(m: Any, call: Call, data: Value, selectors: Value) -> Value:
        def picked(items: tuple[Value, ...], keep: tuple[Value, ...]) -> Iterator[Value]:
            answers = [truth(m, k) for k in keep]
            if not all(isinstance(a, bool) for a in answers):
                return iter((m.unknown("an element that may be left out", *keep, site=call.site),))
            return (x for x, a in zip(items, answers, strict=False) if a)

        return _over(m, call, picked, (data, selectors))

    @r.function("itertools.groupby", "iterable, key=None")
    def groupby(m: Any, call: Call, iterable: Value, key: Value) -> Value:
        return lazily(
            lambda m: m.lift(lambda items: _groups(m, items, key, call.site), contents(m, iterable)), iterable
        )

    for name, first in (("takewhile", True), ("dropwhile", False)):
        r.function(f"itertools.{name}", "predicate, iterable")(_while(first))


def _groups(m: Any, items: Value, key: Value, site: Site) -> Value:
    """Runs of elements of one key."""
    out: list[tuple[Value, list[Value]]] = []
    if type(items) is not tuple:
        return m.unknown("an iterable of unknown length", items, site=site)
    for x in items:
        k = x if key is None else m.program.calls.call(m, key, (x,), site)
        same = m.decide(equal(m, k, out[-1][0])) if out else False
        if same is None:
            return m.unknown("groups of keys that are not known", k, site=site)
        if same:
            out[-1][1].append(x)
        else:
            out.append((k, [x]))
    return tuple((k, IteratorCell({"items": tuple(xs)})) for k, xs in out)


def _while(first: bool) -> Callable[..., Value]:
    def model(m: Any, call: Call, predicate: Value, iterable: Value) -> Value:
        items = m.program.items.iterate(m, iterable)
        if items is None:
            return m.unknown("an iterable of unknown length", iterable, site=call.site)
        for i, x in enumerate(items):
            holds = truth(m, m.program.calls.call(m, predicate, (x,), call.site))
            if not isinstance(holds, bool):
                return m.unknown("cut by a condition that is not known", x, site=call.site)
            if not holds:
                return IteratorCell({"items": tuple(items[:i]) if first else tuple(items[i:])})
        return IteratorCell({"items": tuple(items) if first else ()})

    return model
