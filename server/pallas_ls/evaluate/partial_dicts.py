"""Dicts of which it is not known which keys they have (`domain.python.Entries`): entries made under conditions that are
too many to tell all cases apart, and entries under numbered keys, unknown how many."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..domain import cond as conds
from ..domain.cond import Cond
from ..domain.python import Choice, Entries, NotConstant, PartlyKnown, Unknown, Value, constant, same

Merge = Callable[[Cond, Value, Value], Value]

_WHY = "a dict of which not all keys are known"


# -- entries under conditions --------------------------------------------------------------------


def merged(cond: Cond, yes: Value, no: Value, merge: Merge) -> Entries | None:
    """The content of a dict that is `yes` under the condition, `no` otherwise; None where they are no contents."""
    a, b = _as_entries(yes, merge), _as_entries(no, merge)
    if a is None or b is None or a.numbered.keys() != b.numbered.keys():
        return None
    known: dict[Any, tuple[Value, Value]] = {}
    perhaps: dict[Any, tuple[Cond, Value, Value]] = {}
    for k in dict.fromkeys((*a.known, *b.known, *a.perhaps, *b.perhaps)):
        x, y = _entry(a, k), _entry(b, k)
        if x is not None and y is not None:
            key, value = x[1], merge(cond, x[2], y[2])
        else:
            one = x if x is not None else y
            assert one is not None  # the key is of one of them
            _, key, value = one
        there = _there(cond, x[0] if x else False, y[0] if y else False)
        if there is True:
            known[k] = (key, value)
        else:
            perhaps[k] = (there, key, value)
    numbered = {p: merge(cond, v, b.numbered[p]) for p, v in a.numbered.items()}
    return Entries(_WHY, known=known, perhaps=perhaps, numbered=numbered)


def _as_entries(v: Value, merge: Merge) -> Entries | None:
    if isinstance(v, dict):
        return Entries(_WHY, known=v)
    if isinstance(v, Choice):
        return merged(v.cond, v.yes, v.no, merge)
    return v if isinstance(v, Entries) else None


def _entry(items: Entries, k: Any) -> tuple[Cond, Value, Value] | None:
    return (True, *items.known[k]) if k in items.known else items.perhaps.get(k)


def _there(cond: Cond, yes: Cond, no: Cond) -> Cond:
    """The condition under which an entry is there, which each side has under a condition of its own."""
    if yes == no:
        return yes
    return conds.any_of([conds.all_of([cond, yes]), conds.all_of([conds.negate(cond), no])])


# -- writing -------------------------------------------------------------------------------------


def put(items: Value, key: Value, value: Value) -> Entries | None:
    """A dict's content with an entry under a key, where not all of its keys are known, or this one is not; None where
    nothing is known of it."""
    if isinstance(items, dict):
        items = Entries(_WHY, known=items)
    if not isinstance(items, Entries):
        return None
    if isinstance(key, PartlyKnown):
        return _put_numbered(items, key.pieces, value) if key.pieces else None
    try:
        at = constant(key)
    except NotConstant:
        return None
    perhaps = {k: row for k, row in items.perhaps.items() if k != at}
    return Entries(_WHY, known={**items.known, at: (key, value)}, perhaps=perhaps, numbered=items.numbered)


def _put_numbered(items: Entries, pieces: tuple[str, ...], value: Value) -> Entries:
    known = {k: row for k, row in items.known.items() if not _fits(pieces, k)}
    perhaps = {k: row for k, row in items.perhaps.items() if not _fits(pieces, k)}
    before = items.numbered.get(pieces, value)
    value = value if same(before, value) else Unknown("an entry that differs from others under numbered keys")
    return Entries(_WHY, known=known, perhaps=perhaps, numbered={**items.numbered, pieces: value})


def joined(a: Value, b: Value, merge: Merge) -> Entries | None:
    """The content of a dict updated from another, where not all keys of one of them are known."""
    if not isinstance(a, (dict, Entries)) or not isinstance(b, (dict, Entries)):
        return None
    right = b if isinstance(b, Entries) else Entries(_WHY, known=b)
    out: Value = a
    for pieces, value in right.numbered.items():
        out = put(out, PartlyKnown("", pieces=pieces), value)
    for key, value in right.known.values():
        out = put(out, key, value)
    for cond, key, value in right.perhaps.values():
        with_it = put(out, key, value)
        out = merged(cond, with_it, out, merge) if with_it is not None else None
    return out if isinstance(out, Entries) else None


# -- reading -------------------------------------------------------------------------------------


def get(items: Entries, key: Value) -> tuple[Cond, Value] | None:
    """The entry under a key, and the condition under which it is there; None where it is not known which."""
    if isinstance(key, PartlyKnown):
        return (True, items.numbered[key.pieces]) if key.pieces in items.numbered else None
    try:
        at = constant(key)
    except NotConstant:
        return None
    if (row := _entry(items, at)) is not None:
        return row[0], row[2]
    found = [value for pieces, value in items.numbered.items() if _fits(pieces, at)]
    if len(found) > 1:
        return None
    return (True, found[0]) if found else (False, None)


def rest(items: Entries, known: Mapping[Any, tuple[Value, Value]]) -> Entries:
    """The content of `**kwargs`: what is known of it, and what else there may be."""
    return Entries(_WHY, known=known, perhaps=items.perhaps, numbered=items.numbered)


def covers(wide: Value, now: Value) -> bool:
    """Whether a dict's content after a round of a loop is what it was before, but for numbered keys."""
    before = Entries(_WHY, known=now) if isinstance(now, dict) else now
    if not isinstance(wide, Entries) or not isinstance(before, Entries):
        return False
    return (
        _equal(wide.known, before.known)
        and _equal(wide.perhaps, before.perhaps)
        and all(k in wide.numbered and same(wide.numbered[k], v) for k, v in before.numbered.items())
    )


def _equal(a: Mapping[Any, Value], b: Mapping[Any, Value]) -> bool:
    return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)


def _fits(pieces: tuple[str, ...], key: object) -> bool:
    """Whether a key may be one of the numbered ones."""
    return isinstance(key, str) and re.fullmatch(r"-?\d+".join(map(re.escape, pieces)), key) is not None
