"""The register layout of every value that a call is given, followed through the operations that computed it.

Under Warpgroup semantics JAX solves one system for the whole kernel (jax/experimental/mosaic/gpu/layout_inference.py).
What is followed here is the part that is forced: a `layout_cast` (or `load(layout=)`) fixes a layout, values that are
no splat keep their producer's (`derive_relayout_constraints`: only a splat is laid out anew by itself), elementwise
operations share one. Whatever else the kernel does makes the system only harder. Under Lane semantics each operation
decides on the spot (fragmented_array.py), and the same values are forced.

What an operation needs to be refused for under Warpgroup semantics is that it is used: the dialect's canonicalisation
drops dead ones. Lane semantics lower what is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from ...domain.array import Array, LayoutName, Operation
from ...domain.array import Splat as SplatLayout
from ...domain.fact import CallFact
from ...domain.finding import JaxError
from ...domain.layout import Strided, Tiled
from ...domain.python import Int, Value
from ...domain.target import JaxVersion, Semantics
from ...source.span import Site
from ..rule import Note
from ..view import CallView
from .closure import Closures, merged_loads
from .known import Free, Given, Kind, Known, Refusal, Tiles, arrays_in


class Flow:
    """The layouts of a kernel's values, as far as one path knows its numbers, worked out once.

    Attributes:
      refusals: what was found on the way, in the order in which the program computes.
    """

    def __init__(self, view: CallView, semantics: Semantics, rules: RuleTable) -> None:
        self.view = view
        self.semantics = semantics
        self.rules = rules
        self.memo: dict[int, Known] = {}
        self.done: set[int] = set()
        self.refused: set[int] = set()
        self.refusals: list[Refusal] = []
        self.following: dict[int, Operation] = {}
        self.closures = Closures(view.fact.operations)
        self.merged: dict[int, int] | None = None
        self.asked: dict[int, Given] = {}
        self.casts: dict[int, Operation] | None = None
        self.operations: list[Operation] = []  # keeps alive what the memo names by its id

    def found(self, fact: CallFact) -> list[Refusal]:
        """What following the operands (under Lane semantics the result, too) of a call refuses for the first time."""
        before = len(self.refusals)
        for value in fact.operands.values():
            for a in arrays_in(value):
                self.layout(a)
        if self.semantics is Semantics.LANE:
            for a in arrays_in(fact.result):
                self.layout(a)
        return self.refusals[before:]

    def layout(self, a: Value) -> Known:
        """The layout of a value."""
        if not isinstance(a, Array):
            return Free.SPLAT if isinstance(a, (int, float, bool, Int)) else Free.OPEN
        if a.by is not None and id(a.by) not in self.memo:
            self._follow(a, a.by)
        if a.shape == ():
            return Free.SPLAT
        if a.by is None:
            return Free.SPLAT if isinstance(a.layout, SplatLayout) else Free.OPEN
        return self.memo[id(a.by)]

    def _follow(self, a: Array, by: Operation) -> None:
        """Works out an operation after all those that it depends on, without recursion: chains are long."""
        waiting = [(a, by)]
        while waiting:
            a, by = waiting[-1]
            if id(by) not in self.memo:
                self.memo[id(by)] = Free.OPEN  # for whatever would lead back here
                self.operations.append(by)
                operands = reversed([x for v in by.operands.values() for x in arrays_in(v)])
                waiting += [(x, x.by) for x in operands if x.by is not None and id(x.by) not in self.memo]
                continue
            waiting.pop()
            if id(by) not in self.done:
                self.done.add(id(by))
                self.memo[id(by)] = self._computed(a, by)

    def _computed(self, a: Array, by: Operation) -> Known:
        """The layout of what an operation gives."""
        rule = self.rules(by.name)
        if rule is None:
            return repeated(by)
        before = len(self.refusals)
        found = rule(self, a, by, {name: self.layout(v) for name, v in by.operands.items()})
        if len(self.refusals) > before:
            self.refused.add(id(by))
        return found

    def next(self, by: Operation) -> Operation | None:
        """The operation that the kernel does next; naming a layout is none."""
        if not self.following:
            done = [o for o in self.view.fact.operations if not isinstance(o.result, LayoutName)]
            self.following = {id(a): b for a, b in pairwise(done)}
        return self.following.get(id(by))

    def cast_of(self, by: Operation) -> Operation | None:
        """The first cast of what an operation gives."""
        if self.casts is None:
            self.casts = {}
            for o in self.view.fact.operations:
                x = o.operands.get("x")
                if o.name == "layout_cast" and isinstance(x, Array) and x.by is not None:
                    self.casts.setdefault(id(x.by), o)
        return self.casts.get(id(by))

    def twin(self, by: Operation, layout: Tiled | Strided) -> Given | None:
        """The layout in which a load that JAX merges with this one was asked for before (since 0.11)."""
        if self.view.version < JaxVersion(0, 11):
            return None
        if self.merged is None:
            self.merged = merged_loads(self.view)
        key = self.merged.get(id(by))
        if key is None:
            return None
        name = by.operands.get("new_layout", by.operands.get("layout"))
        shown = name.shown if isinstance(name, LayoutName) else "another layout"
        first = self.asked.setdefault(key, Given(layout, by.site, shown))
        return None if first.layout == layout else first

    def refuse(self, kind: Kind, site: Site, message: str, jax: JaxError, *origins: Given | Tiles) -> Free:
        """Records a refusal; the value after it is open, so that one fault is told once."""
        notes = tuple(Note(o.site, f"{o.name} comes from here") for o in origins)
        self.refusals.append(Refusal(kind, site, message, jax, notes))
        return Free.OPEN


Rule = Callable[[Flow, Array, Operation, Mapping[str, Known]], Known]
RuleTable = Callable[[str], Rule | None]


def repeated(by: Operation) -> Free:
    """A value of which only is known whether it is one value repeated."""
    made = by.result
    return Free.SPLAT if isinstance(made, Array) and isinstance(made.layout, SplatLayout) else Free.OPEN
