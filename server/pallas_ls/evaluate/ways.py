"""Launches of kernels that tell nothing new: those of a caller who knows no more than the function that launches.

A function that launches a kernel is evaluated over symbols for its parameters, and its kernel's body with it. Where a
caller passes its own parameters on, the body would be evaluated again, to find the same once more under other names.
It is passed over then: what is wrong with it stands at the function already (or at an inner caller, for the callers of
that). The launch that was evaluated has to stay: a unit remembers from which other one it borrowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..domain.python import Value
from ..source.span import Site
from .likeness import Likeness
from .trail import Trail

if TYPE_CHECKING:
    from .machine import Machine

#: Ways of one likeness that are kept.
MAX_WAYS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A launch by a function evaluated over its parameters.

    Attributes:
      likeness: of all that goes into it; known: what was known of that.
      chain: the host calls that led there, which are the last ones of those that lead to who borrows it.
      called: identities of the code that ran; doubts: how often something there may raise.
      same: what its likeness compares by identity.
      path, entry: the unit that evaluated it.
    """

    likeness: int
    known: frozenset[Any]
    chain: tuple[Site, ...]
    called: frozenset[int]
    doubts: int
    same: tuple[object, ...]
    path: str
    entry: str


@dataclass(slots=True)
class Ways:
    """The ways of a program's kernels, by their likeness."""

    program: Any
    found: dict[int, list[Way]] = field(default_factory=dict[int, list[Way]])

    def launch(self, m: Machine, path: str, values: Iterable[Value], run: Callable[[], None]) -> None:
        """Runs a kernel's body, where that may tell anything new.

        path: the file that makes the kernel; values: all that goes into it.
        """
        if m.unit is None or m.launches:
            return run()
        like = Likeness()
        key = like.of(values)
        known = like.known(m.path.facts)
        way = self._to_borrow(m, key, known)
        if way is None and m.chain and self.program.bring(path):
            way = self._to_borrow(m, key, known)
        if way is None:
            return self._run(m, like, key, known, m.unit, run)
        m.borrowed.append(way)
        m.called |= way.called
        m.doubts += way.doubts
        return None

    def _to_borrow(self, m: Machine, key: int, known: frozenset[Any]) -> Way | None:
        for w in self.found.get(key, ()):
            shorter = len(m.chain) - len(w.chain)
            if shorter > 0 and m.chain[shorter:] == w.chain and w.known <= known and self.program.stands(w, m):
                return w
        return None

    def _run(
        self,
        m: Machine,
        like: Likeness,
        key: int,
        known: frozenset[Any],
        unit: tuple[str, str],
        run: Callable[[], None],
    ) -> None:
        """Runs a body and keeps the way, unless it changes what was there before."""
        doubts, outer = m.doubts, m.trail
        m.trail = inner = Trail()
        try:
            run()
        finally:
            m.trail = outer
            if outer is not None:
                inner.fold_into(outer, [])
        if any(like.holds(slots) for slots, _, _ in inner.old.values()):
            return
        way = Way(key, known, m.chain, frozenset(m.called), m.doubts - doubts, tuple(like.same), *unit)
        m.ways.append(way)
        self.found[key] = [*self.found.get(key, ()), way][-MAX_WAYS:]

    def drop(self, ways: Iterable[Way]) -> None:
        """Forgets the ways of a unit that is gone or was evaluated anew."""
        for way in ways:
            kept = [w for w in self.found.pop(way.likeness, ()) if w is not way]
            if kept:
                self.found[way.likeness] = kept
