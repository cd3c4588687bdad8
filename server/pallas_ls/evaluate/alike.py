"""Sequences of unknown length whose elements are alike.

A loop over `range(n)` with an unknown `n` evaluates its body once, for any round. What it appends, or what a
comprehension collects, is an element like all the others, as long as it does not depend on the round.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, ShapeDtype
from ..domain.python import (
    Alike,
    Bool,
    Choice,
    DictCell,
    Instance,
    Int,
    IteratorCell,
    ListCell,
    PartlyKnown,
    Range,
    SetCell,
    Slice,
    Unknown,
    Value,
    same,
)
from ..domain.ref import BlockSpec, Ref, RefType
from .frame import Function

if TYPE_CHECKING:
    from .machine import Machine

_DIFFERS = "an element that differs from the others of a sequence of unknown length"


# -- sequences -----------------------------------------------------------------------------------


def content(m: Machine, v: Value) -> Alike | None:
    """What a sequence of unknown length holds; None where its elements are not known to be alike."""
    if isinstance(v, (ListCell, IteratorCell)):
        v = m.program.items.remaining(m, v) if isinstance(v, IteratorCell) else m.select(v.slots["items"])
    return v if isinstance(v, Alike) else None


def element(m: Machine, v: Value, label: str = "") -> Value | None:
    """Any element of an iterable of unknown length; None where nothing is known of it."""
    if isinstance(v, Range) and v.step.dim == 1:
        d = m.fresh_symbol(label, v.start.dim, dims.sub(v.stop.dim, 1))
        m.learn(conds.less(d, v.stop.dim))
        m.learn(conds.at_most(v.start.dim, d))
        return Int(d)
    if isinstance(v, Array) and isinstance(v.shape, tuple) and v.shape:
        return Array(v.shape[1:], v.dtype)
    found = content(m, v)
    return found.element if found is not None else None


def collected(m: Machine, before: Value, run: Callable[[], Value]) -> Value:
    """The elements `before`, and those that any number of rounds add; `run()` gives those of one round, as a tuple."""
    begun = m.fresh
    cond = m.fresh_condition("loop")
    side = m.run_side(cond, run)
    if side.raised is not None:
        m.note_raise(cond, side.raised)
    found = side.value
    rows = found if type(found) is tuple else (found.element,) if isinstance(found, Alike) else None
    if rows is None or type(before) is not tuple:
        return m.unknown("a sequence of unknown length", found)
    rows = (*before, *(_of_any_round(x, begun) for x in rows))
    if not rows:
        return ()
    return Alike("a sequence of unknown length", element=rows[0]) if _all_same(rows) else m.unknown(_DIFFERS, *rows)


def mapped(m: Machine, items: Alike, f: Callable[[Value], Value]) -> Value:
    """A sequence of unknown length with a function applied to its elements."""
    return collected(m, (), lambda: (f(items.element),))


def grown(now: Value, new: Value) -> Value | None:
    """What a list holds to which each round of a loop may add; None where the elements are not alike."""
    if type(now) is tuple and type(new) is tuple and new[: len(now)] == now and _all_same(new):
        return Alike("a list that a loop of unknown length adds to", element=new[0])
    return None


def extended(items: Value, more: tuple[Value, ...]) -> Value | None:
    """A sequence of elements that are alike, with more of them; None where they are not."""
    return items if isinstance(items, Alike) and all(same(items.element, x) for x in more) else None


def of_any_key(key: Value, value: Value) -> Value:
    """What is true of a dict's value under each of some numbered keys."""
    return Unknown(_DIFFERS) if isinstance(key, PartlyKnown) and depends(value, -1) else value


def _all_same(rows: tuple[Value, ...]) -> bool:
    return all(same(x, rows[0]) for x in rows[1:])


def _of_any_round(v: Value, begun: int) -> Value:
    """What is true of the value in each round: nothing, where it depends on symbols made since."""
    if type(v) is tuple:
        return tuple(_of_any_round(x, begun) for x in v)
    if isinstance(v, Array) and isinstance(v.index, Int) and depends(v.index, begun):
        v = replace(v, index=None)
    return Unknown(_DIFFERS) if depends(v, begun) else v


def depends(v: Value, begun: int) -> bool:
    """Whether what is known of a value speaks of symbols made since."""
    if isinstance(v, Int):
        return any(_is_new(s.name, begun) for s in dims.symbols(v.dim))
    if isinstance(v, Choice):
        return any(_is_new(n, begun) for n in conds.names(v.cond)) or depends(v.yes, begun) or depends(v.no, begun)
    if isinstance(v, Bool):
        return any(_is_new(n, begun) for n in conds.names(v.cond))
    if isinstance(v, (Array, Ref, RefType, ShapeDtype, BlockSpec)):
        return isinstance(v.shape, tuple) and any(depends(e, begun) for e in v.shape)
    if type(v) is tuple:
        return any(depends(x, begun) for x in v)
    if isinstance(v, Slice):
        return any(depends(x, begun) for x in (v.start, v.stop, v.step))
    return isinstance(v, (Function, Instance, ListCell, DictCell, SetCell, IteratorCell, Range))


_NUMBER = re.compile(r"\d+$")


def _is_new(name: str, begun: int) -> bool:
    """Whether a symbol's name ends in a number that was given since (see `Machine.fresh_symbol`)."""
    found = _NUMBER.search(name) if name.startswith("?") else None
    return found is not None and int(found[0]) > begun
