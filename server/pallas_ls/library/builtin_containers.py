"""Methods of lists, tuples, dicts, sets and ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..domain.python import (
    MISSING,
    Call,
    DictCell,
    Int,
    ListCell,
    NotConstant,
    Range,
    SetCell,
    Value,
    constant,
)
from ..source.span import Site
from .builtin_types import distinct, from_pairs
from .methods import Methods
from .operate import contents, decided, equal
from .registry import NO_ATTRIBUTE, Registry

_LIST = Methods("list")
_TUPLE = Methods("tuple")
_DICT = Methods("dict")
_SET = Methods("set")


def register(r: Registry) -> None:
    """Registers the attributes of containers."""
    r.attribute(ListCell)(_LIST.attribute)
    r.attribute(tuple)(_TUPLE.attribute)
    r.attribute(DictCell)(_DICT.attribute)
    r.attribute(SetCell)(_SET.attribute)
    r.attribute(Range)(_range_attribute)


def _range_attribute(m: Any, v: Range, name: str, site: Site) -> Value:
    return getattr(v, name) if name in ("start", "stop", "step") else NO_ATTRIBUTE


Change = Callable[[tuple[Value, ...]], Value]


def change(m: Any, cell: ListCell | SetCell, run: Change, why: str, added: tuple[Value, ...] | None = None) -> None:
    """Writes a list's or set's content anew, in each of its cases; unknown content stays unknown. `added`: all that
    the change does is to add these."""

    def changed(items: Value) -> Value:
        if type(items) is tuple:
            return run(items)
        longer = m.program.items.extended(items, added) if added is not None else None
        return m.unknown(why, items) if longer is None else longer

    m.write(cell.slots, "items", m.lift(changed, cell.slots["items"]))


# -- lists and tuples ------------------------------------------------------------------------------


@_LIST.method("append", "x")
def append(m: Any, call: Call, self: ListCell, x: Value) -> Value:
    """`list.append`."""
    change(m, self, lambda items: (*items, x), "a list of unknown content", (x,))


@_LIST.method("extend", "iterable")
def extend(m: Any, call: Call, self: ListCell, iterable: Value) -> Value:
    """`list.extend`."""

    def joined(old: Value, new: Value) -> Value:
        return (*old, *new) if type(old) is tuple and type(new) is tuple else m.unknown("an extended list", old, new)

    m.write(self.slots, "items", m.lift(joined, self.slots["items"], contents(m, iterable)))


@_LIST.method("insert", "index, x")
def insert(m: Any, call: Call, self: ListCell, index: Value, x: Value) -> Value:
    """`list.insert`."""
    at = _position(m, index)

    def inserted(items: tuple[Value, ...]) -> Value:
        if at is None:
            return m.unknown("a list with an element inserted at an unknown index", index)
        out = list(items)
        out.insert(at, x)
        return tuple(out)

    change(m, self, inserted, "a list of unknown content")


def _position(m: Any, index: Value) -> int | None:
    n = m.as_int(index)
    return n.dim if n is not None and isinstance(n.dim, int) else None


@_LIST.method("pop", "index=-1")
def pop(m: Any, call: Call, self: ListCell, index: Value) -> Value:
    """`list.pop`: the element, which is taken out."""
    at = _position(m, index)

    now = m.select(self.slots["items"])
    if type(now) is tuple and at is not None and not -len(now) <= at < len(now):
        m.raises_error("IndexError", call.site)

    def inside(items: Value) -> bool:
        return type(items) is tuple and at is not None and -len(items) <= at < len(items)

    def taken(items: Value) -> Value:
        return items[at] if inside(items) else m.unknown("an element popped from an unknown list", items, index)

    out = m.lift(taken, self.slots["items"])

    def rest(items: tuple[Value, ...]) -> Value:
        if not inside(items) or at is None:
            return m.unknown("a list after an unknown pop", index)
        cut = at % len(items)
        return (*items[:cut], *items[cut + 1 :])

    change(m, self, rest, "a list of unknown content")
    return out


@_LIST.method("remove", "x")
def remove(m: Any, call: Call, self: ListCell, x: Value) -> Value:
    """`list.remove`."""

    def without(items: tuple[Value, ...]) -> Value:
        at = _first(m, items, x)
        return m.unknown("a list after an unknown remove", x) if at is None else (*items[:at], *items[at + 1 :])

    change(m, self, without, "a list of unknown content")


def _first(m: Any, items: tuple[Value, ...], x: Value) -> int | None:
    """The position of the first element that equals x; None where that cannot be told."""
    for i, item in enumerate(items):
        same = m.decide(equal(m, item, x))
        if same is not False:
            return i if same else None
    return None


@_LIST.method("index", "x")
@_TUPLE.method("index", "x")
def index_(m: Any, call: Call, self: Value, x: Value) -> Value:
    """`index` of the first equal element."""

    def found(items: Value) -> Value:
        at = _first(m, items, x) if type(items) is tuple else None
        return Int(at) if at is not None else m.unknown("the index of an element", items, x)

    return m.lift(found, contents(m, self))


@_LIST.method("count", "x")
@_TUPLE.method("count", "x")
def count(m: Any, call: Call, self: Value, x: Value) -> Value:
    """How many elements equal x."""

    def counted(items: Value) -> Value:
        answers: list[bool | None] = [m.decide(equal(m, i, x)) for i in items] if type(items) is tuple else [None]
        return Int(answers.count(True)) if None not in answers else m.unknown("a count", items, x)

    return m.lift(counted, contents(m, self))


@_LIST.method("copy __copy__")
def copy(m: Any, call: Call, self: ListCell) -> Value:
    """`list.copy`."""
    return ListCell({"items": self.slots["items"]})


@_LIST.method("reverse")
def reverse(m: Any, call: Call, self: ListCell) -> Value:
    """`list.reverse`."""
    change(m, self, lambda items: items[::-1], "a list of unknown content")


@_LIST.method("sort", "*, key=None, reverse=False")
def sort(m: Any, call: Call, self: ListCell, key: Value, reverse: Value) -> Value:
    """`list.sort`."""
    ordered = m.program.calls.call(
        m, m.program.library.builtin("sorted"), (self,), call.site, {"key": key, "reverse": reverse}
    )
    m.write(
        self.slots, "items", ordered.slots["items"] if isinstance(ordered, ListCell) else m.unknown("a sorted list")
    )


@_LIST.method("clear")
def clear_list(m: Any, call: Call, self: ListCell) -> Value:
    """`list.clear`."""
    m.write(self.slots, "items", ())


# -- what a deque has besides ----------------------------------------------------------------------


@_LIST.method("appendleft", "x")
def appendleft(m: Any, call: Call, self: ListCell, x: Value) -> Value:
    """`deque.appendleft`."""
    change(m, self, lambda items: (x, *items), "a deque of unknown content")


@_LIST.method("popleft")
def popleft(m: Any, call: Call, self: ListCell) -> Value:
    """`deque.popleft`."""
    return pop(m, call, self, Int(0))


@_LIST.method("rotate", "n=1")
def rotate(m: Any, call: Call, self: ListCell, n: Value) -> Value:
    """`deque.rotate`: the last elements come first."""
    by = _position(m, n)

    def rotated(items: tuple[Value, ...]) -> Value:
        if by is None:
            return m.unknown("a deque rotated by an unknown number", n)
        cut = len(items) - by % len(items) if items else 0
        return (*items[cut:], *items[:cut])

    change(m, self, rotated, "a deque of unknown content")


# -- dicts -----------------------------------------------------------------------------------------


def _in_cases(m: Any, cell: DictCell, run: Callable[[dict[Any, Any]], Value], why: str) -> Value:
    return m.lift(lambda items: run(items) if isinstance(items, dict) else m.unknown(why, items), cell.slots["items"])


@_DICT.method("items")
def items_(m: Any, call: Call, self: DictCell) -> Value:
    """(key, value) pairs."""
    return _in_cases(m, self, lambda items: tuple((k, v) for k, v in items.values()), "items of an unknown dict")


@_DICT.method("keys")
def keys(m: Any, call: Call, self: DictCell) -> Value:
    """The keys: a set that has an order."""
    found = _in_cases(m, self, lambda items: tuple(k for k, _ in items.values()), "keys of an unknown dict")
    return SetCell({"items": found, "ordered": True})


@_DICT.method("values")
def values(m: Any, call: Call, self: DictCell) -> Value:
    """The values in order."""
    return _in_cases(m, self, lambda items: tuple(v for _, v in items.values()), "values of an unknown dict")


def _key(m: Any, key: Value) -> Any:
    """The key as Python would hash it; MISSING where it is not known."""
    try:
        return constant(key)
    except NotConstant:
        return MISSING


@_DICT.method("get", "key, default=None")
def get(m: Any, call: Call, self: DictCell, key: Value, default: Value) -> Value:
    """`dict.get`."""
    k = _key(m, key)

    def found(items: dict[Any, Any]) -> Value:
        if k is MISSING:
            return m.unknown("an entry under an unknown key", key, site=call.site)
        return items[k][1] if k in items else default

    def one(items: Value) -> Value:
        if isinstance(items, dict):
            return found(items)
        if (entry := m.program.items.perhaps(items, key)) is None:
            return m.unknown("an entry of an unknown dict", items)
        there, value = entry
        return m.branch(there, lambda: value, lambda: default)

    return m.lift(one, self.slots["items"])


@_DICT.method("setdefault", "key, default=None")
def setdefault(m: Any, call: Call, self: DictCell, key: Value, default: Value) -> Value:
    """`dict.setdefault`: the entry, made where there is none."""
    k = _key(m, key)

    def added(items: dict[Any, Any]) -> Value:
        if k is MISSING:
            return m.unknown("a dict with an unknown key", key)
        return items if k in items else {**items, k: (key, default)}

    m.write(self.slots, "items", _in_cases(m, self, added, "an unknown dict"))
    return get(m, call, self, key, default)


@_DICT.method("pop", "key, default=...")
def pop_entry(m: Any, call: Call, self: DictCell, key: Value, default: Value) -> Value:
    """`dict.pop`: the entry, which is taken out. Ellipsis stands for no default."""
    k = _key(m, key)

    def taken(items: dict[Any, Any]) -> Value:
        if k in items:
            return items[k][1]
        return default if k is not MISSING and default is not ... else m.unknown("an entry popped from a dict", key)

    now = m.select(self.slots["items"])
    if isinstance(now, dict) and k is not MISSING and k not in now and default is ...:
        m.raises_error("KeyError", call.site)
    out = _in_cases(m, self, taken, "an entry of an unknown dict")

    def rest(items: dict[Any, Any]) -> Value:
        return (
            m.unknown("a dict after an unknown pop", key)
            if k is MISSING
            else {n: x for n, x in items.items() if n != k}
        )

    m.write(self.slots, "items", _in_cases(m, self, rest, "an unknown dict"))
    return out


@_DICT.raw("update")
def update(m: Any, call: Call) -> Value:
    """`dict.update(other, **named)`."""
    cell, *others = call.args
    for other in others:
        m.program.items.update(m, cell, _as_dict(m, other))
    if call.kwargs:
        m.program.items.update(m, cell, DictCell({"items": {k: (k, v) for k, v in call.kwargs.items()}}))
    if call.open:
        m.write(cell.slots, "items", m.unknown("a dict updated from an unknown mapping"))
    return None


def _as_dict(m: Any, other: Value) -> Value:
    other = m.select(other)
    if isinstance(other, DictCell):
        return other
    return DictCell({"items": m.lift(lambda x: from_pairs(m, x), contents(m, other, ordered=False))})


@_DICT.method("copy __copy__")
def copy_dict(m: Any, call: Call, self: DictCell) -> Value:
    """`dict.copy`."""
    return DictCell({"items": self.slots["items"]})


@_DICT.method("clear")
def clear_dict(m: Any, call: Call, self: DictCell) -> Value:
    """`dict.clear`."""
    m.write(self.slots, "items", {})


# -- sets ------------------------------------------------------------------------------------------


@_SET.method("add", "x")
def add(m: Any, call: Call, self: SetCell, x: Value) -> Value:
    """`set.add`."""
    change(m, self, lambda items: distinct(m, (*items, x)), "a set of unknown content")


@_SET.method("update", "*iterables")
def update_set(m: Any, call: Call, self: SetCell, iterables: tuple[Value, ...]) -> Value:
    """`set.update`."""

    def joined(old: Value, new: Value) -> Value:
        known = type(old) is tuple and type(new) is tuple
        return distinct(m, (*old, *new)) if known else m.unknown("a set of unknown content", old, new)

    for iterable in iterables:
        m.write(self.slots, "items", m.lift(joined, self.slots["items"], contents(m, iterable, ordered=False)))


@_SET.method("discard remove", "x")
def discard(m: Any, call: Call, self: SetCell, x: Value) -> Value:
    """`set.discard`."""

    def rest(items: tuple[Value, ...]) -> Value:
        answers = [m.decide(equal(m, i, x)) for i in items]
        if None in answers:
            return m.unknown("a set after an unknown removal", x)
        return tuple(i for i, same in zip(items, answers, strict=True) if not same)

    change(m, self, rest, "a set of unknown content")


def _set_operation(name: str, keep: Callable[[bool, bool], bool]) -> None:
    @_SET.method(name, "other")
    def combined(m: Any, call: Call, self: SetCell, other: Value) -> Value:
        def members(a: Value, b: Value) -> Value:
            if type(a) is not tuple or type(b) is not tuple:
                return m.unknown("a set of unknown content", a, b)
            every = distinct(m, (*a, *b))
            if type(every) is not tuple or any(_key(m, x) is MISSING for x in every):
                return m.unknown("a set with unknown elements", a, b)
            left, right = {_key(m, x) for x in a}, {_key(m, x) for x in b}
            return tuple(x for x in every if keep(_key(m, x) in left, _key(m, x) in right))

        return SetCell({"items": m.lift(members, self.slots["items"], contents(m, other, ordered=False))})


_set_operation("union", lambda a, b: a or b)
_set_operation("intersection", lambda a, b: a and b)
_set_operation("difference", lambda a, b: a and not b)
_set_operation("symmetric_difference", lambda a, b: a != b)


@_SET.method("copy")
def copy_set(m: Any, call: Call, self: SetCell) -> Value:
    """`set.copy`."""
    return SetCell({"items": self.slots["items"]})


def _set_test(name: str, holds: Callable[[set[Any], set[Any]], bool]) -> None:
    @_SET.method(name, "other")
    def tested(m: Any, call: Call, self: SetCell, other: Value) -> Value:
        def answer(a: Value, b: Value) -> Value:
            keys_a = [_key(m, x) for x in a] if type(a) is tuple else [MISSING]
            keys_b = [_key(m, x) for x in b] if type(b) is tuple else [MISSING]
            if MISSING in (*keys_a, *keys_b):
                return decided(m, m.fresh_condition())
            return holds(set(keys_a), set(keys_b))

        return m.lift(answer, self.slots["items"], contents(m, other, ordered=False))


_set_test("issubset", lambda a, b: a <= b)
_set_test("issuperset", lambda a, b: a >= b)
_set_test("isdisjoint", lambda a, b: a.isdisjoint(b))
