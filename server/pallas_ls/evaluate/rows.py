"""A row of arguments that is known exactly: its numbers, and the shape that they stand in.

Two rows of one shape differ in their numbers only, so that one evaluation over symbols for these serves both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..domain import dim as dims
from ..domain.array import Array, ShapeDtype
from ..domain.dtype import DType
from ..domain.python import (
    Builtin,
    Class,
    DictCell,
    External,
    Instance,
    Int,
    ListCell,
    ModuleName,
    Origin,
    Value,
)
from ..source.span import Site
from .frame import Function

#: What a row may hold besides numbers and containers: values without state that mean the same everywhere.
_BY_VALUE = (bool, str, float, bytes, DType, External, ModuleName)
_BY_IDENTITY = (Class, Builtin)


class NoRow(Exception):
    """Something in the arguments is not known exactly, or its identity matters."""


@dataclass(slots=True)
class Row:
    """Arguments with symbols for their numbers.

    Attributes:
      shape: equal for rows that differ in their numbers only.
      arguments: by parameter, with symbols.
      numbers: symbol -> integer; places: symbol -> where the number stands ("config.tile_m").
      origins: by identity of a symbol's origin, that of its number.
      objects: by identity of a stand-in, the object that it stands for.
      slots: identities of the slots of the row's own objects.
      kept: what must live as long as identities are compared.
    """

    shape: tuple[object, ...] = ()
    arguments: dict[str, Value] = field(default_factory=dict[str, Value])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    places: dict[str, str] = field(default_factory=dict[str, str])
    origins: dict[int, Origin | None] = field(default_factory=dict[int, Origin | None])
    objects: dict[int, Value] = field(default_factory=dict[int, Value])
    slots: set[int] = field(default_factory=set[int])
    kept: list[Value] = field(default_factory=list[Value])


def row_of(arguments: Mapping[str, Value], fixed: Iterable[str] = ()) -> Row | None:
    """The row of a call's bound arguments; numbers at the places in `fixed` stay numbers. None where it is no row."""
    row = Row()
    reader = _Reader(row, frozenset(fixed))
    try:
        for name, v in arguments.items():
            row.arguments[name] = reader.read(v, name)
    except NoRow:
        return None
    row.shape = tuple(reader.shape)
    return row


def is_global(f: Function) -> bool:
    """A function at the head of a module: it closes over nothing but global names."""
    return f.owner is None and (f.up is None or (f.up.up is None and f.up.code is None))


class _Reader:
    """Writes a row, part by part."""

    def __init__(self, row: Row, fixed: frozenset[str]) -> None:
        self.row = row
        self.fixed = fixed
        self.shape: list[object] = []
        self.extents: dict[int, Int] = {}
        self.fixed_extents: set[int] = set()
        self.seen: dict[int, tuple[int, Value]] = {}

    def read(self, v: Value, place: str) -> Value:
        """A part with symbols for its numbers."""
        if isinstance(v, Int):
            return self._number(v, place)
        if v is None or v is ... or isinstance(v, _BY_VALUE):
            self.shape.append((type(v), v))
            return v
        if type(v) is tuple:
            self.shape.append(len(v))
            return tuple(self.read(x, f"{place}[{i}]") for i, x in enumerate(v))
        if isinstance(v, (Array, ShapeDtype)):
            return self._array(v, place)
        if isinstance(v, _BY_IDENTITY) or (isinstance(v, Function) and is_global(v)):
            return self._same(v)
        if isinstance(v, Instance):
            return self._same(v) if v.cls.kind == "enum" else self._object(v, place)
        if isinstance(v, (ListCell, DictCell)):
            return self._object(v, place)
        raise NoRow

    def _same(self, v: Value) -> Value:
        self.row.kept.append(v)
        self.shape.append(id(v))
        return v

    def _number(self, v: Int, place: str) -> Int:
        """Zero and one say more than a quantity (an axis, a flag, an extent that broadcasts): they are shape."""
        n = v.dim
        if not isinstance(n, int):
            raise NoRow
        if n < 2 or place in self.fixed:
            self.shape.append(("number", n))
            return Int(n, self._origin(v, place))
        self.shape.append("number")
        return self._symbol(v, n, place)

    def _symbol(self, v: Int, n: int, place: str) -> Int:
        name = f"row{len(self.row.numbers)}"
        self.row.numbers[name], self.row.places[name] = n, place
        return Int(dims.symbol(name, low=2), self._origin(v, place))

    def _origin(self, v: Int, place: str) -> Origin:
        """Stands for the number's own origin."""
        origin = Origin(Site("", place, 0, 0), "parameter")
        self.row.kept.append(origin)
        self.row.origins[id(origin)] = v.origin
        return origin

    def _array(self, v: Array | ShapeDtype, place: str) -> Value:
        """Extents that are equal in one row are taken to be equal in all of its shape: products need them to be."""
        if type(v.shape) is not tuple or not isinstance(v.dtype, DType):
            raise NoRow
        if isinstance(v, Array) and (v.layout is not None or v.index is not None):
            raise NoRow
        weak = v.weak if isinstance(v, Array) else False
        self.shape.append((type(v), len(v.shape), v.dtype, weak, v.made.site if v.made is not None else None))
        shape = tuple(self._extent(e, f"{place}.shape[{i}]") for i, e in enumerate(v.shape))
        if isinstance(v, Array):
            return Array(shape, v.dtype, v.weak, made=v.made)
        return ShapeDtype(shape, v.dtype, v.made, v.layout)

    def _extent(self, e: Value, place: str) -> Int:
        if not isinstance(e, Int) or not isinstance(e.dim, int):
            raise NoRow
        if e.dim < 2 or place in self.fixed or e.dim in self.fixed_extents:
            self.fixed_extents.add(e.dim)
            self.shape.append(("number", e.dim))
            return Int(e.dim, self._origin(e, place))
        before = self.extents.get(e.dim)
        if before is not None:
            self.shape.append(("equal", list(self.extents).index(e.dim)))
            return Int(before.dim, self._origin(e, place))
        self.extents[e.dim] = found = self._number(e, place)
        return found

    def _object(self, v: Instance | ListCell | DictCell, place: str) -> Value:
        """A stand-in for an object that can change: what is done to it would be seen on the object."""
        if id(v) in self.seen:
            self.shape.append(("seen", self.seen[id(v)][0]))
            return self.seen[id(v)][1]
        new: Instance | ListCell | DictCell = Instance(v.cls, {}, v.frozen) if isinstance(v, Instance) else type(v)({})
        self.seen[id(v)] = len(self.seen), new
        self.row.kept += [v, new]
        self.row.objects[id(new)] = v
        self.row.slots |= {id(v.slots), id(new.slots)}
        self.shape.append((type(v), id(v.cls) if isinstance(v, Instance) else None, tuple(v.slots)))
        for key, x in v.slots.items():
            whole = not isinstance(v, Instance)
            new.slots[key] = self._content(x, place) if whole else self.read(x, f"{place}.{key}")
        return new

    def _content(self, items: Value, place: str) -> Value:
        if type(items) is tuple:
            return self.read(items, place)
        if type(items) is dict:
            self.shape.append(tuple((type(k), k) for k in items))
            return {k: (key, self.read(x, f"{place}[{k!r}]")) for k, (key, x) in items.items()}
        raise NoRow
