"""Python's types as functions (`int(x)`, `list(x)`), and what is an instance of what."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.python import (
    Bool,
    Bound,
    Builtin,
    Call,
    Class,
    DictCell,
    External,
    Instance,
    Int,
    IteratorCell,
    ListCell,
    NotConstant,
    Opaque,
    Partial,
    PartlyKnown,
    Range,
    Ratio,
    SetCell,
    Slice,
    TypeUnion,
    Unknown,
    Value,
    constant,
    has_known_bases,
    is_integer_enum,
    is_text_enum,
    mro,
)
from ..domain.ref import Ref
from ..source.span import Site
from .operate import contents, decided, plain, some_float, truth, whole
from .registry import Registry


def register(r: Registry) -> None:
    """Registers the types, isinstance, issubclass and type."""
    _scalars(r)
    _containers(r)
    _classes(r)


# -- scalars ---------------------------------------------------------------------------------------


def _scalars(r: Registry) -> None:
    @r.function("builtins.int", "x=0, base=None")
    def int_(m: Any, call: Call, x: Value, base: Value) -> Value:
        return _int(m, x, base, call.site)

    @r.function("builtins.float", "x=0.0")
    def float_(m: Any, call: Call, x: Value) -> Value:
        return _float(m, x, call.site)

    @r.function("builtins.complex", "real=0.0, imag=0.0")
    def complex_(m: Any, call: Call, real: Value, imag: Value) -> Value:
        try:
            return complex(plain(real), plain(imag))
        except (NotConstant, TypeError, ValueError):
            return m.unknown("a complex number that is not known", real, imag, site=call.site)

    @r.function("builtins.bool", "x=False")
    def bool_(m: Any, call: Call, x: Value) -> Value:
        return decided(m, truth(m, x))

    @r.function("builtins.str", "x=''")
    def str_(m: Any, call: Call, x: Value) -> Value:
        if isinstance(x, DType):
            return x.name
        if isinstance(x, Instance):
            return text_of_object(m, x, ("__str__", "__repr__"), call.site)
        if isinstance(x, PartlyKnown):
            return x
        try:
            return str(plain(x))
        except NotConstant:
            return m.unknown("the text of a value that is not known", x, site=call.site)

    @r.function("builtins.bytes builtins.bytearray builtins.memoryview", "x=b''")
    def bytes_(m: Any, call: Call, x: Value) -> Value:
        return x if isinstance(x, bytes) else m.unknown("bytes", x, site=call.site)


def text_of_object(m: Any, x: Instance, methods: tuple[str, ...], site: Site) -> Value:
    """What an object prints as: by its own methods, or as the exception that it is."""
    for name in methods:
        method = m.program.attributes.special(m, x, name)
        if method is not None:
            return m.program.calls.call(m, method, (), site)
    args = x.slots.get("args")
    if x.cls.kind == "exception" and type(args) is tuple and methods[0] == "__str__" and len(args) < 2:
        text = args[0] if args else ""
        keyed = any(c.name == "KeyError" for c in mro(x.cls))
        return text if isinstance(text, (str, PartlyKnown)) and not keyed else m.unknown("the text of an exception", x)
    return m.unknown("the text of an object", x, site=site)


def _int(m: Any, x: Value, base: Value, site: Site) -> Value:
    if isinstance(x, Int):
        return x
    if isinstance(x, (bool, float, str)):
        try:
            return Int(int(x) if base is None else int(x, plain(base)))  # pyright: ignore[reportCallIssue, reportArgumentType]
        except (ValueError, TypeError, OverflowError, NotConstant):
            return m.unknown("no integer", x, base, site=site)
    if isinstance(x, Bool):
        return m.branch(x.cond, lambda: Int(1), lambda: Int(0))
    if isinstance(x, Ratio):
        return whole(m, x, "trunc", site)
    if isinstance(x, Instance):
        for name in ("__int__", "__index__"):
            method = m.program.attributes.special(m, x, name)
            if method is not None:
                return m.program.calls.call(m, method, (), site)
        value = x.slots.get("value")
        if is_integer_enum(x.cls) and isinstance(value, Int):
            return value
    if isinstance(x, Opaque) and x.hint == "bool":
        return m.branch(truth(m, x), lambda: Int(1), lambda: Int(0))
    n = m.as_int(x, site) if isinstance(x, Opaque) else None
    return n if n is not None else m.unknown("an integer made from a value that is not known", x, site=site)


def _float(m: Any, x: Value, site: Site) -> Value:
    if isinstance(x, (bool, float, str)) or (isinstance(x, Int) and isinstance(x.dim, int)):
        try:
            return float(plain(x))
        except (ValueError, OverflowError):
            return m.unknown("no number", x, site=site)
    return x if isinstance(x, Ratio) or (isinstance(x, Opaque) and x.hint == "float") else some_float(m, "float", x)


# -- containers ------------------------------------------------------------------------------------


def _containers(r: Registry) -> None:
    @r.function("builtins.list", "iterable=()")
    def list_(m: Any, call: Call, iterable: Value) -> Value:
        return ListCell({"items": contents(m, iterable)})

    @r.function("builtins.tuple", "iterable=()")
    def tuple_(m: Any, call: Call, iterable: Value) -> Value:
        if isinstance(iterable, Opaque):
            return Opaque(iterable.name, "tuple")
        return contents(m, iterable)

    @r.raw("builtins.dict collections.OrderedDict")
    def dict_(m: Any, call: Call) -> Value:
        return _dict(m, call)

    @r.function("builtins.dict.fromkeys", "keys, value=None")
    def fromkeys(m: Any, call: Call, keys: Value, value: Value) -> Value:
        def entries(items: Value) -> Value:
            pairs = tuple((k, value) for k in items) if type(items) is tuple else m.unknown("unknown keys", items)
            return from_pairs(m, pairs)

        return DictCell({"items": m.lift(entries, contents(m, keys))})

    @r.function("builtins.set builtins.frozenset", "iterable=()")
    def set_(m: Any, call: Call, iterable: Value) -> Value:
        return SetCell({"items": m.lift(lambda items: distinct(m, items), contents(m, iterable, ordered=False))})


def _dict(m: Any, call: Call) -> Value:
    named = {k: (k, v) for k, v in call.kwargs.items()}
    if call.open or len(call.args) > 1:
        return DictCell({"items": m.unknown("a dict from arguments that are not known", *call.args, site=call.site)})
    if not call.args:
        return DictCell({"items": named})

    def entries(source: Value) -> Value:
        items = source.slots["items"] if isinstance(source, DictCell) else contents(m, source)
        return m.lift(lambda x: _with_named(m, x, named), items)

    return DictCell({"items": m.lift(entries, call.args[0])})


def _with_named(m: Any, items: Value, named: dict[Any, Any]) -> Value:
    entries = items if isinstance(items, dict) else from_pairs(m, items)
    return {**entries, **named} if isinstance(entries, dict) else entries


def from_pairs(m: Any, pairs: Value) -> Value:
    """The entries of a dict made from (key, value) pairs."""
    out: dict[Any, Any] = {}
    if type(pairs) is not tuple:
        return m.unknown("a dict from unknown pairs", pairs)
    for pair in pairs:
        items = m.program.items.iterate(m, pair)
        if items is None or len(items) != 2:
            return m.unknown("a dict from unknown pairs", pair)
        try:
            out[constant(items[0])] = (items[0], items[1])
        except NotConstant:
            return m.unknown("a dict with an unknown key", items[0])
    return out


def distinct(m: Any, items: Value) -> Value:
    """The elements of a set; unknown where it cannot be told which are equal."""
    if type(items) is not tuple:
        return m.unknown("a set of unknown content", items)
    out: dict[Any, Value] = {}
    for x in items:
        try:
            out.setdefault(constant(x), x)
        except NotConstant:
            return m.unknown("a set with unknown elements", x) if len(items) > 1 else items
    return tuple(out.values())


# -- classes ---------------------------------------------------------------------------------------


def _classes(r: Registry) -> None:
    @r.function("builtins.isinstance", "obj, cls")
    def isinstance_(m: Any, call: Call, obj: Value, cls: Value) -> Value:
        return decided(m, conds.any_of([is_instance(m, obj, c) for c in _alternatives(cls)]))

    @r.function("builtins.issubclass", "cls, base")
    def issubclass_(m: Any, call: Call, cls: Value, base: Value) -> Value:
        if isinstance(cls, Class):
            return decided(m, conds.any_of([_derives(m, cls, b) for b in _alternatives(base)]))
        return Bool(m.fresh_condition())

    @r.raw("builtins.type")
    def type_(m: Any, call: Call) -> Value:
        return m.lift(lambda *args: _type(m, args, call.site), *call.args)


def _alternatives(cls: Value) -> list[Value]:
    if isinstance(cls, TypeUnion):
        return [c for x in cls.members for c in _alternatives(x)]
    return [c for x in cls for c in _alternatives(x)] if type(cls) is tuple else [cls]


#: Python's type of a value, and the builtin names that the type is an instance of.
_PYTHON_TYPES: dict[type, tuple[str, ...]] = {
    bool: ("bool", "int"),
    Bool: ("bool", "int"),
    str: ("str",),
    float: ("float",),
    complex: ("complex",),
    bytes: ("bytes",),
    tuple: ("tuple",),
    ListCell: ("list",),
    DictCell: ("dict",),
    Range: ("range",),
    Slice: ("slice",),
}
_HINTED = {"int": "int", "float": "float", "str": "str", "bool": "bool", "tuple": "tuple", "list": "list"}
_ARRAY_NAMES = frozenset(("jax.Array", "jax.numpy.ndarray", "jax.core.Tracer"))
_BUILTIN_TYPES = frozenset(
    ["bool", "int", "str", "float", "complex", "bytes", "tuple", "list", "dict", "set", "frozenset", "range", "slice"]
)


def is_instance(m: Any, v: Value, cls: Value) -> conds.Cond:
    """`isinstance(v, cls)` for one class."""
    name = _type_name(cls)
    if isinstance(v, Opaque):
        return _opaque_is(m, v, cls, name)
    if isinstance(cls, Class):
        return _derives(m, v.cls, cls) if isinstance(v, Instance) else _not_of_user(m, v)
    if cls is None or name == "NoneType":
        return v is None if not isinstance(v, (Unknown, External)) else m.fresh_condition()
    if name is not None and name.startswith(("collections.abc.", "typing.", "numbers.")):
        return _is_abstract(m, v, name.rsplit(".", 1)[1])
    if name is None or isinstance(v, (Unknown, External)):
        return m.fresh_condition()
    if name in _BUILTIN_TYPES:
        return _is_builtin(m, v, name)
    if name in _ARRAY_NAMES:
        return _is_array(m, v)
    return m.fresh_condition()


def _type_name(cls: Value) -> str | None:
    if isinstance(cls, Builtin):
        return cls.name.removeprefix("builtins.")
    return cls.name if isinstance(cls, External) else None


def _is_builtin(m: Any, v: Value, name: str) -> conds.Cond:
    if isinstance(v, Int):
        sure = name != "int" or all(s.sure for s in dims.symbols(v.dim))
        loose = any(not s.sure for s in dims.symbols(v.dim))
        return name == "int" if sure and not loose else m.fresh_condition()
    if isinstance(v, SetCell):
        return m.fresh_condition() if name in ("set", "frozenset") else False
    if isinstance(v, Instance):
        return _object_is(m, v, name)
    if (
        v is None
        or isinstance(v, (Array, Ref, Builtin, Bound, Partial, Class, DType, IteratorCell))
        or hasattr(v, "code")
    ):
        return False
    if isinstance(v, Ratio):
        return name == "float"
    known = _PYTHON_TYPES.get(type(v))
    return name in known if known is not None else m.fresh_condition()


def _object_is(m: Any, v: Instance, name: str) -> conds.Cond:
    """Whether an object of a user's class is of a builtin type as well."""
    if v.cls.kind == "namedtuple":
        return name == "tuple"
    if v.cls.kind == "enum":
        return is_integer_enum(v.cls) if name == "int" else is_text_enum(v.cls) if name == "str" else False
    return False if has_known_bases(v.cls) or v.cls.kind == "exception" else m.fresh_condition()


#: Abstract classes, and the values that are certainly of them.
_ABSTRACT: dict[str, tuple[type, ...]] = {
    "Sequence": (tuple, ListCell, str, Range, bytes),
    "Iterable": (tuple, ListCell, SetCell, DictCell, str, Range, bytes, IteratorCell),
    "Mapping": (DictCell,),
    "Callable": (Builtin, Bound, Partial, Class),
    "Number": (Int, bool, Bool, float, complex, Ratio),
    "Integral": (Int, bool, Bool),
    "Real": (Int, bool, Bool, float, Ratio),
}
_SIMPLE = (Int, bool, Bool, float, complex, str, bytes, tuple, ListCell, DictCell, SetCell, Range, Ratio, type(None))


def _is_abstract(m: Any, v: Value, name: str) -> conds.Cond:
    kinds = _ABSTRACT.get(name)
    if isinstance(v, Int) and any(not s.sure for s in dims.symbols(v.dim)):
        return m.fresh_condition()
    if kinds is None:
        return m.fresh_condition()
    if isinstance(v, kinds) or (name == "Callable" and hasattr(v, "code")):
        return True
    return False if isinstance(v, _SIMPLE) else m.fresh_condition()


def _is_array(m: Any, v: Value) -> conds.Cond:
    if isinstance(v, Array):
        return True
    if isinstance(v, Int):
        return False if all(s.sure for s in dims.symbols(v.dim)) else m.fresh_condition()
    return False if v is None or type(v) in _PYTHON_TYPES else m.fresh_condition()


def _not_of_user(m: Any, v: Value) -> conds.Cond:
    """Values of Python and of the library are no objects of a user's class."""
    if v is None or isinstance(v, (Int, SetCell, Array, Ref, DType)) or type(v) in _PYTHON_TYPES:
        return False
    return m.fresh_condition()


def _opaque_is(m: Any, v: Opaque, cls: Value, name: str | None) -> conds.Cond:
    if isinstance(cls, Class):
        if v.cls is not None and _derives(m, v.cls, cls) is True:
            return True
        return conds.Truth(f"{v.name} is a {cls.name}")
    if name in _BUILTIN_TYPES and v.hint in _HINTED:
        hinted = _HINTED[v.hint]
        return name == hinted or (name == "int" and hinted == "bool")
    if name in _ARRAY_NAMES and v.hint == "array":
        return True
    if name is None:
        return m.fresh_condition()
    return conds.Truth(f"{v.name} is a {name}")


def _derives(m: Any, cls: Class, base: Value) -> conds.Cond:
    if cls is base:
        return True
    if isinstance(base, External) and base.name in ("object", "builtins.object"):
        return True
    if isinstance(base, Class) and has_known_bases(cls):
        return base in mro(cls)
    answers: list[conds.Cond] = []
    for b in cls.bases:
        if isinstance(b, Class):
            answers.append(_derives(m, b, base))
        elif not isinstance(base, Class):
            answers.append(True if b == base else m.fresh_condition())
    if not isinstance(base, Class) and not cls.bases:
        return m.fresh_condition() if cls.kind != "plain" else False
    if isinstance(base, Class) and any(not isinstance(b, Class) for b in cls.bases) and cls.kind == "plain":
        answers.append(False if has_known_bases(cls) else m.fresh_condition())
    return conds.any_of(answers)


def _type(m: Any, args: tuple[Value, ...], site: Site) -> Value:
    if len(args) != 1:
        return m.unknown("a class made by type()", *args, site=site)
    v = args[0]
    if isinstance(v, Instance):
        return v.cls
    if v is None:
        return External("NoneType")
    if isinstance(v, Ratio):
        return m.program.library.builtin("float")
    sure = isinstance(v, Int) and all(s.sure for s in dims.symbols(v.dim))
    known = ("int",) if sure else _PYTHON_TYPES.get(type(v))
    return m.program.library.builtin(known[0]) if known else m.unknown("the type of a value", v, site=site)
