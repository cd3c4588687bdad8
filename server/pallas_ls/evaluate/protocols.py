"""What the special methods of a user's classes mean for operators, comparisons, iteration, length and truth."""

from __future__ import annotations

from collections.abc import Callable

from ..domain import cond as conds
from ..domain.cond import Cond
from ..domain.python import (
    Bool,
    External,
    Instance,
    Int,
    Unknown,
    Value,
    compared,
    compares_fields,
    has_known_bases,
    is_integer_enum,
    is_text_enum,
)
from ..source.span import Site
from .descriptors import OPEN
from .machine import Machine, Raised
from .trail import Trail

NOT_IMPLEMENTED = External("NotImplemented")
_METHODS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
            "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor"}  # fmt: skip
_ORDER = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
_REFLECTED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
#: An iterator of the user's is asked for so many elements.
_LONGEST = 1024


def as_tuple(v: Value) -> Value:
    """A NamedTuple as the tuple that it is; every other value as it is."""
    return tuple(v.slots.values()) if isinstance(v, Instance) and v.cls.kind == "namedtuple" else v


def called(m: Machine, v: Instance, name: str, args: tuple[Value, ...], site: Site | None) -> Value:
    """`v.__name__(*args)`; NOT_IMPLEMENTED where its class has no such method."""
    method = m.program.attributes.special(m, v, name)
    return NOT_IMPLEMENTED if method is None else m.program.calls.call(m, method, args, site)


def first_implemented(m: Machine, tries: list[Callable[[], Value]]) -> Value:
    """The first answer that is not NotImplemented, in each of its cases."""
    if not tries:
        return NOT_IMPLEMENTED
    return m.lift(lambda v: first_implemented(m, tries[1:]) if v == NOT_IMPLEMENTED else v, tries[0]())


# -- operators -----------------------------------------------------------------------------------


def binary(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    """`a op b` where one is an object of a user's class; NOT_IMPLEMENTED where neither knows how."""
    name = _METHODS.get(op)
    tries: list[Callable[[], Value]] = []
    if name and isinstance(a, Instance):
        tries.append(lambda: called(m, a, f"__{name}__", (b,), site))
    if name and isinstance(b, Instance):
        tries.append(lambda: called(m, b, f"__r{name}__", (a,), site))
    return first_implemented(m, tries)


def in_place(m: Machine, op: str, a: Instance, b: Value, site: Site) -> Value:
    """`a op= b`; NOT_IMPLEMENTED where it is `a = a op b`."""
    return called(m, a, f"__i{_METHODS.get(op, '')}__", (b,), site)


def unary(m: Machine, op: str, v: Instance, site: Site) -> Value:
    """`-v`, `+v`, `~v`."""
    return called(m, v, _UNARY[op], (), site)


def plain_value(v: Value) -> Value:
    """The integer or text that an enum's member is as well; a NamedTuple's tuple."""
    if isinstance(v, Instance) and (is_integer_enum(v.cls) or is_text_enum(v.cls)):
        return v.slots.get("value", v)
    return as_tuple(v)


# -- comparisons ---------------------------------------------------------------------------------


def equality(m: Machine, a: Value, b: Value, equal: Callable[[Machine, Value, Value], Cond]) -> Cond:
    """`a == b` where one is an object of a user's class."""
    tries: list[Callable[[], Value]] = [
        lambda x=x, y=y: called(m, x, "__eq__", (y,), None) for x, y in ((a, b), (b, a)) if isinstance(x, Instance)
    ]
    answer = first_implemented(m, tries)
    if answer != NOT_IMPLEMENTED:
        return m.program.items.truth(m, answer)
    if a is b:
        return True
    x, y = plain_value(a), plain_value(b)
    if not (x is a and y is b):
        return equal(m, x, y)
    return _by_class(m, a, b, equal)


def _by_class(m: Machine, a: Value, b: Value, equal: Callable[[Machine, Value, Value], Cond]) -> Cond:
    if isinstance(a, Instance) and isinstance(b, Instance) and a.cls is b.cls:
        if a.cls.kind == "enum":
            return a.slots["name"] == b.slots["name"]
        if compares_fields(a.cls):
            return conds.all_of([equal(m, x, y) for x, y in zip(compared(a), compared(b), strict=True)])
        if a.cls.kind == "namespace":
            if OPEN in a.slots or OPEN in b.slots:
                return m.fresh_condition()
            same = a.slots.keys() == b.slots.keys()
            return conds.all_of([equal(m, x, b.slots[n]) for n, x in a.slots.items()]) if same else False
    known = all(has_known_bases(v.cls) or v.cls.kind == "enum" for v in (a, b) if isinstance(v, Instance))
    return False if known else m.fresh_condition()


def ordering(m: Machine, op: str, a: Value, b: Value, site: Site, equal: Callable[..., Cond]) -> Value:
    """`a op b` for an order, where one is an object of a user's class; NOT_IMPLEMENTED where there is none."""
    tries: list[Callable[[], Value]] = []
    for x, y, sign in ((a, b, op), (b, a, _REFLECTED[op])):
        if isinstance(x, Instance):
            tries.append(lambda x=x, y=y, sign=sign: called(m, x, _ORDER[sign], (y,), site))
            tries.append(lambda x=x, y=y, sign=sign: _totally(m, sign, x, y, site, equal))
    return first_implemented(m, tries)


def _totally(m: Machine, op: str, a: Instance, b: Value, site: Site, equal: Callable[..., Cond]) -> Value:
    """What `functools.total_ordering` makes of the one comparison that the class defines."""
    if a.cls.options.get("total_ordering") is not True:
        return NOT_IMPLEMENTED
    has = m.program.attributes.special
    root = next((s for s in _ORDER if has(m, a, _ORDER[s]) is not None), None)
    if root is None:
        return NOT_IMPLEMENTED
    truth = m.program.items.truth(m, called(m, a, _ORDER[root], (b,), site))
    if op[0] != root[0]:
        truth = conds.negate(truth)
    # from here on `truth` says a < b or a <= b (or >, >=): that equality is inside is to be mended
    inside = (root.endswith("=")) == (op[0] == root[0])
    if op.endswith("=") and not inside:
        truth = conds.any_of([truth, equal(m, a, b)])
    elif not op.endswith("=") and inside:
        truth = conds.all_of([truth, conds.negate(equal(m, a, b))])
    return truth if isinstance(truth, bool) else Bool(truth)


def order_key(v: Value) -> Value:
    """What an ordered dataclass is compared by; other values as they are."""
    ordered = isinstance(v, Instance) and v.cls.kind == "dataclass" and v.cls.options.get("order") is True
    return tuple(compared(v)) if ordered else v


# -- containers ----------------------------------------------------------------------------------


def truth(m: Machine, v: Instance) -> Cond:
    """`bool(v)`."""
    if is_integer_enum(v.cls) or is_text_enum(v.cls):
        return m.program.items.truth(m, v.slots.get("value"))
    if v.cls.kind == "namedtuple":
        return bool(v.slots)
    for name in ("__bool__", "__len__"):
        answer = called(m, v, name, (), None)
        if answer != NOT_IMPLEMENTED:
            return m.program.items.truth(m, answer)
    return True if has_known_bases(v.cls) or v.cls.kind == "enum" else m.fresh_condition()


def iterate(m: Machine, v: Instance) -> list[Value] | None:
    """The elements that an object gives; None where they are not known."""
    if v.cls.kind == "namedtuple":
        return list(v.slots.values())
    has = m.program.attributes.special
    if has(m, v, "__iter__") is not None:
        source = m.select(called(m, v, "__iter__", (), None))
        if isinstance(source, Instance) and has(m, source, "__next__") is not None:
            return _drawn(m, lambda i: called(m, source, "__next__", (), None), "StopIteration")
        return m.program.items.iterate(m, source) if source is not v else None
    if has(m, v, "__getitem__") is not None:
        return _drawn(m, lambda i: called(m, v, "__getitem__", (Int(i),), None), "IndexError")
    return None


def _drawn(m: Machine, draw: Callable[[int], Value], end: str) -> list[Value] | None:
    """Elements one by one, until it raises `end`; None where whether it ends is not certain."""
    out: list[Value] = []
    while len(out) < _LONGEST:
        m.step()
        raises, path, outer = len(m.raises), m.path, m.trail
        m.trail = inner = Trail()
        try:
            out.append(draw(len(out)))
        except Raised as r:
            if r.name == end and r.cases is None and len(m.raises) == raises:
                return out
            raise
        finally:
            m.trail = outer
            if outer is not None:
                inner.fold_into(outer, [])
        if any(r.name in (end, "Exception") for r in m.raises[raises:]):
            m.path = path
            m.raises[raises:] = [r for r in m.raises[raises:] if r.name != end]
            for slots, key, _ in inner.old.values():
                m.write(slots, key, Unknown("changed by an iterator of unknown length"))
            m.doubts += 1
            return None
    return None


def contains(m: Machine, v: Instance, x: Value, site: Site) -> Value:
    """`x in v` by `__contains__`; NOT_IMPLEMENTED where it is looked for one by one."""
    return called(m, v, "__contains__", (x,), site)


def length(m: Machine, v: Instance, site: Site) -> Value:
    """`len(v)`; NOT_IMPLEMENTED where its class says nothing of it."""
    if v.cls.kind == "namedtuple":
        return Int(len(v.slots))
    return called(m, v, "__len__", (), site)
