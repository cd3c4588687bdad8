"""Python's builtin functions and types."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.dim import Dim
from ..domain.python import (
    MISSING,
    Bool,
    Bound,
    Builtin,
    Call,
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
    Partial,
    Range,
    Ratio,
    SetCell,
    Slice,
    Unknown,
    Value,
    has_known_bases,
)
from ..domain.ref import Ref
from ..source.span import Site
from . import builtin_containers, builtin_exceptions, builtin_sequences, builtin_strings, builtin_types
from .convert import shape_of_opaque
from .operate import binary, contents, decided, plain, truth, whole, wrapped
from .registry import NO_ATTRIBUTE, Registry


def register(r: Registry) -> None:
    """Registers all builtins."""
    builtin_types.register(r)
    builtin_containers.register(r)
    builtin_strings.register(r)
    builtin_exceptions.register(r)
    _sizes(r)
    _extremes(r)
    _truths(r)
    builtin_sequences.register(r)
    _attributes(r)
    _text(r)
    r.attribute(Builtin)(_builtin_attribute)
    r.items[Builtin] = Subscripted()


class Subscripted:
    """`list[int]`, `dict[str, int]`: a type with arguments is the type."""

    def get(self, m: Any, v: Builtin, index: Value, site: Site, where: Site) -> Value:
        """`v[index]`."""
        return v

    def set(self, m: Any, v: Value, index: Value, value: Value, site: Site, where: Site) -> None:
        """Python refuses it."""

    def iterate(self, m: Any, v: Value) -> list[Value] | None:
        """Python refuses it."""
        return None


def _builtin_attribute(m: Any, v: Builtin, name: str, site: Site) -> Value:
    """A function below another (`itertools.chain.from_iterable`), or its name."""
    if name in ("__name__", "__qualname__"):
        return v.name.rpartition(".")[2]
    return m.program.library.registry.names.get(f"{v.name}.{name}", NO_ATTRIBUTE)


# -- sizes and ranges ------------------------------------------------------------------------------


def _sizes(r: Registry) -> None:
    @r.function("builtins.len", "x")
    def len_(m: Any, call: Call, x: Value) -> Value:
        n = length(m, x, call.site)
        return n if not isinstance(n, Int) else Int(n.dim, Origin(call.site, "len"))

    @r.raw("builtins.range")
    def range_(m: Any, call: Call) -> Value:
        numbers = (Choice(a.cond, Int(1), Int(0)) if isinstance(a, Bool) else a for a in call.args)
        return m.lift(lambda *args: _range(m, args, call.site), *numbers)


def length(m: Any, x: Value, site: Site) -> Value:
    """`len(x)`."""
    if isinstance(x, (str, bytes)) or type(x) is tuple:
        return Int(len(x))
    if isinstance(x, SetCell):
        return m.lift(lambda items: _count(m, builtin_types.distinct(m, items)), x.slots["items"])
    if isinstance(x, (ListCell, DictCell)):
        return m.lift(lambda items: _count(m, items), x.slots["items"])
    if isinstance(x, Range):
        return Int(_range_length(m, x)) if x.step.dim == 1 else _counted(m, x)
    if isinstance(x, Array) or (isinstance(x, Ref) and isinstance(x.shape, tuple)):
        return x.shape[0] if isinstance(x.shape, tuple) and x.shape else m.unknown("the length of an array", site=site)
    if isinstance(x, Opaque) and x.hint == "array":
        return m.program.items.get(m, shape_of_opaque(m, x), Int(0), site, site)
    if isinstance(x, Opaque):
        known = m.path.facts.values.get(f"len({x.name})")
        return Int(known) if isinstance(known, int) else Int(dims.symbol(f"len({x.name})", low=0))
    if isinstance(x, Instance):
        return _instance_length(m, x, site)
    return _counted(m, x)


def _count(m: Any, items: Value) -> Value:
    return (
        Int(len(items)) if isinstance(items, (tuple, dict)) else m.unknown("the length of an unknown container", items)
    )


def _counted(m: Any, x: Value) -> Value:
    if isinstance(x, IteratorCell):
        return m.unknown("the length of an iterator", x)
    items = m.program.items.iterate(m, x)
    return Int(len(items)) if items is not None else m.unknown("the length of a value that is not known", x)


def _instance_length(m: Any, x: Instance, site: Site) -> Value:
    method = m.program.attributes.special(m, x, "__len__")
    return m.program.calls.call(m, method, (), site) if method is not None else _counted(m, x)


def _range_length(m: Any, x: Range) -> Dim:
    size = dims.sub(x.stop.dim, x.start.dim)
    return size if m.decide(conds.at_most(0, size)) is True else dims.maximum(size, 0)


def _range(m: Any, args: tuple[Value, ...], site: Site) -> Value:
    found = [None if isinstance(a, (Array, float, str)) else m.as_int(a, site) for a in args]
    numbers = [n for n in found if isinstance(n, Int)]
    if not 1 <= len(numbers) <= 3 or len(numbers) != len(found):
        return m.unknown("a range with unknown bounds", *args, site=site)
    bounds = [Int(0), *numbers, Int(1)] if len(numbers) == 1 else [*numbers, Int(1)]
    return Range(bounds[0], bounds[1], bounds[2])


# -- min, max, sum, arithmetic ---------------------------------------------------------------------


def _extremes(r: Registry) -> None:
    @r.raw("builtins.min")
    def min_(m: Any, call: Call) -> Value:
        return _extreme(m, call, "min")

    @r.raw("builtins.max")
    def max_(m: Any, call: Call) -> Value:
        return _extreme(m, call, "max")

    @r.function("builtins.sum", "iterable, start=0")
    def sum_(m: Any, call: Call, iterable: Value, start: Value) -> Value:
        return m.lift(lambda items: _sum(m, items, start, call.site), contents(m, iterable, ordered=False))

    @r.function("builtins.abs", "x")
    def abs_(m: Any, call: Call, x: Value) -> Value:
        return _abs(m, x, call)

    @r.function("builtins.divmod", "a, b")
    def divmod_(m: Any, call: Call, a: Value, b: Value) -> Value:
        return tuple(binary(m, op, a, b, call.site) for op in ("//", "%"))

    @r.function("builtins.pow", "base, exp, mod=None")
    def pow_(m: Any, call: Call, base: Value, exp: Value, mod: Value) -> Value:
        if mod is None:
            return binary(m, "**", base, exp, call.site)
        return pure(m, pow, call.site, base, exp, mod)

    @r.function("builtins.round", "number, ndigits=None")
    def round_(m: Any, call: Call, number: Value, ndigits: Value) -> Value:
        if isinstance(number, Int) and ndigits is None:
            return number
        if isinstance(number, Ratio) and ndigits is None:
            return whole(m, number, "round", call.site)
        return pure(m, round, call.site, number, ndigits)


def pure(m: Any, run: Any, site: Site, *args: Value, **kwargs: Value) -> Value:
    """A Python function of constants, computed; unknown where an argument is not known or where Python raises."""
    try:
        values = [plain(a) for a in args]
        return wrapped(run(*values, **{k: plain(v) for k, v in kwargs.items()}))
    except NotConstant:
        return m.unknown(f"{getattr(run, '__name__', 'a function')} of values that are not known", *args, site=site)
    except (TypeError, ValueError, ArithmeticError, LookupError) as e:
        return m.unknown(f"{getattr(run, '__name__', 'a function')} raises {type(e).__name__}", *args, site=site)


def _abs(m: Any, x: Value, call: Call) -> Value:
    if isinstance(x, Array):
        return m.program.library.registry.names["jax.numpy.abs"].run(m, Call(call.site, (x,), {}))
    if isinstance(x, Int):
        negative = m.decide(conds.less(x.dim, 0))
        if negative is None:
            return Int(dims.maximum(x.dim, dims.neg(x.dim)))
        return Int(dims.neg(x.dim)) if negative else x
    return pure(m, abs, call.site, x)


def _extreme(m: Any, call: Call, name: str) -> Value:
    if call.open or not call.args:
        return m.unknown(f"{name} of values that are not known", *call.args, site=call.site)
    first, *others = call.args
    source: Value = (first, *others) if others else contents(m, first, ordered=False)
    default = call.kwargs.get("default", MISSING)

    def pick(items: Value) -> Value:
        if type(items) is not tuple:
            return m.unknown(f"{name} of an unknown iterable", items, site=call.site)
        if not items:
            return default if default is not MISSING else m.unknown(f"{name} of nothing", site=call.site)
        key = call.kwargs.get("key")
        if key is not None:
            return _keyed_extreme(m, name, items, key, call.site)
        return _fold_extreme(m, name, list(items), call.site)

    return m.lift(pick, source)


def _keyed_extreme(m: Any, name: str, items: tuple[Value, ...], key: Value, site: Site) -> Value:
    """The first element whose key is the extreme one, where the keys' order is known."""
    best, best_key = items[0], m.program.calls.call(m, key, (items[0],), site)
    for x in items[1:]:
        k = m.program.calls.call(m, key, (x,), site)
        better = m.program.items.truth(m, m.program.items.compare(m, "<" if name == "min" else ">", k, best_key, site))
        if not isinstance(better, bool):
            return m.unknown(f"{name} by keys that are not known", x, best, site=site)
        best, best_key = (x, k) if better else (best, best_key)
    return best


def _fold_extreme(m: Any, name: str, items: list[Value], site: Site) -> Value:
    out = items[0]
    for x in items[1:]:
        out = m.lift(lambda a, b: _extreme_of_two(m, name, a, b, site), out, x)
    return out


def _extreme_of_two(m: Any, name: str, a: Value, b: Value, site: Site) -> Value:
    run = min if name == "min" else max
    try:
        return (
            wrapped(run(plain(a), plain(b)))
            if not (isinstance(a, Int) and isinstance(b, Int))
            else _int(m, name, a, b, site)
        )
    except NotConstant:
        pass
    except TypeError:
        return m.unknown(f"{name} of values of different types", a, b, site=site)
    if isinstance(a, (Array, str)) or isinstance(b, (Array, str)):
        return m.unknown(f"{name} of values that are not known", a, b, site=site)
    if isinstance(a, (float, tuple, Instance, ListCell, Ratio)) or isinstance(
        b, (float, tuple, Instance, ListCell, Ratio)
    ):
        better = m.program.items.truth(m, m.program.items.compare(m, "<" if name == "min" else ">", b, a, site))
        if isinstance(better, bool):
            return b if better else a
        return m.unknown(f"{name} of values that are not known", a, b, site=site)
    x, y = m.as_int(a, site), m.as_int(b, site)
    if x is None or y is None:
        return m.unknown(f"{name} of values that are not known", a, b, site=site)
    return _int(m, name, x, y, site)


def _int(m: Any, name: str, a: Int, b: Int, site: Site) -> Int:
    origin = Origin(site, name, tuple(o for o in (a.origin, b.origin) if o is not None))
    smaller = m.decide(conds.at_most(a.dim, b.dim))
    if smaller is not None:
        return Int(a.dim if smaller == (name == "min") else b.dim, origin)
    run = dims.minimum if name == "min" else dims.maximum
    return Int(run(a.dim, b.dim), origin)


def _sum(m: Any, items: Value, start: Value, site: Site) -> Value:
    if type(items) is not tuple:
        return m.unknown("the sum of an unknown iterable", items, site=site)
    out = start
    for x in items:
        out = m.lift(lambda a, b: binary(m, "+", a, b, site), out, x)
    return out


# -- truth -----------------------------------------------------------------------------------------


def _truths(r: Registry) -> None:
    @r.function("builtins.any", "iterable")
    def any_(m: Any, call: Call, iterable: Value) -> Value:
        return m.lift(lambda items: _combined(m, items, conds.any_of, "any"), contents(m, iterable, ordered=False))

    @r.function("builtins.all", "iterable")
    def all_(m: Any, call: Call, iterable: Value) -> Value:
        return m.lift(lambda items: _combined(m, items, conds.all_of, "all"), contents(m, iterable, ordered=False))

    @r.function("builtins.callable", "x")
    def callable_(m: Any, call: Call, x: Value) -> Value:
        return _callable(m, x)


def _combined(m: Any, items: Value, join: Any, name: str) -> Value:
    if type(items) is not tuple:
        return m.unknown(f"{name} of an unknown iterable", items)
    return decided(m, join([truth(m, x) for x in items]))


_PLAIN = (
    type(None),
    bool,
    str,
    float,
    bytes,
    complex,
    tuple,
    Int,
    Range,
    Slice,
    Ratio,
    ListCell,
    DictCell,
    SetCell,
    IteratorCell,
    Array,
    Ref,
)


def _callable(m: Any, x: Value) -> Value:
    if isinstance(x, _PLAIN):
        return False
    if isinstance(x, (Builtin, Bound, Partial, Class)):
        return True
    if isinstance(x, Instance):
        return m.program.attributes.special(m, x, "__call__") is not None or Bool(m.fresh_condition())
    if isinstance(x, Opaque):
        return True if x.hint == "callable" else Bool(conds.Truth(f"{x.name} is callable"))
    return (
        Bool(m.fresh_condition())
        if isinstance(x, (Unknown, External))
        else hasattr(x, "code") or Bool(m.fresh_condition())
    )


# -- attributes ------------------------------------------------------------------------------------


def _attributes(r: Registry) -> None:
    @r.raw("builtins.getattr")
    def getattr_(m: Any, call: Call) -> Value:
        return m.lift(lambda *args: _getattr(m, args, call.site), *call.args)

    @r.function("builtins.hasattr", "obj, name")
    def hasattr_(m: Any, call: Call, obj: Value, name: Value) -> Value:
        known = has_attribute(m, obj, name) if isinstance(name, str) else None
        return known if known is not None else Bool(_has(m, obj, name))

    @r.function("builtins.setattr", "obj, name, value")
    def setattr_(m: Any, call: Call, obj: Value, name: Value, value: Value) -> Value:
        if isinstance(name, str):
            m.program.attributes.set(m, obj, name, value)
        elif isinstance(obj, (Instance, Class)):
            for key in (*obj.slots, "__dict__"):
                m.write(obj.slots, key, m.unknown("an attribute set under an unknown name", name))
        return None


def _getattr(m: Any, args: tuple[Value, ...], site: Site) -> Value:
    if len(args) not in (2, 3) or not isinstance(args[1], str):
        return m.unknown("an attribute of unknown name", *args, site=site)
    v, name = args[0], args[1]
    known = has_attribute(m, v, name) if len(args) == 3 else True
    if known is None:
        return m.branch(_has(m, v, name), lambda: m.program.attributes.get(m, v, name, site), lambda: args[2])
    return m.program.attributes.get(m, v, name, site) if known else args[2]


def _has(m: Any, v: Value, name: Value) -> conds.Cond:
    return (
        conds.Truth(f"{v.name} has {name}") if isinstance(v, Opaque) and isinstance(name, str) else m.fresh_condition()
    )


def has_attribute(m: Any, v: Value, name: str) -> bool | None:
    """Whether `v` has an attribute; None where that cannot be told."""
    if isinstance(v, (Instance, Class)):
        if name in v.slots or name.startswith("__"):
            return True if name in v.slots else None
        has = _class_has(v.cls if isinstance(v, Instance) else v, name)
        return None if has is False and "__dict__" in v.slots else has
    if hasattr(v, "code"):
        return name in v.slots or hasattr(has_attribute, name)
    if isinstance(v, Int):
        return hasattr(0, name) if all(s.sure for s in dims.symbols(v.dim)) else None
    if v is None or isinstance(v, (bool, str, float, bytes, complex)) or type(v) is tuple:
        return hasattr(v, name)
    return None


def _is_empty(base: Value) -> bool:
    """A base that adds no attributes: `Protocol`, `ABC`, `Generic`."""
    return isinstance(base, External) and has_known_bases(Class("", (base,), {}))


def _class_has(cls: Class, name: str) -> bool | None:
    if name in cls.slots or (name in cls.annotations and cls.kind in ("dataclass", "namedtuple")):
        return True
    if cls.kind not in ("plain", "dataclass", "namespace") or "__getattr__" in cls.slots:
        return None
    known = {id(b) for b in cls.bases if isinstance(b, Class)}
    answers = [_class_has(b, name) if id(b) in known else None for b in cls.bases if not _is_empty(b)]
    return True if True in answers else None if None in answers else False


# -- text ------------------------------------------------------------------------------------------


def _text(r: Registry) -> None:
    @r.raw("builtins.print")
    def print_(m: Any, call: Call) -> Value:
        return None

    @r.function("builtins.repr builtins.ascii", "x")
    def repr_(m: Any, call: Call, x: Value) -> Value:
        if isinstance(x, Instance):
            return builtin_types.text_of_object(m, x, ("__repr__",), call.site)
        return pure(m, repr, call.site, x)

    @r.function("builtins.format", "x, spec=''")
    def format_(m: Any, call: Call, x: Value, spec: Value) -> Value:
        return pure(m, format, call.site, x, spec)

    @r.function("builtins.hash", "x")
    def hash_(m: Any, call: Call, x: Value) -> Value:
        return Int(
            x.dim if isinstance(x, Int) and isinstance(x.dim, int) and 0 <= x.dim < 2**31 else m.fresh_symbol("id")
        )

    @r.function("builtins.id", "x")
    def id_(m: Any, call: Call, x: Value) -> Value:
        return Int(m.fresh_symbol("id"))

    for run in (bin, hex, oct):
        r.function(f"builtins.{run.__name__}", "x")(lambda m, call, x, run=run: pure(m, run, call.site, x))

    @r.function("builtins.ord", "c")
    def ord_(m: Any, call: Call, c: Value) -> Value:
        return pure(m, ord, call.site, c)

    @r.function("builtins.chr", "i")
    def chr_(m: Any, call: Call, i: Value) -> Value:
        return pure(m, chr, call.site, i)

    @r.raw("builtins.slice")
    def slice_(m: Any, call: Call) -> Value:
        if call.open or not 1 <= len(call.args) <= 3 or call.kwargs:
            return m.unknown("a slice that is not known", *call.args, site=call.site)
        start, stop, step = (None, *call.args, None) if len(call.args) == 1 else (*call.args, None)[:3]
        return Slice(start, stop, step)
