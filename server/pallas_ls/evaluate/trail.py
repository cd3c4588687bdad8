"""Writes that can be undone and merged: both sides of an undecided condition start from the same state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..domain.array import Array
from ..domain.cond import Cond
from ..domain.python import MISSING, Choice, Entries, Unknown, Value, same
from . import partial_dicts
from .common import common

#: More cases than this at one value are given up as `Unknown`.
MAX_LEAVES = 8

Slots = dict[str, Value]
#: (id of the slots, key) -> (slots, key, value)
Writes = dict[tuple[int, str], tuple[Slots, str, Value]]


class Trail:
    """The old values of all slots written since it began."""

    __slots__ = ("old",)

    def __init__(self) -> None:
        self.old: Writes = {}

    def note(self, slots: Slots, key: str) -> None:
        """Remembers the slot's value before its first write."""
        where = (id(slots), key)
        if where not in self.old:
            self.old[where] = (slots, key, slots.get(key, MISSING))

    def new(self) -> Writes:
        """The written slots with their present values."""
        return {w: (slots, key, slots.get(key, MISSING)) for w, (slots, key, _) in self.old.items()}

    def fold_into(self, outer: Trail, early: list[Any]) -> None:
        """Ends this part of the log: its old values go to the outer one, early ends inside it are seen from there."""
        if early:
            begun = {
                w: self.old.get(w, (slots, key, slots.get(key, MISSING))) for w, (slots, key, _) in outer.old.items()
            }
            for p in early:
                p.writes = {**begun, **p.writes}
        for where, row in self.old.items():
            outer.old.setdefault(where, row)

    def undo(self) -> None:
        """Puts the old values back."""
        for slots, key, value in self.old.values():
            put(slots, key, value)


def put(slots: Slots, key: str, value: Value) -> None:
    """Writes a slot, or empties it for MISSING."""
    if value is MISSING:
        slots.pop(key, None)
    else:
        slots[key] = value


def merge(cond: Cond, yes: Value, no: Value) -> Value:
    """The value that is `yes` under the condition and `no` otherwise."""
    if yes is no:
        return yes
    if isinstance(yes, Choice) and yes.cond == cond:
        yes = yes.yes
    if isinstance(no, Choice) and no.cond == cond:
        no = no.no
    if yes is MISSING:
        yes = Unknown("not bound on one of the paths")
    if no is MISSING:
        no = Unknown("not bound on one of the paths")
    if same(yes, no):
        return _either_made(yes, no)
    if type(yes) is Unknown and type(no) is Unknown:
        return _either_unknown(cond, yes, no)
    if isinstance(yes, Entries) and isinstance(no, Entries) and (found := partial_dicts.merged(cond, yes, no, merge)):
        return found
    if type(yes) is tuple and type(no) is tuple and len(yes) == len(no):
        return tuple(merge(cond, a, b) for a, b in zip(yes, no, strict=True))
    if isinstance(yes, dict) and isinstance(no, dict) and yes.keys() == no.keys():
        return {k: (yes[k][0], merge(cond, yes[k][1], no[k][1])) for k in yes}
    if leaves(yes) + leaves(no) > MAX_LEAVES:
        found = partial_dicts.merged(cond, yes, no, merge)
        return common(yes, no) if found is None else found
    return Choice(cond, yes, no)


def _either_made(yes: Value, no: Value) -> Value:
    """One of two equal values. An array that the paths came by in different ways was computed in no known way."""
    if isinstance(yes, Array) and isinstance(no, Array):
        if yes.by is not no.by:
            return replace(yes, by=None, made=None)
        return no if no.made is None else yes
    return yes


def _either_unknown(cond: Cond, yes: Unknown, no: Unknown) -> Unknown:
    """One of two unknown values: unknown, and told from others where both are."""
    label = f"?#{hash((cond, yes.label, no.label)) & 0xFFFFFFFFFFFF:x}" if yes.label and no.label else ""
    return Unknown(yes.why, yes.needs | no.needs, yes.site, label)


def leaves(v: Value) -> int:
    """Number of cases in a value."""
    return leaves(v.yes) + leaves(v.no) if isinstance(v, Choice) else 1
