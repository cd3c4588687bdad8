"""Subscripts, iteration and unpacking of the containers of Python; other values are the library's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.cond import Cond
from ..domain.python import (
    MISSING,
    Alike,
    Bool,
    Bound,
    Choice,
    Class,
    DictCell,
    Endless,
    Entries,
    Instance,
    Int,
    IteratorCell,
    Lazy,
    ListCell,
    NotConstant,
    Opaque,
    Origin,
    Range,
    SetCell,
    Slice,
    Unknown,
    Value,
    constant,
    lookup,
)
from ..source.span import Site
from . import alike, partial_dicts, protocols
from . import operators as ops
from .descriptors import ClassMethod
from .machine import Machine, Raised
from .trail import leaves, merge

#: Longer ranges are not unrolled.
MAX_UNROLL = 1024
#: What runs over an iterable is split into so many cases of its length; more cost too much.
MAX_SPLIT = 4


class Items:
    """Subscripts and iteration."""

    def __init__(self, program: Any) -> None:
        self.program = program

    # -- reading -----------------------------------------------------------------------------------

    def get(self, m: Machine, v: Value, index: Value, site: Site, where: Site) -> Value:
        """`v[index]`."""
        if isinstance(index, Bool) and not isinstance(v, Array):
            index = ops.as_number(m, index)
        if isinstance(v, Choice) or isinstance(index, Choice):
            return m.lift(lambda a, b: self.get(m, a, b, site, where), v, index)
        if isinstance(index, Slice) and isinstance(v, _SEQUENCES) and _has_cases(index):
            bounds = (ops.as_number(m, x) for x in (index.start, index.stop, index.step))
            return m.lift(lambda *parts: self.get(m, v, Slice(*parts), site, where), *bounds)
        if type(v) is tuple or isinstance(v, str):
            return self._from_tuple(m, v, index, site)
        if isinstance(v, ListCell):
            return m.lift(lambda items: self._from_list(m, items, index, site), v.slots["items"])
        if isinstance(v, DictCell):
            return m.lift(lambda items: self._from_dict(m, v, items, index, site), v.slots["items"])
        if isinstance(v, Range):
            return self._from_range(m, v, index, site)
        if isinstance(v, Opaque) and v.hint == "array":
            return self.program.library.array_item(m, v, index, site, where)
        if isinstance(v, Opaque):
            return self._from_opaque(m, v, index, site)
        if isinstance(v, Instance):
            return self._from_instance(m, v, index, site)
        if isinstance(v, Class):
            return self._from_class(m, v, index, site)
        if v is None:
            raise Raised(None, "TypeError", site)
        if isinstance(v, Alike):
            return v if isinstance(index, Slice) else v.element
        if isinstance(v, Unknown):
            return m.unknown(v.why, v, site=site)
        return self.program.library.getitem(m, v, index, site, where)

    def _from_class(self, m: Machine, v: Class, index: Value, site: Site) -> Value:
        """A member of an enum by name; a generic class with its arguments is the class."""
        if v.kind == "enum":
            return self.program.classes.enums.named(m, v, index, site)
        method = lookup(v, "__class_getitem__")
        if isinstance(method, ClassMethod):
            return self.program.calls.call(m, Bound(v, method.function), (index,), site)
        return v

    def _from_tuple(self, m: Machine, v: Any, index: Value, site: Site) -> Value:
        if isinstance(index, Slice):
            picked = _python_slice(m, index)
            return (
                v[picked]
                if picked is not None
                else m.unknown("a slice with unknown bounds", index.start, index.stop, site=site)
            )
        n = m.as_int(index)
        if n is None or isinstance(index, Unknown):
            return m.unknown("an unknown index", index, site=site)
        if isinstance(n.dim, int):
            if not -len(v) <= n.dim < len(v):
                raise Raised(None, "IndexError", site)
            return v[n.dim]
        self._refuse_outside(m, len(v), n, site)
        return (
            self._one_of(m, list(v), n, site)
            if isinstance(v, tuple)
            else m.unknown("an unknown index", index, site=site)
        )

    def _refuse_outside(self, m: Machine, length: int, n: Int, site: Site) -> None:
        """An index that is outside whatever its value."""
        low = m.decide(conds.at_most(-length, n.dim))
        high = m.decide(conds.less(n.dim, length))
        if (low is False or high is False) and all(s.sure for s in dims.symbols(n.dim)):
            raise Raised(None, "IndexError", site)

    def _one_of(self, m: Machine, items: list[Value], n: Int, site: Site) -> Value:
        """An element at a symbolic index: all the same, or a choice."""
        if items and all(ops.equality(m, x, items[0]) is True for x in items[1:]):
            return items[0]
        if not items or len(items) > 4:
            return m.unknown("an element at an unknown index", n, site=site)
        out: Value = items[-1]
        for i in range(len(items) - 2, -1, -1):
            out = m.lift(lambda a, b, i=i: _choose(m, conds.equal(n.dim, i), a, b), items[i], out)
        return out

    def _from_list(self, m: Machine, items: Value, index: Value, site: Site) -> Value:
        if isinstance(items, Alike):
            return ListCell({"items": items}) if isinstance(index, Slice) else items.element
        if type(items) is not tuple:
            return m.unknown("an element of an unknown list", items, site=site)
        out = self._from_tuple(m, items, index, site)
        return ListCell({"items": out}) if isinstance(index, Slice) and type(out) is tuple else out

    def _from_dict(self, m: Machine, cell: DictCell, items: Value, index: Value, site: Site) -> Value:
        if isinstance(items, Entries) and (found := partial_dicts.get(items, index)) is not None:
            if m.decide(found[0]) is False:
                return self._made_by_default(m, cell, index, site)
            return found[1]
        if not isinstance(items, dict):
            return m.unknown("an entry of an unknown dict", items, site=site)
        try:
            key = constant(index)
        except NotConstant:
            if "default" in cell.slots:
                m.write(cell.slots, "items", m.unknown("a dict that made an entry under an unknown key", index))
            return m.unknown("an entry under an unknown key", index, site=site)
        if key not in items:
            return self._made_by_default(m, cell, index, site)
        return items[key][1]

    def _made_by_default(self, m: Machine, cell: DictCell, index: Value, site: Site) -> Value:
        """An entry that is missing: a defaultdict makes it, a Counter counts none."""
        factory = cell.slots.get("default")
        if factory is None:
            raise Raised(None, "KeyError", site)
        if isinstance(factory, Int):
            return factory
        value = self.program.calls.call(m, factory, (), site)
        self.put(m, cell, index, value)
        return value

    def _from_range(self, m: Machine, v: Range, index: Value, site: Site) -> Value:
        known = ops.python_range(v)
        if isinstance(index, Slice):
            picked = _python_slice(m, index)
            if known is None or picked is None:
                return m.unknown("a slice of a range", index.start, index.stop, site=site)
            part = known[picked]
            return Range(Int(part.start), Int(part.stop), Int(part.step))
        n = m.as_int(index)
        if n is None or m.decide(conds.less(n.dim, 0)) is not False:
            if known is None or n is None or not isinstance(n.dim, int):
                return m.unknown("an element of a range", index, site=site)
            if n.dim >= 0 or n.dim < -len(known):
                raise Raised(None, "IndexError", site)
            return Int(known[n.dim])
        if known is not None and m.decide(conds.less(n.dim, len(known))) is False:
            raise Raised(None, "IndexError", site)
        return ops.binary(m, "+", v.start, ops.binary(m, "*", n, v.step, site), site)

    def _from_opaque(self, m: Machine, v: Opaque, index: Value, site: Site) -> Value:
        if isinstance(index, Int) and isinstance(index.dim, int):
            if v.name.endswith(".shape"):
                at = index.dim
                rank = m.path.facts.values.get(f"len({v.name})")
                at = at + rank if at < 0 and isinstance(rank, int) else at
                return Int(dims.symbol(f"{v.name}[{at}]", low=0), Origin(site, "shape"))
            return Opaque(f"{v.name}[{index.dim}]")
        if isinstance(index, str):
            return Opaque(f"{v.name}[{index!r}]")
        if isinstance(index, Slice):
            bounds = [_bound_text(x) for x in (index.start, index.stop)]
            if index.step is None and None not in bounds:
                return Opaque(f"{v.name}[{bounds[0]}:{bounds[1]}]", v.hint)
        return m.unknown(f"an unknown part of {v.name}", v, index, site=site)

    def _from_instance(self, m: Machine, v: Instance, index: Value, site: Site) -> Value:
        method = self.program.attributes.special(m, v, "__getitem__")
        if method is not None:
            return self.program.calls.call(m, method, (index,), site)
        if v.cls.kind == "namedtuple":
            return self.get(m, tuple(v.slots.values()), index, site, site)
        return m.unknown(f"an element of a {v.cls.name}", v, site=site)

    # -- writing -----------------------------------------------------------------------------------

    def set(self, m: Machine, v: Value, index: Value, value: Value, site: Site, where: Site) -> None:
        """`v[index] = value`."""
        v = m.select(v)
        if isinstance(v, Choice):
            m.branch(
                v.cond,
                lambda: self.set(m, v.yes, index, value, site, where),
                lambda: self.set(m, v.no, index, value, site, where),
            )
        elif isinstance(v, DictCell):
            self.put(m, v, index, value)
        elif isinstance(v, ListCell):
            self._set_in_list(m, v, index, value, site)
        elif isinstance(v, Instance):
            method = self.program.attributes.special(m, v, "__setitem__")
            if method is not None:
                self.program.calls.call(m, method, (index, value), site)
        elif not isinstance(v, (Unknown, Opaque, tuple)):
            self.program.library.setitem(m, v, index, value, site, where)

    def _set_in_list(self, m: Machine, v: ListCell, index: Value, value: Value, site: Site) -> None:
        items = m.select(v.slots["items"])
        if isinstance(index, Slice):
            return self._set_slice(m, v, items, index, value)
        n = m.as_int(index)
        if type(items) is tuple and n is not None and isinstance(n.dim, int):
            if not -len(items) <= n.dim < len(items):
                raise Raised(None, "IndexError", site)
            at = n.dim % len(items)
            m.write(v.slots, "items", (*items[:at], value, *items[at + 1 :]))
        else:
            m.write(v.slots, "items", m.unknown("a list written at an unknown index", index))

    def _set_slice(self, m: Machine, v: ListCell, items: Value, index: Slice, value: Value) -> None:
        picked, more = _python_slice(m, index), self.iterate(m, value)
        if type(items) is not tuple or picked is None or more is None:
            return m.write(v.slots, "items", m.unknown("a list written at an unknown slice", index.start, index.stop))
        changed = list(items)
        try:
            changed[picked] = more
        except ValueError:
            raise Raised(None, "ValueError", None) from None
        return m.write(v.slots, "items", tuple(changed))

    def put(self, m: Machine, cell: DictCell, key: Value, value: Value) -> None:
        """`cell[key] = value`."""

        def with_entry(items: Value) -> Value:
            if isinstance(items, dict):
                try:
                    return {**items, constant(key): (key, value)}
                except NotConstant:
                    pass
            elif not isinstance(items, Entries):
                return items
            found = partial_dicts.put(items, key, alike.of_any_key(key, value))
            return m.unknown("a dict with an unknown key", key) if found is None else found

        m.write(cell.slots, "items", m.lift(with_entry, cell.slots["items"]))

    def update(self, m: Machine, cell: DictCell, other: Value) -> None:
        """`cell.update(other)`."""
        other = m.select(other)
        right = other.slots["items"] if isinstance(other, DictCell) else m.unknown("an unknown mapping", other)

        def joined(a: Value, b: Value) -> Value:
            if isinstance(a, dict) and isinstance(b, dict):
                return {**a, **b}
            found = partial_dicts.joined(a, b, merge)
            return m.unknown("a dict updated from an unknown mapping", a, b) if found is None else found

        m.write(cell.slots, "items", m.lift(joined, cell.slots["items"], right))

    def delete(self, m: Machine, v: Value, index: Value, site: Site | None = None) -> None:
        """`del v[index]`."""
        v = m.select(v)
        if isinstance(v, DictCell):
            self._delete_entry(m, v, index, site)
        elif isinstance(v, ListCell):
            items, at = m.select(v.slots["items"]), _python_index(m, index)
            if type(items) is not tuple or at is None:
                return m.write(v.slots, "items", m.unknown("a list after del", index))
            kept = list(items)
            try:
                del kept[at]
            except IndexError:
                raise Raised(None, "IndexError", site) from None
            m.write(v.slots, "items", tuple(kept))
        elif isinstance(v, Instance):
            method = self.program.attributes.special(m, v, "__delitem__")
            if method is not None:
                self.program.calls.call(m, method, (index,), site)
        return None

    def _delete_entry(self, m: Machine, v: DictCell, index: Value, site: Site | None) -> None:
        items = m.select(v.slots["items"])
        try:
            key = constant(index)
        except NotConstant:
            key = items = None
        if not isinstance(items, dict):
            return m.write(v.slots, "items", m.unknown("a deleted entry", index))
        if key not in items:
            raise Raised(None, "KeyError", site)
        return m.write(v.slots, "items", {k: x for k, x in items.items() if k != key})

    def augmented(self, m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
        """`a op= b`: lists and dicts change in place."""
        if isinstance(a, ListCell) and op == "+":
            more = self.iterate(m, b)

            def extended(items: Value) -> Value:
                return (
                    (*items, *more) if type(items) is tuple and more is not None else m.unknown("an extended list", b)
                )

            m.write(a.slots, "items", m.lift(extended, a.slots["items"]))
            return a
        if isinstance(a, DictCell) and op == "|":
            self.update(m, a, b)
            return a
        if isinstance(a, (SetCell, ListCell)):
            changed = ops.binary(m, op, a, b, site)
            same_kind = isinstance(changed, type(a))
            m.write(a.slots, "items", changed.slots["items"] if same_kind else m.unknown("changed in place", a, b))
            return a
        if isinstance(a, Instance):
            answer = protocols.in_place(m, op, a, b, site)
            if answer != protocols.NOT_IMPLEMENTED:
                return answer
        return ops.binary(m, op, a, b, site)

    # -- iteration ---------------------------------------------------------------------------------

    def iterate(self, m: Machine, v: Value) -> list[Value] | None:
        """The elements in order, or None where their number is unknown."""
        v = m.select(v)
        if type(v) is tuple:
            return list(v)
        if isinstance(v, (ListCell, SetCell, DictCell)):
            items = m.select(v.slots["items"])
            if isinstance(items, dict):
                return [key for key, _ in items.values()]
            if isinstance(v, SetCell) and "ordered" not in v.slots and type(items) is tuple and len(items) > 1:
                return None  # in which order is not known
            return list(items) if type(items) is tuple else cases(m, items)
        if isinstance(v, str):
            return list(v)
        if isinstance(v, Range):
            return _range(m, v)
        if isinstance(v, IteratorCell):
            return self._drained(m, v)
        if isinstance(v, Instance):
            return protocols.iterate(m, v)
        if isinstance(v, Class):
            return list(self.program.classes.enums.members(m, v)) if v.kind == "enum" else None
        if isinstance(v, Choice):
            return cases(m, v)
        if isinstance(v, (Unknown, Opaque, Int)) or v is None or isinstance(v, (bool, float)):
            return None
        return self.program.library.iterate(m, v)

    def alike(self, m: Machine, v: Value) -> Alike | None:
        """The content of a sequence of unknown length, where its elements are known to be alike."""
        return alike.content(m, v)

    def mapped(self, m: Machine, items: Alike, f: Callable[[Value], Value]) -> Value:
        """`f` of each element of a sequence of unknown length."""
        return alike.mapped(m, items, f)

    def perhaps(self, items: Value, key: Value) -> tuple[Cond, Value] | None:
        """An entry of a dict of which not all keys are known, and when it is there; None where that is not known."""
        return partial_dicts.get(items, key) if isinstance(items, Entries) else None

    def extended(self, items: Value, more: tuple[Value, ...]) -> Value | None:
        """The content of a list of unknown length with more elements; None where they are not alike."""
        return alike.extended(items, more)

    def spread(self, m: Machine, v: Value) -> Value:
        """An iterable, or what it holds, as a choice where it differs under a condition; Unknown for too many cases."""
        v = m.select(v)
        content = m.select(v.slots["items"]) if isinstance(v, ListCell) else v
        if isinstance(v, IteratorCell) and isinstance(content := self.remaining(m, v), Choice):
            m.write(v.slots, "items", ())
        return content if not isinstance(content, Choice) or leaves(content) <= MAX_SPLIT else Unknown("too many cases")

    def remaining(self, m: Machine, v: IteratorCell) -> Value:
        """What an iterator has still to give: evaluated now, if nothing has been taken from it yet."""

        def begun(items: Value) -> Value:
            if not isinstance(items, Lazy):
                return items
            m.write(v.slots, "items", Unknown("an iterator that is being evaluated"))
            return items.run(m)

        before = v.slots["items"]
        items = m.lift(begun, before)
        if items is not before:
            m.write(v.slots, "items", items)
        return m.select(items)

    def _drained(self, m: Machine, v: IteratorCell) -> list[Value] | None:
        items = self.remaining(m, v)
        found = list(items) if type(items) is tuple else cases(m, items)
        if found is not None:
            m.write(v.slots, "items", ())
        return found

    def next(self, m: Machine, v: IteratorCell, site: Site, default: Value = MISSING) -> Value:
        """`next(v)`: the first element, which is taken from it."""

        def first(items: Value) -> Value:
            if isinstance(items, Endless):
                return items.at(items.position)
            if type(items) is not tuple:
                return m.unknown("the next element of an iterator", items, site=site)
            if not items and default is MISSING:
                raise Raised(None, "StopIteration", site)
            return items[0] if items else default

        items = self.remaining(m, v)
        out = m.lift(first, items)
        m.write(v.slots, "items", m.lift(after_first, items))
        return out

    # -- what the library asks of operators --------------------------------------------------------

    def truth(self, m: Machine, v: Value) -> Cond:
        """Whether a value is true."""
        return ops.truth(m, v)

    def equal(self, m: Machine, a: Value, b: Value) -> Cond:
        """Whether two values are equal."""
        return ops.equality(m, a, b)

    def compare(self, m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
        """`a op b` for a comparison operator."""
        return ops.compare(m, op, a, b, site)

    def unpack(self, m: Machine, v: Value, count: int, star: int | None) -> list[Value]:
        """The values of `a, b, *c = v`: a list in place of the star."""
        v = m.select(v)
        if isinstance(v, Choice):
            yes, no = self.unpack(m, v.yes, count, star), self.unpack(m, v.no, count, star)
            return [_choose(m, v.cond, a, b) for a, b in zip(yes, no, strict=True)]
        if isinstance(v, Opaque):
            return self._unpack_opaque(m, v, count, star)
        items = self.iterate(m, v)
        if items is None and (same := alike.content(m, v)) is not None:
            return [ListCell({"items": same}) if i == star else same.element for i in range(count)]
        if items is None:
            return [m.unknown("unpacked from an unknown sequence", v)] * count
        if star is None:
            if len(items) != count:
                raise Raised(None, "ValueError", None)
            return items
        after = count - star - 1
        if len(items) < count - 1:
            raise Raised(None, "ValueError", None)
        middle = ListCell({"items": tuple(items[star : len(items) - after])})
        return [*items[:star], middle, *items[len(items) - after :]]

    def _unpack_opaque(self, m: Machine, v: Opaque, count: int, star: int | None) -> list[Value]:
        def part(i: int) -> Value:
            if v.name.endswith(".shape"):
                return Int(dims.symbol(f"{v.name}[{i}]", low=0))
            return Opaque(f"{v.name}[{i}]")

        if star is None:
            m.learn(conds.Same(f"len({v.name})", count))
            return [part(i) for i in range(count)]
        after = count - star - 1
        middle = Opaque(f"{v.name}[{star}:{-after or ''}]", v.hint)
        return [*(part(i) for i in range(star)), middle, *(part(i - after) for i in range(after))]


#: What is sliced in each case of the bounds.
_SEQUENCES = (tuple, ListCell, str, Range, Opaque)


def _has_cases(s: Slice) -> bool:
    return any(isinstance(x, (Choice, Bool)) for x in (s.start, s.stop, s.step))


def after_first(items: Value) -> Value:
    """What is left when the first element is taken."""
    if isinstance(items, Endless):
        return Endless(items.at, items.position + 1)
    return items[1:] if type(items) is tuple else items


def _python_index(m: Machine, index: Value) -> Any:
    if isinstance(index, Slice):
        return _python_slice(m, index)
    n = m.as_int(index)
    return n.dim if n is not None and isinstance(n.dim, int) else None


def _choose(m: Machine, cond: conds.Cond, a: Value, b: Value) -> Value:
    known = m.decide(cond)
    return merge(cond, a, b) if known is None else (a if known else b)


def cases(m: Machine, items: Value) -> list[Value] | None:
    """A choice between sequences of one length: element by element."""
    items = m.select(items)
    if not isinstance(items, Choice):
        return (
            [k for k, _ in items.values()] if isinstance(items, dict) else list(items) if type(items) is tuple else None
        )
    yes, no = cases(m, items.yes), cases(m, items.no)
    if yes is None or no is None or len(yes) != len(no):
        return None
    return [_choose(m, items.cond, a, b) for a, b in zip(yes, no, strict=True)]


def _range(m: Machine, v: Range) -> list[Value] | None:
    bounds = (m.simplify(v.start.dim), m.simplify(v.stop.dim), m.simplify(v.step.dim))
    if not all(isinstance(b, int) for b in bounds):
        return None
    try:
        values = range(*bounds)  # pyright: ignore[reportArgumentType]
    except ValueError:
        return None
    return [Int(i) for i in values] if len(values) <= MAX_UNROLL else None


def _python_slice(m: Machine, s: Slice) -> slice | None:
    out: list[int | None] = []
    for part in (s.start, s.stop, s.step):
        if part is None:
            out.append(None)
            continue
        n = m.as_int(part)
        if n is None or not isinstance(n.dim, int):
            return None
        out.append(n.dim)
    return slice(*out) if out[2] != 0 else None


def _bound_text(v: Value) -> str | None:
    if v is None:
        return ""
    return str(v.dim) if isinstance(v, Int) and isinstance(v.dim, int) else None
