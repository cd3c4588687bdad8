"""Generated operands, in the values of the analysis, and the same operands for JAX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from hypothesis import strategies as st

from pallas_ls.domain.array import Array
from pallas_ls.domain.dtype import DTYPES, DType
from pallas_ls.domain.python import Int, ListCell

Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Types without 64 bits: those depend on a setting. Each family is there, narrow and wide.
NAMES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "uint8",
    "uint32",
    "float16",
    "bfloat16",
    "float32",
    "float8_e4m3fn",
    "complex64",
)
FLOATS = ("float16", "bfloat16", "float32")
INTEGERS = ("int8", "int16", "int32", "uint8", "uint32")
REAL = (*INTEGERS, *FLOATS)
NUMBERS = (*REAL, "complex64")
#: Weakly typed arrays come from Python scalars only.
_WEAK = ("int32", "float32")


@dataclass(frozen=True)
class Case:
    """Arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def extents(draw: Draw, low: int = 0, high: int = 3) -> tuple[int, ...]:
    """A shape; small extents meet often."""
    return tuple(draw(st.lists(st.sampled_from((1, 2, 3, 4, 6)), min_size=low, max_size=high)))


def array(draw: Draw, shape: tuple[int, ...], names: tuple[str, ...] = NAMES, weak: bool = True) -> Array:
    """An array of a drawn type."""
    name = draw(st.sampled_from(names))
    is_weak = weak and name in _WEAK and draw(st.booleans())
    return Array(tuple(Int(n) for n in shape), DTYPES[name], is_weak)


def some_array(draw: Draw, names: tuple[str, ...] = NAMES, low: int = 0, high: int = 3) -> Array:
    """An array of a drawn shape and type."""
    return array(draw, extents(draw, low, high), names)


def scalar(draw: Draw) -> Any:
    """A Python scalar."""
    return draw(st.sampled_from((Int(2), Int(-3), 2.5, True)))


def broadcastable(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with `shape`: shorter, or 1 in places."""
    cut = draw(st.integers(0, len(shape)))
    return tuple(1 if draw(st.booleans()) else n for n in shape[cut:])


def axis(draw: Draw, rank: int) -> Int:
    """One axis, also counted from the end."""
    return Int(draw(st.integers(-rank, rank - 1)))


def axes(draw: Draw, rank: int) -> tuple[Int, ...]:
    """Different axes."""
    picked = draw(st.lists(st.integers(0, rank - 1), unique=True, max_size=rank))
    return tuple(Int(a - rank if draw(st.booleans()) else a) for a in picked)


def some_axis(draw: Draw, rank: int) -> Any:
    """An axis argument of a reduction."""
    if rank == 0:
        return None
    kind = draw(st.sampled_from(("none", "one", "several")))
    return None if kind == "none" else axis(draw, rank) if kind == "one" else axes(draw, rank)


def ints(values: tuple[int, ...]) -> tuple[Int, ...]:
    """Integers as values."""
    return tuple(Int(v) for v in values)


# -- for JAX ---------------------------------------------------------------------------------------


def to_jax(v: Any, arrays: list[Any]) -> Any:
    """A value for JAX; arrays are put into `arrays` and stand as their position."""
    if isinstance(v, Array):
        assert isinstance(v.shape, tuple) and isinstance(v.dtype, DType)
        shape = tuple(e.dim for e in v.shape)  # pyright: ignore[reportAttributeAccessIssue]
        arrays.append(jax.ShapeDtypeStruct(shape, jnp.dtype(v.dtype.name), weak_type=v.weak))  # pyright: ignore
        return _Place(len(arrays) - 1)
    if isinstance(v, Int):
        return v.dim
    if isinstance(v, DType):
        return jnp.dtype(v.name)
    if isinstance(v, tuple):
        return tuple(to_jax(x, arrays) for x in v)
    if isinstance(v, ListCell):
        return [to_jax(x, arrays) for x in v.slots["items"]]
    return v


@dataclass(frozen=True)
class _Place:
    position: int


def _filled(v: Any, arrays: tuple[Any, ...]) -> Any:
    if isinstance(v, _Place):
        return arrays[v.position]
    if isinstance(v, (tuple, list)):
        return type(v)(_filled(x, arrays) for x in v)
    return v


def named(name: str) -> Callable[..., Any]:
    """The JAX function of that name."""
    out: Any = jax
    for part in name.split(".")[1:]:
        out = getattr(out, part)
    return out


def by_jax(name: str, case: Case) -> Any:
    """What JAX says of the call: a ShapeDtypeStruct or a structure of them; raises what JAX raises."""
    found: list[Any] = []
    args = [to_jax(a, found) for a in case.args]
    kwargs = {k: to_jax(v, found) for k, v in case.kwargs.items()}
    f = named(name)

    def run(*arrays: Any) -> Any:
        return f(*(_filled(a, arrays) for a in args), **{k: _filled(v, arrays) for k, v in kwargs.items()})

    return jax.eval_shape(run, *found)
