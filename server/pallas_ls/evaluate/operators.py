"""Python's operators on the values of the analysis."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.cond import Cond
from ..domain.dtype import DType, dtype_named
from ..domain.fact import Division
from ..domain.python import (
    MISSING,
    Bool,
    Builtin,
    Choice,
    Class,
    DictCell,
    External,
    Instance,
    Int,
    IteratorCell,
    ListCell,
    NotConstant,
    Opaque,
    Origin,
    Range,
    Ratio,
    SetCell,
    TypeUnion,
    Unknown,
    Value,
    constant,
)
from ..source.span import Site
from . import floats, protocols, sequences
from .machine import Machine, Raised

_INT_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "+": dims.add,
    "-": dims.sub,
    "*": dims.mul,
    "//": dims.floordiv,
    "%": dims.mod,
    "**": dims.power,
    "<<": lambda a, b: dims.bitwise("<<", a, b),
    ">>": lambda a, b: dims.bitwise(">>", a, b),
    "&": lambda a, b: dims.bitwise("&", a, b),
    "|": lambda a, b: dims.bitwise("|", a, b),
    "^": lambda a, b: dims.bitwise("^", a, b),
}
_PLAIN_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_LONGEST = 4096  # longer repeated sequences are not built
#: Expressions that name more symbols than this are given up: one that is used in itself doubles with each round of a
#: loop (`x = x + x // t`), and what is known of it would be worthless long before.
_LARGEST = 256


def binary(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    """`a op b`."""
    if type(a) is Int and type(b) is Int:
        return _int_binary(m, op, a, b, site)
    if isinstance(a, Choice) or isinstance(b, Choice):
        return m.lift(lambda x, y: binary(m, op, x, y, site), a, b)
    if type(a) is bool and type(b) is bool and op in ("&", "|", "^"):
        return {"&": a & b, "|": a | b, "^": a ^ b}[op]
    if is_array(a) or is_array(b):
        return m.program.library.array_binary(m, op, a, b, site)
    if isinstance(a, Bool) or isinstance(b, Bool):
        return _bool_binary(m, op, a, b, site)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Unknown):
            return replace(m.unknown(x.why, x, y, site=site), number=_is_numeric(op, a, b))
    if isinstance(a, Instance) or isinstance(b, Instance):
        return _instance_binary(m, op, a, b, site)
    x, y = _as_number(m, a, b, site), _as_number(m, b, a, site)
    if x is not None and y is not None:
        return _int_binary(m, op, x, y, site)
    return _other_binary(m, op, a, b, site)


def is_array(v: Value) -> bool:
    """Whether a value is certainly an array: a traced one, or a parameter that is annotated so."""
    return isinstance(v, Array) or (isinstance(v, Opaque) and v.hint == "array")


def _is_numeric(op: str, a: Value, b: Value) -> bool:
    """Whether the result of an operator is certainly a number: `+` and `*` also make sequences, `%` text."""
    if op in ("-", "//", "/", "**", "<<", ">>"):
        return True
    sure = [isinstance(v, (Int, float, Array)) or (isinstance(v, Unknown) and v.number) for v in (a, b)]
    return any(sure) if op == "+" else all(sure)


def _bool_binary(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    """A truth value that is not decided counts as 0 or 1; `&`, `|` and `^` of two are truth values."""
    if op in ("&", "|", "^") and isinstance(a, (bool, Bool)) and isinstance(b, (bool, Bool)):
        x, y = truth(m, a), truth(m, b)
        both, any_ = conds.all_of([x, y]), conds.any_of([x, y])
        return as_value({"&": both, "|": any_, "^": conds.all_of([any_, conds.negate(both)])}[op])
    return binary(m, op, as_number(m, a), as_number(m, b), site)


def as_number(m: Machine, v: Value) -> Value:
    """A truth value that is not decided, as the numbers that it may be; other values as they are."""
    return m.select(Choice(v.cond, Int(1), Int(0))) if isinstance(v, Bool) else v


def _as_number(m: Machine, v: Value, other: Value, site: Site) -> Int | None:
    """The operand as an integer, where both may be integers."""
    if isinstance(v, Opaque) and isinstance(other, (float, str, tuple, ListCell)):
        return None
    return m.as_int(v, site)


def _int_binary(m: Machine, op: str, a: Int, b: Int, site: Site) -> Value:
    run = _INT_OPS.get(op)
    if run is None:
        return _divided(m, a, b, site) if op == "/" else m.unknown(f"operator {op} on integers", a, b, site=site)
    if op == "**" and isinstance(b.dim, int) and b.dim < 0:
        return a.dim**b.dim if isinstance(a.dim, int) and a.dim else m.unknown("a negative power", a, b, site=site)
    if op in ("//", "%") and not isinstance(b.dim, int) and m.decide(conds.zero(b.dim)) is True:
        raise Raised(None, "ZeroDivisionError", site)
    try:
        value = run(a.dim, b.dim)
    except ZeroDivisionError:
        raise Raised(None, "ZeroDivisionError", site) from None
    except ValueError:
        return m.unknown("a shift or power out of range", a, b, site=site)
    if not isinstance(value, int) and dims.size(value) > _LARGEST:
        return m.unknown("too large an expression", a, b, site=site)
    if op == "//":
        m.divisions.add(Division(site, a.dim, b.dim, m.decide(conds.divides(b.dim, a.dim))))
    inputs = (a.origin, b.origin)
    return Int(value, Origin(site, op, tuple(o for o in inputs if o is not None)))


def _divided(m: Machine, a: Int, b: Int, site: Site) -> Value:
    if isinstance(a.dim, int) and isinstance(b.dim, int):
        if b.dim == 0:
            raise Raised(None, "ZeroDivisionError", site)
        return a.dim / b.dim
    quotient = floats.divided(m, a, b)
    return m.unknown("a true division", a, b, site=site) if quotient is None else quotient


def _other_binary(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    if op == "+" and type(a) is tuple and type(b) is tuple:
        return a + b
    if op == "*":
        for seq, n in ((a, b), (b, a)):
            count = m.as_int(n)
            if isinstance(seq, (tuple, ListCell, str)) and count is not None:
                return _repeat(m, seq, count, site)
    if op == "+" and isinstance(a, ListCell) and isinstance(b, (ListCell, tuple)):
        return _concatenate(m, a, b)
    if isinstance(a, SetCell) and isinstance(b, (SetCell, DictCell)):
        return sequences.set_binary(m, op, a, b, site)
    if op == "|" and isinstance(a, DictCell) and isinstance(b, DictCell):
        return m.lift(
            lambda x, y: DictCell(
                {"items": {**x, **y} if isinstance(x, dict) and isinstance(y, dict) else Unknown("dict")}
            ),
            a.slots["items"],
            b.slots["items"],
        )
    if isinstance(a, str) and op == "%":
        return sequences.percent(m, a, b, site)
    x, y = _plain(a), _plain(b)
    if x is not MISSING and y is not MISSING and op in _PLAIN_OPS:
        try:
            return _wrap(_PLAIN_OPS[op](x, y))
        except ZeroDivisionError:
            raise Raised(None, "ZeroDivisionError", site) from None
        except (TypeError, ValueError, OverflowError):
            return m.unknown(f"operator {op} on these operands", a, b, site=site)
    if op == "|" and _is_type(a) and _is_type(b):
        return TypeUnion((a, b))
    if op in _PLAIN_OPS and (floats.is_float(a) or floats.is_float(b)) and floats.is_number(a) and floats.is_number(b):
        return floats.arithmetic(m, op, a, b)
    return m.unknown(f"operator {op} on these operands", a, b, site=site)


def _is_type(v: Value) -> bool:
    """What may stand in an annotation: a class, a name of a library, None, a forward reference."""
    return v is None or isinstance(v, (Class, External, Builtin, TypeUnion, str))


def _plain(v: Value) -> Any:
    if isinstance(v, Int) and isinstance(v.dim, int):
        return v.dim
    return v if isinstance(v, (bool, float, complex, str, bytes)) else MISSING


def _wrap(v: Any) -> Value:
    return Int(v) if isinstance(v, int) and not isinstance(v, bool) else v


def _repeat(m: Machine, seq: Value, count: Int, site: Site) -> Value:
    if not isinstance(count.dim, int):
        return m.unknown("a sequence repeated an unknown number of times", count, site=site)
    n = max(0, count.dim)
    if isinstance(seq, ListCell):
        items = m.select(seq.slots["items"])
        if type(items) is tuple and len(items) * n <= _LONGEST:
            return ListCell({"items": items * n})
        return m.unknown("a repeated list", items, site=site)
    return seq * n if len(seq) * n <= _LONGEST else m.unknown("a very long sequence", site=site)


def _concatenate(m: Machine, a: ListCell, b: ListCell | tuple[Value, ...]) -> Value:
    right = b.slots["items"] if isinstance(b, ListCell) else b

    def join(x: Value, y: Value) -> Value:
        return x + y if type(x) is tuple and type(y) is tuple else m.unknown("an unknown list", x, y)

    return ListCell({"items": m.lift(join, a.slots["items"], right)})


def _instance_binary(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    answer = protocols.binary(m, op, a, b, site)
    if answer != protocols.NOT_IMPLEMENTED:
        return answer
    x, y = protocols.plain_value(a), protocols.plain_value(b)
    if not (x is a and y is b):
        return binary(m, op, x, y, site)
    return m.unknown(f"operator {op} on an object", a, b, site=site)


def unary(m: Machine, op: str, v: Value, site: Site) -> Value:
    """`-v`, `+v`, `~v` or `not v`."""
    if op == "not":
        t = truth(m, v)
        return as_value(conds.negate(t))
    if isinstance(v, Choice):
        return m.lift(lambda x: unary(m, op, x, site), v)
    if is_array(v):
        return m.program.library.array_unary(m, op, v, site)
    if isinstance(v, (float, complex)) and op in ("-", "+"):
        return -v if op == "-" else v
    if isinstance(v, Instance):
        answer, plain = protocols.unary(m, op, v, site), protocols.plain_value(v)
        if answer != protocols.NOT_IMPLEMENTED:
            return answer
        return m.unknown(f"operator {op} on an object", v, site=site) if plain is v else unary(m, op, plain, site)
    if floats.is_float(v) and op in ("-", "+"):
        return floats.arithmetic(m, "*", v, -1.0) if op == "-" else v
    if isinstance(v, Bool):
        return unary(m, op, as_number(m, v), site)
    n = m.as_int(v, site)
    if n is None or isinstance(v, Unknown):
        return m.unknown(f"operator {op} on this operand", v, site=site)
    value = n.dim if op == "+" else dims.neg(n.dim) if op == "-" else dims.sub(dims.neg(n.dim), 1)
    return Int(value, Origin(site, op, (n.origin,) if n.origin else ()))


def as_value(c: Cond) -> Value:
    """A condition as a value of the program."""
    return c if isinstance(c, bool) else Bool(c)


def truth(m: Machine, v: Value) -> Cond:
    """Whether a value is true: decided on this path where that is possible."""
    c = _truth(m, v)
    known = m.decide(c)
    return c if known is None else known


def _truth(m: Machine, v: Value) -> Cond:
    if v is None or isinstance(v, (bool, str, float, bytes, complex)):
        return bool(v)
    if isinstance(v, Bool):
        return v.cond
    if isinstance(v, Int):
        return conds.negate(conds.zero(v.dim))
    if isinstance(v, tuple):
        return bool(v)
    if isinstance(v, (ListCell, DictCell, SetCell)):
        return _truth(m, _content(m.select(v.slots["items"])))
    if isinstance(v, Choice):
        if all_open(v):
            return m.fresh_condition()
        return conds.any_of(
            [conds.all_of([v.cond, _truth(m, v.yes)]), conds.all_of([conds.negate(v.cond), _truth(m, v.no)])]
        )
    if isinstance(v, Opaque):
        return _opaque_truth(m, v)
    if isinstance(v, (Unknown, Array, External)):
        return m.fresh_condition()
    if isinstance(v, Instance):
        return protocols.truth(m, v)
    if isinstance(v, Ratio):
        return conds.negate(conds.zero(v.numerator))
    if isinstance(v, Range):
        return _range_truth(m, v)
    return True


def all_open(v: Value) -> bool:
    """Whether nothing is known of the truth of any case of a value."""
    if isinstance(v, Choice):
        return all_open(v.yes) and all_open(v.no)
    return isinstance(v, (Unknown, Array, External))


def _content(items: Value) -> Value:
    return bool(items) if isinstance(items, (tuple, dict)) else items


def _opaque_truth(m: Machine, v: Opaque) -> Cond:
    if v.name in m.path.facts.values:
        return bool(m.path.facts.values[v.name])
    if v.hint == "int":
        return conds.negate(conds.zero(dims.symbol(v.name)))
    return True if v.hint in ("dtype", "callable", "ref") else conds.Truth(v.name)


def _range_truth(m: Machine, v: Range) -> Cond:
    if v.step.dim == 1:
        return conds.less(v.start.dim, v.stop.dim)
    values = python_range(v)
    return m.fresh_condition() if values is None else bool(values)


def python_range(v: Range) -> range | None:
    """Python's own range, where the bounds are known."""
    if not all(isinstance(d.dim, int) for d in (v.start, v.stop, v.step)) or v.step.dim == 0:
        return None
    return range(v.start.dim, v.stop.dim, v.step.dim)  # pyright: ignore[reportArgumentType]


#: Objects that are made anew by each display or call: `is` compares which one it is.
_HAVE_IDENTITY = (ListCell, DictCell, SetCell, IteratorCell, Instance)


def compare(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    """`a op b` for a comparison operator."""
    if op in ("is", "is not", "==", "!=") and (a is None or b is None):
        return _none_test(m, a if b is None else b, op in ("is", "=="))
    if isinstance(a, Choice) or isinstance(b, Choice):
        return m.lift(lambda x, y: compare(m, op, x, y, site), a, b)
    if op in ("in", "not in"):
        return _membership(m, a, b, op == "in", site)
    if op in ("is", "is not"):
        if isinstance(a, _HAVE_IDENTITY) or isinstance(b, _HAVE_IDENTITY):
            return (a is b) == (op == "is")
        op = "==" if op == "is" else "!="
    if is_array(a) or is_array(b):
        return m.program.library.array_compare(m, op, a, b, site)
    if op in ("==", "!="):
        c = equality(m, a, b)
        return as_value(_decided(m, c if op == "==" else conds.negate(c)))
    return _ordering(m, op, a, b, site)


def _decided(m: Machine, c: Cond) -> Cond:
    known = m.decide(c)
    return c if known is None else known


def _none_test(m: Machine, v: Value, positive: bool) -> Value:
    c = _is_none(m, v)
    return as_value(_decided(m, c if positive else conds.negate(c)))


def _is_none(m: Machine, v: Value) -> Cond:
    if v is None:
        return True
    if isinstance(v, Opaque):
        return (
            conds.Same(v.name, None)
            if v.hint not in ("int", "float", "array", "ref", "dtype", "tuple", "bool")
            else False
        )
    if isinstance(v, Choice):
        return conds.any_of(
            [conds.all_of([v.cond, _is_none(m, v.yes)]), conds.all_of([conds.negate(v.cond), _is_none(m, v.no)])]
        )
    return m.fresh_condition() if isinstance(v, (Unknown, External)) else False


def equality(m: Machine, a: Value, b: Value) -> Cond:
    """Whether two values are equal, as a condition."""
    if isinstance(a, Int) and isinstance(b, Int):
        return conds.equal(a.dim, b.dim)
    if isinstance(a, Choice) or isinstance(b, Choice):
        v = m.lift(lambda x, y: as_value(equality(m, x, y)), a, b)
        return _truth(m, v)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return m.fresh_condition()
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        c = floats.compared(m, "==", a, b)
        return m.fresh_condition() if c is None else c
    if isinstance(a, Opaque) or isinstance(b, Opaque):
        return _opaque_equality(m, a, b)
    if isinstance(a, External) or isinstance(b, External):
        return _external_equality(m, a, b)
    if isinstance(a, Instance) or isinstance(b, Instance):
        return protocols.equality(m, a, b, equality)
    a, b = _dtype_text(a, b), _dtype_text(b, a)
    sa, sb = _sequence(m, a), _sequence(m, b)
    if sa is not None and sb is not None:
        if type(a) is not type(b) or len(sa) != len(sb):
            return False
        return conds.all_of([equality(m, x, y) for x, y in zip(sa, sb, strict=True)])
    if a is b:
        return True
    known = sequences.equality(m, a, b, equality)
    if known is not None:
        return known
    try:
        return bool(constant(a) == constant(b))
    except NotConstant:
        return m.fresh_condition()


def _external_equality(m: Machine, a: Value, b: Value) -> Cond:
    """Names of a library without a model: the same name is the same object, two members of one enum differ."""
    if not isinstance(a, External) or not isinstance(b, External):
        return m.fresh_condition()
    if a.name == b.name:
        return True
    siblings = a.name.rpartition(".")[0] == b.name.rpartition(".")[0] and a.name.rpartition(".")[0][-1:].isalnum()
    return False if siblings and a.name.split(".")[-2][:1].isupper() else m.fresh_condition()


def _sequence(m: Machine, v: Value) -> tuple[Value, ...] | None:
    if type(v) is tuple:
        return v
    if isinstance(v, ListCell):
        items = m.select(v.slots["items"])
        return items if type(items) is tuple else None
    return None


def _dtype_text(v: Value, other: Value) -> Value:
    """`dtype == "float32"` compares by name."""
    if isinstance(v, str) and isinstance(other, DType):
        return dtype_named(v) or v
    return v


def _opaque_equality(m: Machine, a: Value, b: Value) -> Cond:
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        if a.name == b.name:
            return True
        x, y = m.as_int(a), m.as_int(b)
        if "int" in (a.hint, b.hint) and x is not None and y is not None:
            return conds.equal(x.dim, y.dim)
        first, second = sorted((a.name, b.name))
        return conds.Truth(f"{first} == {second}")
    opaque, other = (a, b) if isinstance(a, Opaque) else (b, a)
    if isinstance(other, Int):
        n = m.as_int(opaque)
        return conds.equal(n.dim, other.dim) if n is not None else m.fresh_condition()
    if isinstance(other, str) and opaque.hint == "dtype":
        other = dtype_named(other) or other
    if type(other) is tuple and opaque.hint == "tuple" and opaque.name.endswith(".shape"):
        return _shape_equality(m, opaque.name, other)
    try:
        return conds.Same(opaque.name, constant(other))
    except NotConstant:
        return m.fresh_condition()


def _shape_equality(m: Machine, name: str, other: tuple[Value, ...]) -> Cond:
    """A shape known by name against a tuple: the rank and each extent."""
    rank = conds.equal(dims.symbol(f"len({name})", low=0), len(other))
    extents = [Int(dims.symbol(f"{name}[{i}]", low=0)) for i in range(len(other))]
    return conds.all_of([rank, *(equality(m, x, y) for x, y in zip(extents, other, strict=True))])


_ORDER: dict[str, Callable[[Any, Any], Cond]] = {
    "<": conds.less,
    "<=": conds.at_most,
    ">": lambda a, b: conds.less(b, a),
    ">=": lambda a, b: conds.at_most(b, a),
}
_PLAIN_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _ordering(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    x, y = _plain(a), _plain(b)
    if x is not MISSING and y is not MISSING:
        try:
            return _PLAIN_ORDER[op](x, y)
        except TypeError:
            return m.unknown("a comparison of different types", a, b, site=site)
    if isinstance(a, Instance) or isinstance(b, Instance):
        return _instance_ordering(m, op, a, b, site)
    i, j = m.as_int(a, site), m.as_int(b, site)
    if i is not None and j is not None:
        return as_value(_decided(m, _ORDER[op](i.dim, j.dim)))
    if isinstance(a, SetCell) and isinstance(b, SetCell):
        return sequences.set_order(m, op, a, b, site)
    sa, sb = _sequence(m, a), _sequence(m, b)
    if sa is not None and sb is not None and type(a) is type(b):
        return sequences.lexicographic(m, op, sa, sb, site, compare)
    c = floats.compared(m, op, a, b) if isinstance(a, Ratio) or isinstance(b, Ratio) else None
    if c is not None:
        return as_value(_decided(m, c))
    return m.unknown(f"comparison {op} of these operands", a, b, site=site)


def _instance_ordering(m: Machine, op: str, a: Value, b: Value, site: Site) -> Value:
    answer = protocols.ordering(m, op, a, b, site, equality)
    if answer != protocols.NOT_IMPLEMENTED:
        return answer
    x, y = protocols.plain_value(a), protocols.plain_value(b)
    if isinstance(a, Instance) and isinstance(b, Instance) and a.cls is b.cls:
        x, y = protocols.order_key(x), protocols.order_key(y)
    if not (x is a and y is b):
        return _ordering(m, op, x, y, site)
    return m.unknown(f"comparison {op} of objects", a, b, site=site)


def _membership(m: Machine, a: Value, b: Value, positive: bool, site: Site) -> Value:
    if isinstance(b, Instance):
        answer = protocols.contains(m, b, a, site)
        if answer != protocols.NOT_IMPLEMENTED:
            c = truth(m, answer)
            return as_value(c if positive else conds.negate(c))
    items = _members(m, b)
    if items is None:
        if isinstance(a, str) and isinstance(b, str):
            return (a in b) == positive
        return m.unknown("membership in an unknown collection", a, b, site=site)
    c = conds.any_of([equality(m, a, x) for x in items])
    return as_value(_decided(m, c if positive else conds.negate(c)))


def _members(m: Machine, v: Value) -> tuple[Value, ...] | None:
    if type(v) is tuple:
        return v
    if isinstance(v, (ListCell, SetCell, DictCell)):
        items = m.select(v.slots["items"])
        if isinstance(items, dict):
            return tuple(key for key, _ in items.values())
        return items if type(items) is tuple else None
    if isinstance(v, Range):
        values = python_range(v)
        return tuple(Int(i) for i in values) if values is not None and len(values) <= _LONGEST else None
    if isinstance(v, (Instance, IteratorCell, Class)):
        found = m.program.items.iterate(m, v)
        return None if found is None else tuple(found)
    return None


def conjunction(m: Machine, parts: list[Value]) -> Value:
    """All of them, as one truth value."""
    return as_value(conjunction_truth(m, parts))


def conjunction_truth(m: Machine, parts: list[Value]) -> Cond:
    """Whether all of them are true."""
    return _decided(m, conds.all_of([truth(m, p) for p in parts]))


def any_of(parts: list[Cond]) -> Cond:
    """Whether any of the conditions holds."""
    return conds.any_of(parts)
