"""Names for integers: what the source calls a number at a place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..domain.array import label_extent
from ..domain.dim import Dim
from ..domain.python import Choice, Instance, Int, Opaque, Unknown, Value

if TYPE_CHECKING:
    from .frame import Frame
    from .machine import Machine

#: Variables by the integer that they hold, innermost first.
Names = dict[Dim, tuple[str, ...]]


def labelled(m: Machine, v: Value, name: str) -> Value:
    """A value as a variable holds it: what is unknown of it is told from all others, so that extents by it agree."""
    if type(v) is Unknown:
        return v if v.label else replace(v, label=f"?{name}#{m.next_fresh()}")
    if type(v) is Choice:
        yes, no = labelled(m, v.yes, name), labelled(m, v.no, name)
        return v if yes is v.yes and no is v.no else Choice(v.cond, yes, no)
    return v


def visible(m: Machine, frame: Frame | None) -> Names:
    """The variables of a frame, of those around it, and of its callers; an inner one hides those of its name."""
    out: dict[Dim, list[str]] = {}
    hidden: set[str] = set()
    for fr in _frames(frame):
        for name, v in fr.vars.items():
            if name not in hidden:
                for path, d in _integers(m, name, v):
                    out.setdefault(d, []).append(path)
        hidden.update(fr.vars)
    return {d: tuple(names) for d, names in out.items()}


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


def _integers(m: Machine, path: str, v: Value) -> Iterator[tuple[str, Dim]]:
    """Integers that a variable holds: symbolic ones, and one of several that the path selects."""
    kind = type(v)
    if kind is Int:
        if not isinstance(v.dim, int):
            yield path, v.dim
    elif kind is Unknown:
        if v.label:
            yield path, label_extent(v)
    elif kind is Choice:
        chosen = m.select(v)
        if type(chosen) is Int:
            yield path, chosen.dim
        elif type(chosen) is Unknown:
            yield from _integers(m, path, chosen)
        elif type(chosen) is Opaque and (number := m.as_int(chosen)) is not None:
            yield path, number.dim
    elif kind is Instance and "." not in path:
        for name, part in v.slots.items():
            yield from _integers(m, f"{path}.{name}", part)
