"""Arguments as what a library function takes them for: a shape, an element type, an array, a tuple of axes."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, ElementType, Extent, Shape, ShapeDtype, Splat
from ..domain.dtype import DTYPES, DType, canonical, dtype_named
from ..domain.python import Bool, Builtin, Choice, Int, Opaque, Ratio, Unknown, Value
from ..domain.ref import Ref

INT32 = DType("int32", 32, "int")
FLOAT32 = DType("float32", 32, "float")
BOOL = DType("bool", 8, "bool")
#: Element types of Python's types, by the name of the builtin.
_PYTHON_TYPES = {
    "builtins.int": "int32",
    "builtins.float": "float32",
    "builtins.bool": "bool",
    "builtins.complex": "complex64",
}


def as_shape(m: Any, v: Value) -> Shape:
    """A shape argument: a sequence of integers, or one integer."""
    if isinstance(v, Opaque):
        return v if v.hint != "int" else (as_extent(m, v),)
    if isinstance(v, Int):
        return (v,)
    items = m.program.items.iterate(m, v)
    if items is None:
        return m.unknown("a shape that is not known", v)
    return tuple(as_extent(m, x) for x in items)


def as_extent(m: Any, v: Value) -> Extent:
    """One extent of a shape."""
    if isinstance(v, Unknown):
        return v
    n = m.as_int(v)
    return n if n is not None else m.unknown("an extent that is not known", v)


def as_dtype(m: Any, v: Value) -> ElementType:
    """An element type argument: a jnp scalar type, a name, a Python type, or the dtype of something."""
    if isinstance(v, (DType, Unknown)):
        return v
    if isinstance(v, Opaque):
        known = m.path.facts.values.get(v.name)
        return known if isinstance(known, DType) else Opaque(v.name, "dtype")
    if isinstance(v, str):
        return dtype_named(v) or m.unknown(f"no element type is called {v!r}")
    if isinstance(v, (Array, Ref, ShapeDtype)):
        return v.dtype
    if isinstance(v, Builtin) and v.name in _PYTHON_TYPES:
        return DTYPES[_PYTHON_TYPES[v.name]]
    return m.unknown("an element type that is not known", v)


def as_jax_dtype(m: Any, v: Value, default: ElementType) -> ElementType:
    """The element type of an array that JAX makes: `default` for None; 64-bit types depend on `jax_enable_x64`."""
    if v is None:
        return default
    d = as_dtype(m, v)
    if isinstance(d, DType) and canonical(d) != d:
        return m.unknown(f"{d.name}, which is {canonical(d).name} unless jax_enable_x64 is set")
    return d


def as_array(m: Any, v: Value) -> Array:
    """A value as jnp sees it: arrays as they are, Python scalars as weakly typed scalars."""
    if isinstance(v, Array):
        return v
    if isinstance(v, (bool, Bool)):
        return Array((), BOOL, layout=Splat())
    if isinstance(v, Int):
        loose = any(not s.sure for s in dims.symbols(v.dim))
        if loose:
            return Array(Unknown("a parameter that may be an array or a number"), Unknown("a parameter's element type"))
        return Array((), INT32, weak=True, layout=Splat(), index=v)
    if isinstance(v, (float, Ratio)):
        return Array((), FLOAT32, weak=True, layout=Splat())
    if isinstance(v, complex):
        return Array((), DType("complex64", 64, "complex"), weak=True, layout=Splat())
    if isinstance(v, Opaque):
        return opaque_array(m, v)
    if isinstance(v, ShapeDtype):
        return Array(v.shape, v.dtype)
    return Array(m.unknown("a value that is not known", v), m.unknown("a value that is not known", v))


def opaque_array(m: Any, v: Opaque) -> Array:
    """A parameter used as an array: its shape and element type by name."""
    if v.hint == "int":
        return as_array(m, m.as_int(v))
    if v.hint in ("float", "bool"):
        return as_array(m, 0.0 if v.hint == "float" else Bool(conds.Truth(v.name)))
    if v.hint in ("array", ""):
        return Array(shape_of_opaque(m, v), Opaque(f"{v.name}.dtype", "dtype"))
    return Array(m.unknown("a parameter that is not known", v), m.unknown("a parameter that is not known", v))


def shape_of_opaque(m: Any, v: Opaque) -> Shape:
    """`v.shape` of a parameter: extents by name where its rank is known, else the name."""
    rank = m.path.facts.values.get(f"len({v.name}.shape)")
    if isinstance(rank, int):
        return tuple(Int(dims.symbol(f"{v.name}.shape[{i}]", low=0)) for i in range(rank))
    return Opaque(f"{v.name}.shape", "tuple")


def as_axes(m: Any, v: Value, rank: int) -> tuple[int, ...] | None:
    """An axis argument (None: all axes) as sorted non-negative numbers; None where unknown or out of range."""
    if v is None:
        return tuple(range(rank))
    items = m.program.items.iterate(m, v)
    picked = [v] if items is None else items
    out: set[int] = set()
    for x in picked:
        n = as_constant(m, x)
        if n is None or not -rank <= n < rank:
            return None
        out.add(n % rank)
    return tuple(sorted(out))


def as_constant(m: Any, v: Value) -> int | None:
    """An integer that is known exactly on this path."""
    n = m.as_int(v)
    if n is None or isinstance(v, Choice):
        return None
    d = m.simplify(n.dim)
    return d if isinstance(d, int) else None
