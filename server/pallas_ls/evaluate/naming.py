"""Names for integers: what the source calls a number at a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING

from ..domain import dim as dims
from ..domain.array import label_extent
from ..domain.dim import Dim
from ..domain.facts import Facts
from ..domain.python import MISSING, Choice, Instance, Int, Opaque, Origin, Unknown, Value
from ..source.span import Site

if TYPE_CHECKING:
    from .frame import Frame
    from .machine import Machine

#: Variables by the integer that they hold, innermost first.
Names = Mapping[Dim, tuple[str, ...]]


def labelled(m: Machine, v: Value, name: str) -> Value:
    """A value as a variable holds it: what is unknown of it is told from all others, so that extents by it agree."""
    if type(v) is Unknown:
        return v if v.label else replace(v, label=f"?{name}#{m.next_fresh()}")
    if type(v) is Choice:
        yes, no = labelled(m, v.yes, name), labelled(m, v.no, name)
        return v if yes is v.yes and no is v.no else Choice(v.cond, yes, no)
    return v


class Held:
    """What the variables of a frame hold at one time.

    Attributes:
      names: all its variables; numbers: (path, value) of those that may hold an integer, fields of objects included.
    """

    __slots__ = ("_parts", "_values", "names", "numbers")

    def __init__(self, variables: dict[str, Value]) -> None:
        self._values = tuple(variables.values())
        self._parts = [(v.slots, tuple(v.slots.values())) for v in self._values if type(v) is Instance]
        self.names = tuple(variables)
        self.numbers = tuple(_numbers(variables))

    def still(self, variables: dict[str, Value]) -> bool:
        """Whether the variables hold the same objects as then."""
        return _same_objects(self._values, variables) and all(_same_objects(v, slots) for slots, v in self._parts)


def _same_objects(before: tuple[Value, ...], slots: dict[str, Value]) -> bool:
    return len(before) == len(slots) and all(map(is_, before, slots.values()))


def _numbers(variables: dict[str, Value]) -> Iterator[tuple[str, Value]]:
    for name, v in variables.items():
        if type(v) is Instance:
            yield from ((f"{name}.{part}", x) for part, x in v.slots.items() if type(x) in _KINDS)
        elif type(v) in _KINDS:
            yield name, v


_KINDS = frozenset((Int, Unknown, Choice))


class Visible(Mapping[Dim, tuple[str, ...]]):
    """The variables of a frame, of those around it, and of its callers, by the integer that they hold; an inner one
    hides those of its name. Worked out when it is asked for: most facts are never shown."""

    __slots__ = ("_facts", "_frames", "_names")

    def __init__(self, facts: Facts, frames: tuple[Held, ...]) -> None:
        self._facts = facts
        self._frames = frames
        self._names: dict[Dim, tuple[str, ...]] | None = None

    def _found(self) -> dict[Dim, tuple[str, ...]]:
        if self._names is None:
            out: dict[Dim, list[str]] = {}
            hidden: set[str] = set()
            for held in self._frames:
                for path, v in held.numbers:
                    if path.split(".", 1)[0] not in hidden and (d := _integer(self._facts, v)) is not None:
                        out.setdefault(d, []).append(path)
                hidden.update(held.names)
            self._names = {d: tuple(names) for d, names in out.items()}
            self._frames = ()
        return self._names

    def __getitem__(self, d: Dim) -> tuple[str, ...]:
        return self._found()[d]

    def __iter__(self) -> Iterator[Dim]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


def selected(facts: Facts, v: Value) -> Value:
    """The case of a Choice that holds under what is known, where that is decided."""
    while isinstance(v, Choice):
        known = facts.decide(v.cond)
        if known is None:
            return v
        v = v.yes if known else v.no
    return v


def parameter_as_integer(facts: Facts, v: Opaque, site: Site | None = None) -> Int | None:
    """A parameter, or a part of one, that is used as an integer: a symbol, or the number that it is known to be."""
    if v.hint not in ("", "int"):
        return None
    known = facts.values.get(v.name, MISSING)
    if isinstance(known, int) and not isinstance(known, bool):
        return Int(known)
    low = 0 if ".shape[" in v.name else None
    origin = Origin(site, "parameter") if site else None
    return Int(dims.symbol(v.name, sure=v.hint == "int" or low == 0, low=low), origin)


def visible(facts: Facts, frame: Frame | None) -> Visible:
    """The variables that a frame sees on a path."""
    return Visible(facts, tuple(map(_held, _frames(frame))))


def _held(fr: Frame) -> Held:
    if fr.held is None or not fr.held.still(fr.vars):
        fr.held = Held(fr.vars)
    return fr.held


def _frames(frame: Frame | None) -> Iterator[Frame]:
    """Lexically enclosing frames first, then those of the call that led here."""
    seen: set[int] = set()
    caller = frame
    while caller is not None:
        at: Frame | None = caller
        while at is not None:
            if id(at) not in seen:
                seen.add(id(at))
                yield at
            at = at.up
        caller = caller.caller


def _integer(facts: Facts, v: Value) -> Dim | None:
    """The integer that a variable holds: a symbolic one, or one of several that the path selects."""
    if type(v) is Int:
        return None if isinstance(v.dim, int) else v.dim
    if type(v) is Unknown:
        return label_extent(v) if v.label else None
    chosen = selected(facts, v)
    if type(chosen) is Opaque:
        chosen = parameter_as_integer(facts, chosen)
    if type(chosen) is Int:
        return chosen.dim
    if type(chosen) is Unknown:
        return label_extent(chosen) if chosen.label else None
    return None
