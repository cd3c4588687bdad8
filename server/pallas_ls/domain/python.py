"""Python's own values, as the analysis sees them.

None, bool, str, float, complex, bytes and Ellipsis stand for themselves; tuples of values are plain tuples. Integers
are `Int`. Everything that
can be mutated keeps its state in a dict `slots`, so that one mechanism (evaluate/trail.py) undoes and merges all
writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..source.span import Site
from . import dim as dims
from .cond import Cond
from .dim import Dim

Value = Any

#: What a slot holds that holds nothing (an unbound variable, a missing attribute).
MISSING: Any = object()


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """How a number came about: the expression that made it and the numbers that went in.

    Attributes:
      site: the expression in the source.
      how: "literal", "parameter", "shape", or the operation ("*", "min", "len").
      inputs: origins of the operands, where known.
    """

    site: Site
    how: str
    inputs: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class Int:
    """A Python integer: exact or symbolic. Equality ignores where it came from."""

    dim: Dim
    origin: Origin | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"Int({dims.text(self.dim)})"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A float: the quotient of two integers below 2**53. The denominator is not zero."""

    numerator: Dim
    denominator: Dim


@dataclass(frozen=True, slots=True)
class Bool:
    """A truth value that is not decided yet."""

    cond: Cond


@dataclass(frozen=True, slots=True)
class Choice:
    """`yes` where the condition holds, else `no`."""

    cond: Cond
    yes: Value
    no: Value


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that the analysis does not know.

    Attributes:
      why: the reason, a phrase for a person ("result of an unknown function foo").
      needs: names of parameters whose value would have decided it; a context that binds one is evaluated anew.
      number: it is certainly an integer, a float or an array, not a sequence or a slice.
      label: what tells this value from other unknown ones, where a variable holds it; an extent by it is a symbol.
    """

    why: str
    needs: frozenset[str] = field(default=frozenset(), compare=False)
    site: Site | None = field(default=None, compare=False)
    label: str = ""
    number: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class PartlyKnown(Unknown):
    """Text of which some parts are not known.

    Attributes:
      text: those read "..." in it.
      pieces: what stands before, between and behind them, where all of them are integers (`f"k{i}"`: "k" and "").
    """

    text: str = ""
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alike(Unknown):
    """The content of a sequence of unknown length (`[smem(tile) for _ in range(n)]`): what is known of `element` is
    true of each of its elements."""

    element: Value = None


@dataclass(frozen=True, slots=True)
class Entries(Unknown):
    """The content of a dict of which it is not known which keys it has.

    Attributes:
      known: entries that are there, under keys that are known exactly, as in a dict whose content is known.
      perhaps: entries that are there under a condition: (condition, key, value).
      numbered: what stands under numbered keys (`d[f"k{i}"] = tile` in a loop of unknown length), by the text around
        their numbers (`PartlyKnown.pieces`).
    """

    known: Mapping[Any, tuple[Value, Value]] = field(default_factory=dict[Any, Any])
    perhaps: Mapping[Any, tuple[Cond, Value, Value]] = field(default_factory=dict[Any, Any])
    numbered: Mapping[tuple[str, ...], Value] = field(default_factory=dict[tuple[str, ...], Value])


@dataclass(frozen=True, slots=True)
class Opaque:
    """A parameter of an entry function, or a part of one: known by name only.

    Attributes:
      name: an expression over the entry's parameters ("config.tile_m", "x.shape").
      hint: what an annotation says it is: "int", "float", "str", "bool", "array", "ref", "dtype", "tuple",
        "callable", or "".
      cls: the user's class of it, where an annotation names one.
    """

    name: str
    hint: str = ""
    cls: Class | None = field(default=None, compare=False)

    @property
    def root(self) -> str:
        """The parameter that it is a part of."""
        return root_of(self.name)


def root_of(name: str) -> str:
    """The parameter's name at the head of a path: "x" for "x.shape[0]"."""
    for i, c in enumerate(name):
        if not (c.isalnum() or c == "_"):
            return name[:i]
    return name


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice object."""

    start: Value
    stop: Value
    step: Value


@dataclass(frozen=True, slots=True)
class Range:
    """A range object."""

    start: Int
    stop: Int
    step: Int


@dataclass(eq=False, slots=True)
class ListCell:
    """A list. `slots["items"]` is a tuple of values, a Choice of such, or Unknown."""

    slots: dict[str, Value]


@dataclass(eq=False, slots=True)
class DictCell:
    """A dict. `slots["items"]` maps constant keys (see `constant`) to (key, value) pairs; or a Choice of such, or
    Unknown.

    The mapping is never changed in place.
    """

    slots: dict[str, Value]


@dataclass(eq=False, slots=True)
class SetCell:
    """A set. `slots["items"]` is a tuple of values, or Unknown."""

    slots: dict[str, Value]


@dataclass(eq=False, slots=True)
class IteratorCell:
    """An iterator or generator. `slots["items"]` holds what it has still to give: a tuple of values, `Lazy` before its
    first use, `Endless`, a Choice of such, or Unknown."""

    slots: dict[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Lazy:
    """The content of an iterator that nothing has been taken from yet.

    Attributes:
      run: (machine) -> the values, evaluated at the first use, as Python does.
      sources: what it is made from.
    """

    run: Callable[[Any], Value]
    sources: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Endless:
    """The content of an iterator without end: its element number `position`, counted from its first, is next."""

    at: Callable[[int], Value]
    position: int = 0


@dataclass(eq=False, slots=True, repr=False)
class Class:
    """A class, the user's or a library's.

    Attributes:
      name: its name.
      bases: evaluated bases.
      slots: the class namespace, in order of definition.
      kind: "plain", "dataclass", "namedtuple", "enum", "exception".
      annotations: names annotated in the body, in order, with the annotation's source text.
    """

    name: str
    bases: tuple[Value, ...]
    slots: dict[str, Value]
    kind: str = "plain"
    annotations: dict[str, str] = field(default_factory=dict[str, str])
    options: dict[str, Value] = field(default_factory=dict[str, Value])
    module: str = ""
    site: Site | None = None

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False, slots=True, repr=False)
class Instance:
    """An object of a user's class; attributes in `slots`."""

    cls: Class
    slots: dict[str, Value]
    frozen: bool = False

    def __repr__(self) -> str:
        name = self.slots.get("name") if self.cls.kind == "enum" else None
        return f"{self.cls.name}.{name}" if name else f"{self.cls.name}(...)"


@dataclass(frozen=True, slots=True)
class Made:
    """Where a library object was made: the call, and the expression of each argument by parameter name."""

    site: Site
    args: Mapping[str, Site] = field(default_factory=dict[str, Site])


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call, with its arguments evaluated.

    Attributes:
      site: the call expression; `func`: the expression that is called.
      args, kwargs: values; `arg_sites`, `kwarg_sites`: their expressions.
      open: further arguments came from a star whose length is unknown.
      more: keyword arguments of which it is not known whether they are given.
    """

    site: Site
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    arg_sites: tuple[Site, ...] = ()
    kwarg_sites: Mapping[str, Site] = field(default_factory=dict[str, Site])
    open: bool = False
    more: Entries | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Builtin:
    """A function of Python's or a library's that has a model here.

    Attributes:
      name: its full name ("jax.numpy.zeros").
      run: (machine, call) -> value.
    """

    name: str
    run: Callable[[Any, Call], Value]


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A method bound to its object."""

    self: Value
    function: Value


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """functools.partial."""

    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    arg_sites: tuple[Site, ...] = ()
    kwarg_sites: Mapping[str, Site] = field(default_factory=dict[str, Site])


@dataclass(frozen=True, slots=True)
class TypeUnion:
    """`int | None` as a value."""

    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Subscripted:
    """A library's type with arguments that say something: `Annotated[int, Field(gt=0)]`, `Float[Array, "B T"]`.

    Attributes:
      name: the type's full name.
    """

    name: str
    args: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A module of a library, known by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class External:
    """A name of an installed library without a model here ("numpy.linalg.norm")."""

    name: str


def constant(v: Value) -> Any:
    """A hashable stand-in for a value that is known exactly (for dict keys, equality); raises `NotConstant`
    otherwise."""
    if isinstance(v, Int):
        if isinstance(v.dim, int):
            return v.dim
        raise NotConstant
    if isinstance(v, tuple):
        return tuple(map(constant, cast(tuple[Value, ...], v)))
    if v is None or isinstance(v, (bool, str, float, bytes, complex)) or v is Ellipsis:
        return v
    if isinstance(v, (Bool, Choice, Unknown, Opaque, Ratio, ListCell, DictCell, SetCell)):
        raise NotConstant
    if isinstance(v, Instance) and v.cls.kind != "enum":
        return _constant_object(v)
    try:
        hash(v)
    except TypeError as e:
        raise NotConstant from e
    return v


def _constant_object(v: Instance) -> Any:
    """An object as a key: by its fields where its class compares them, by itself where objects are never equal."""
    if v.cls.kind == "namedtuple":
        return tuple(map(constant, v.slots.values()))
    if defines(v.cls, "__eq__") or defines(v.cls, "__hash__") or not has_known_bases(v.cls):
        raise NotConstant
    if not compares_fields(v.cls):
        return v
    if v.cls.options.get("frozen") is not True:
        raise NotConstant  # may change, and Python refuses it as a key
    return (v.cls, *(constant(x) for x in compared(v)))


def compares_fields(cls: Class) -> bool:
    """Whether objects of the class are equal where their fields are."""
    return cls.kind == "dataclass" and cls.options.get("eq") is not False


def compared(v: Instance) -> list[Value]:
    """The values of the fields that equality looks at."""
    found = [(name, lookup(v.cls, name)) for name in field_names(v.cls)]
    return [v.slots[n] for n, options in found if n in v.slots and getattr(options, "compared", True)]


def lookup(cls: Class, name: str) -> Value:
    """A member of a class, by Python's order of resolution; MISSING if there is none."""
    if name in cls.slots:
        return cls.slots[name]
    if not cls.bases:
        return MISSING
    return next((c.slots[name] for c in mro(cls)[1:] if name in c.slots), MISSING)


def mro(cls: Class) -> tuple[Class, ...]:
    """The class and those that it inherits from that are known, in Python's order of resolution."""
    bases = [b for b in cls.bases if isinstance(b, Class)]
    if len(bases) < 2:
        return (cls, *mro(bases[0])) if bases else (cls,)
    rows = [list(mro(b)) for b in bases] + [bases]
    out = [cls]
    while rows := [r for r in rows if r]:
        head = next((r[0] for r in rows if not any(r[0] in other[1:] for other in rows)), rows[0][0])
        out.append(head)
        rows = [[c for c in r if c is not head] for r in rows]
    return tuple(out)


def defines(cls: Class, name: str) -> bool:
    """Whether the class or one that it inherits from defines a member."""
    return lookup(cls, name) is not MISSING


def is_integer_enum(cls: Class) -> bool:
    """Whether members of an enum are integers as well."""
    return cls.kind == "enum" and _has_base(cls, "IntEnum", "IntFlag", "int")


def is_text_enum(cls: Class) -> bool:
    """Whether members of an enum are strings as well."""
    return cls.kind == "enum" and _has_base(cls, "StrEnum", "str")


def _has_base(cls: Class, *names: str) -> bool:
    bases = [b for c in mro(cls) for b in c.bases if isinstance(b, (External, Builtin))]
    return any(b.name.rsplit(".", 1)[-1] in names for b in bases)


#: Bases of libraries that give objects no members that matter here.
_EMPTY_BASES = ("object", "Protocol", "ABC", "Generic", "NamedTuple")


def has_known_bases(cls: Class) -> bool:
    """Whether all that the class inherits is known."""
    return "metaclass" not in cls.options and all(
        has_known_bases(b)
        if isinstance(b, Class)
        else isinstance(b, External) and b.name.split(".")[-1] in _EMPTY_BASES
        for b in cls.bases
    )


def field_names(cls: Class) -> list[str]:
    """Names of a dataclass's fields, those of its bases first."""
    out: dict[str, None] = {}
    for base in reversed(cls.bases):
        if isinstance(base, Class):
            out.update(dict.fromkeys(field_names(base)))
    for name, text in cls.annotations.items():
        if not text.startswith(("ClassVar", "typing.ClassVar")):
            out[name] = None
    return list(out)


def same(a: Value, b: Value) -> bool:
    """Whether two values are certainly the same."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b)
    except RecursionError:
        return False


class NotConstant(Exception):
    """The value is not known exactly."""
