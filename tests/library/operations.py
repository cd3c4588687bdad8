"""For each operation of jax.numpy, jax.lax, jax.nn and jax.random with a model: how to draw arguments of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from pallas_ls.domain.array import Array
from pallas_ls.domain.dtype import DTYPES
from pallas_ls.domain.python import Int, ListCell
from pallas_ls.library import jnp_elementwise, lax_elementwise, nn

from .operands import (
    FLOATS,
    INTEGERS,
    NAMES,
    NUMBERS,
    REAL,
    Case,
    Draw,
    array,
    axes,
    axis,
    broadcastable,
    extents,
    ints,
    scalar,
    some_array,
    some_axis,
)

Generator = Callable[[Draw], Case]
GENERATORS: dict[str, Generator] = {}


def generates(names: str) -> Callable[[Generator], Generator]:
    """Registers a generator under names separated by spaces."""

    def keep(g: Generator) -> Generator:
        GENERATORS.update(dict.fromkeys(names.split(), g))
        return g

    return keep


def call(*args: Any, **kwargs: Any) -> Case:
    """A case."""
    return Case(args, kwargs)


def _named(prefix: str, names: str) -> str:
    return " ".join(f"{prefix}.{n}" for n in names.split())


def _table(prefix: str, table: Any) -> str:
    return " ".join(_named(prefix, names) for _, names in table)


# -- element by element ------------------------------------------------------------------------------


@generates(_table("jax.numpy", jnp_elementwise.UNARY) + " jax.numpy.round jax.numpy.around")
def one_array(draw: Draw) -> Case:
    """An array of any type, or a Python scalar."""
    return call(some_array(draw, low=1) if draw(st.integers(0, 4)) else scalar(draw))


@generates(
    _table("jax.lax", lax_elementwise.UNARY) + " jax.lax.round jax.lax.stop_gradient jax.lax.optimization_barrier"
)
def one_array_of_lax(draw: Draw) -> Case:
    """An array of any type."""
    return call(some_array(draw))


@generates(_table("jax.nn", nn.ACTIVATIONS) + " jax.nn.relu")
def activation(draw: Draw) -> Case:
    """An array of floats."""
    return call(some_array(draw, FLOATS))


@generates(_table("jax.numpy", jnp_elementwise.BINARY) + " jax.numpy.isclose jax.numpy.allclose")
def two_arrays(draw: Draw) -> Case:
    """Two arrays that broadcast, or one and a Python scalar."""
    shape = extents(draw)
    a = array(draw, shape)
    b = scalar(draw) if draw(st.booleans()) else array(draw, broadcastable(draw, shape))
    return call(a, b) if draw(st.booleans()) else call(b, a)


@generates("jax.numpy.hypot")
def hypot(draw: Draw) -> Case:
    """Two arrays that broadcast; of types that are not weak, for there the releases of JAX differ."""
    shape = extents(draw)
    return call(array(draw, shape, weak=False), array(draw, broadcastable(draw, shape), weak=False))


@generates("jax.numpy.log2")
def log2(draw: Draw) -> Case:
    """An array of a type that is not weak, for there the releases of JAX differ."""
    return call(array(draw, extents(draw), weak=False))


@generates("jax.numpy.power jax.numpy.pow")
def power(draw: Draw) -> Case:
    """An array and a positive exponent, which may be an array."""
    shape = extents(draw)
    exponent = (
        draw(st.sampled_from((Int(2), 2.5, 2))) if draw(st.booleans()) else array(draw, broadcastable(draw, shape))
    )
    return call(array(draw, shape), Int(2) if exponent == 2 else exponent)


@generates(_table("jax.lax", lax_elementwise.BINARY) + " jax.lax.pow")
def two_arrays_of_lax(draw: Draw) -> Case:
    """Two arrays of one shape and type, or an array and a scalar of that type."""
    shape, name = extents(draw), draw(st.sampled_from(NAMES))
    a = array(draw, shape, (name,))
    return call(a, array(draw, () if draw(st.integers(0, 3)) == 0 else shape, (name,)))


@generates("jax.lax.integer_pow")
def integer_pow(draw: Draw) -> Case:
    """An array and an exponent."""
    return call(some_array(draw), Int(draw(st.integers(2, 4))))


@generates("jax.lax.clamp")
def clamp(draw: Draw) -> Case:
    """Bounds of the array's type, as scalars or in its shape."""
    shape, name = extents(draw), draw(st.sampled_from(REAL))
    low = () if draw(st.booleans()) else shape
    return call(array(draw, low, (name,)), array(draw, shape, (name,)), array(draw, low, (name,)))


@generates("jax.lax.reduce_precision")
def reduce_precision(draw: Draw) -> Case:
    """An array of floats."""
    return call(some_array(draw, FLOATS), Int(5), Int(10))


@generates("jax.lax.select jax.lax.select_n")
def select(draw: Draw) -> Case:
    """Two cases of one shape and type."""
    shape, name = extents(draw), draw(st.sampled_from(NAMES))
    predicate = array(draw, () if draw(st.booleans()) else shape, ("bool",))
    return call(predicate, array(draw, shape, (name,)), array(draw, shape, (name,)))


@generates("jax.lax.convert_element_type")
def convert(draw: Draw) -> Case:
    """An array and another type."""
    return call(some_array(draw), DTYPES[draw(st.sampled_from(NAMES))])


@generates("jax.lax.bitcast_convert_type")
def bitcast(draw: Draw) -> Case:
    """A real array and a real type."""
    return call(some_array(draw, REAL, low=1), DTYPES[draw(st.sampled_from(REAL))])


@generates("jax.numpy.where")
def where(draw: Draw) -> Case:
    """A condition and two cases that broadcast."""
    shape = extents(draw)
    parts = [
        scalar(draw) if draw(st.integers(0, 3)) == 0 else array(draw, broadcastable(draw, shape)) for _ in range(2)
    ]
    return call(array(draw, shape, ("bool", "int32")), *parts)


@generates("jax.numpy.clip")
def clip(draw: Draw) -> Case:
    """One bound or both."""
    shape = extents(draw)
    bounds = [
        None
        if draw(st.integers(0, 3)) == 0
        else scalar(draw)
        if draw(st.booleans())
        else array(draw, broadcastable(draw, shape), REAL)
        for _ in range(2)
    ]
    return call(array(draw, shape, REAL), *bounds)


@generates("jax.numpy.nan_to_num")
def nan_to_num(draw: Draw) -> Case:
    """An array of numbers."""
    return call(some_array(draw, REAL))


# -- made ---------------------------------------------------------------------------------------------


def _dtype(draw: Draw) -> dict[str, Any]:
    return {"dtype": DTYPES[draw(st.sampled_from(NAMES))]} if draw(st.booleans()) else {}


@generates("jax.numpy.zeros jax.numpy.ones jax.numpy.empty")
def zeros(draw: Draw) -> Case:
    """A shape, perhaps one integer, perhaps a type."""
    shape = ints(extents(draw))
    return call(shape[0] if len(shape) == 1 and draw(st.booleans()) else shape, **_dtype(draw))


@generates("jax.numpy.full jax.lax.full")
def full(draw: Draw) -> Case:
    """A shape and a value."""
    return call(
        ints(extents(draw)),
        draw(st.sampled_from((Int(3), 1.5, True))) if draw(st.booleans()) else array(draw, ()),
        **_dtype(draw),
    )


@generates("jax.numpy.zeros_like jax.numpy.ones_like jax.numpy.empty_like")
def zeros_like(draw: Draw) -> Case:
    """An array, perhaps a type or shape."""
    more = {"shape": ints(extents(draw))} if draw(st.booleans()) else {}
    return call(some_array(draw), **_dtype(draw), **more)


@generates("jax.numpy.full_like jax.lax.full_like")
def full_like(draw: Draw) -> Case:
    """An array and a value."""
    return call(some_array(draw), scalar(draw), **_dtype(draw))


@generates("jax.numpy.eye jax.numpy.tri")
def eye(draw: Draw) -> Case:
    """Rows, perhaps columns."""
    return call(*ints(extents(draw, 1, 2)), **_dtype(draw))


@generates("jax.numpy.identity")
def identity(draw: Draw) -> Case:
    """Rows."""
    return call(Int(draw(st.integers(0, 5))), **_dtype(draw))


@generates("jax.numpy.arange")
def arange(draw: Draw) -> Case:
    """One to three bounds, integers or floats."""
    kind = st.integers(-4, 9).map(Int) if draw(st.booleans()) else st.sampled_from((0.0, 1.5, 4.25, Int(3)))
    bounds = [draw(kind) for _ in range(draw(st.integers(1, 2)))]
    step = [draw(st.sampled_from((Int(1), Int(2), Int(-1), 0.5)))] if len(bounds) == 2 and draw(st.booleans()) else []
    return call(*bounds, *step, **_dtype(draw))


@generates("jax.numpy.linspace")
def linspace(draw: Draw) -> Case:
    """Bounds and a number."""
    return call(Int(0), draw(st.sampled_from((Int(1), 2.5))), Int(draw(st.integers(0, 9))))


@generates("jax.lax.iota")
def iota(draw: Draw) -> Case:
    """A type and a size."""
    return call(DTYPES[draw(st.sampled_from(REAL))], Int(draw(st.integers(0, 9))))


@generates("jax.lax.broadcasted_iota")
def broadcasted_iota(draw: Draw) -> Case:
    """A type, a shape, an axis."""
    shape = extents(draw, 1)
    return call(DTYPES[draw(st.sampled_from(REAL))], ints(shape), Int(draw(st.integers(0, len(shape) - 1))))


@generates("jax.numpy.array jax.numpy.asarray")
def from_values(draw: Draw) -> Case:
    """A scalar, an array, or nested lists."""
    v = draw(st.sampled_from(("scalar", "array", "list", "nested")))
    if v == "scalar":
        return call(scalar(draw), **_dtype(draw))
    if v == "array":
        return call(some_array(draw), **_dtype(draw))
    row = ListCell({"items": tuple(scalar(draw) for _ in range(draw(st.integers(1, 3))))})
    return call(row if v == "list" else ListCell({"items": (row, row)}), **_dtype(draw))


# -- reduced ------------------------------------------------------------------------------------------


@generates(
    _named(
        "jax.numpy",
        "sum prod nansum nanprod mean nanmean var std max min amax amin nanmax nanmin ptp any all count_nonzero",
    )
)
def reduction(draw: Draw) -> Case:
    """Over any axes."""
    a = some_array(draw, NUMBERS)
    return call(a, axis=some_axis(draw, len(a.shape)), keepdims=draw(st.booleans()))  # pyright: ignore


@generates("jax.numpy.median jax.numpy.average jax.nn.logsumexp")
def mean(draw: Draw) -> Case:
    """Over one axis or all."""
    a = some_array(draw, REAL, low=1)
    return call(a, axis=axis(draw, len(a.shape)) if draw(st.booleans()) else None, keepdims=draw(st.booleans()))  # pyright: ignore


@generates(_named("jax.numpy", "argmax argmin nanargmax nanargmin"))
def position(draw: Draw) -> Case:
    """Along one axis or all."""
    a = some_array(draw, FLOATS, low=1)
    return call(a, axis=axis(draw, len(a.shape)) if draw(st.booleans()) else None, keepdims=draw(st.booleans()))  # pyright: ignore


@generates("jax.numpy.cumsum jax.numpy.cumprod jax.numpy.sort jax.numpy.argsort")
def along_axis(draw: Draw) -> Case:
    """Along one axis or flattened."""
    a = some_array(draw, NUMBERS, low=1)
    return call(a, axis=axis(draw, len(a.shape)) if draw(st.booleans()) else None)  # pyright: ignore


@generates(_named("jax.lax", "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor"))
def lax_reduction(draw: Draw) -> Case:
    """Over some axes."""
    shape = extents(draw, 1)
    picked = tuple(draw(st.lists(st.integers(0, len(shape) - 1), unique=True)))
    return call(array(draw, shape, NAMES), ints(picked))


@generates("jax.lax.argmax jax.lax.argmin")
def lax_position(draw: Draw) -> Case:
    """Along one axis."""
    shape = extents(draw, 1)
    return call(array(draw, shape, REAL), Int(draw(st.integers(0, len(shape) - 1))), DTYPES["int32"])


@generates(_named("jax.lax", "cumsum cumprod cummax cummin cumlogsumexp"))
def lax_scan(draw: Draw) -> Case:
    """Along one axis."""
    shape = extents(draw, 1)
    return call(array(draw, shape, REAL), axis=Int(draw(st.integers(0, len(shape) - 1))))


# -- rearranged -----------------------------------------------------------------------------------------


@generates("jax.numpy.reshape")
def reshape(draw: Draw) -> Case:
    """The same elements in another order of axes, one perhaps left open."""
    shape = extents(draw, 1)
    new = list(draw(st.permutations(shape)))
    if draw(st.booleans()):
        new = [n for n in (*new[:-2], _product(new[-2:])) if n]
    if draw(st.booleans()):
        new[draw(st.integers(0, len(new) - 1))] = -1
    return call(array(draw, shape), ints(tuple(new)))


def _product(values: list[int]) -> int:
    out = 1
    for v in values:
        out *= v
    return out


@generates("jax.lax.reshape")
def lax_reshape(draw: Draw) -> Case:
    """The same elements in another order of axes."""
    shape = extents(draw, 1)
    return call(array(draw, shape), ints(tuple(draw(st.permutations(shape)))))


@generates("jax.numpy.ravel jax.numpy.matrix_transpose")
def whole(draw: Draw) -> Case:
    """An array of at least two axes."""
    return call(some_array(draw, low=2))


@generates("jax.numpy.transpose jax.numpy.permute_dims")
def transpose(draw: Draw) -> Case:
    """Axes reversed or permuted."""
    a = some_array(draw, low=1)
    rank = len(a.shape)  # pyright: ignore[reportArgumentType]
    return (
        call(a, ints(tuple(draw(st.permutations(range(rank))))))
        if draw(st.booleans())
        else call(a, ints(tuple(range(rank))[::-1]))
    )


@generates("jax.lax.transpose")
def lax_transpose(draw: Draw) -> Case:
    """Axes permuted."""
    a = some_array(draw, low=1)
    return call(a, ints(tuple(draw(st.permutations(range(len(a.shape)))))))  # pyright: ignore


@generates("jax.numpy.swapaxes jax.numpy.moveaxis")
def swapaxes(draw: Draw) -> Case:
    """Two axes."""
    a = some_array(draw, low=1)
    return call(a, axis(draw, len(a.shape)), axis(draw, len(a.shape)))  # pyright: ignore


@generates("jax.numpy.squeeze")
def squeeze(draw: Draw) -> Case:
    """Axes of extent 1, named or not."""
    shape = (*extents(draw), 1)
    ones = [i for i, n in enumerate(shape) if n == 1]
    return (
        call(array(draw, shape))
        if draw(st.booleans())
        else call(array(draw, shape), axis=ints((draw(st.sampled_from(ones)),)))
    )


@generates("jax.lax.squeeze")
def lax_squeeze(draw: Draw) -> Case:
    """The last axis."""
    return call(array(draw, (*extents(draw), 1)), ints((-1,)))


@generates("jax.numpy.expand_dims")
def expand_dims(draw: Draw) -> Case:
    """One axis or several."""
    a = some_array(draw)
    rank = len(a.shape)  # pyright: ignore[reportArgumentType]
    return call(a, axis(draw, rank + 1) if draw(st.booleans()) else axes(draw, rank + 1)[:1])


@generates("jax.lax.expand_dims")
def lax_expand_dims(draw: Draw) -> Case:
    """One axis."""
    a = some_array(draw)
    return call(a, ints((draw(st.integers(0, len(a.shape))),)))  # pyright: ignore[reportArgumentType]


@generates("jax.numpy.flip")
def flip(draw: Draw) -> Case:
    """All axes."""
    return call(some_array(draw))


@generates("jax.numpy.flipud jax.numpy.fliplr jax.numpy.tril jax.numpy.triu")
def matrix(draw: Draw) -> Case:
    """A matrix."""
    return call(some_array(draw, NUMBERS, 2))


@generates("jax.numpy.roll")
def roll(draw: Draw) -> Case:
    """A shift along an axis."""
    a = some_array(draw, low=1)
    return call(a, Int(1), axis(draw, len(a.shape)))  # pyright: ignore[reportArgumentType]


@generates("jax.lax.rev")
def rev(draw: Draw) -> Case:
    """The first axis."""
    return call(some_array(draw, low=1), ints((0,)))


@generates("jax.lax.collapse")
def collapse(draw: Draw) -> Case:
    """From an axis on."""
    shape = extents(draw, 2)
    return call(array(draw, shape), Int(draw(st.integers(0, len(shape) - 1))))


@generates("jax.numpy.broadcast_to")
def broadcast_to(draw: Draw) -> Case:
    """To a larger shape."""
    shape = extents(draw)
    return call(array(draw, broadcastable(draw, shape)), ints(shape))


@generates("jax.lax.broadcast")
def broadcast(draw: Draw) -> Case:
    """New axes in front."""
    return call(some_array(draw), ints(extents(draw)))


@generates("jax.lax.broadcast_in_dim")
def broadcast_in_dim(draw: Draw) -> Case:
    """Into the last axes."""
    shape = extents(draw)
    cut = draw(st.integers(0, len(shape)))
    return call(array(draw, shape[cut:]), ints(shape), ints(tuple(range(cut, len(shape)))))


@generates("jax.numpy.concatenate jax.lax.concatenate")
def concatenate(draw: Draw) -> Case:
    """Arrays that differ along one axis."""
    shape, name = extents(draw, 1), draw(st.sampled_from(NAMES))
    at = draw(st.integers(0, len(shape) - 1))
    rows = tuple(array(draw, (*shape[:at], draw(st.integers(1, 4)), *shape[at + 1 :]), (name,)) for _ in range(3))
    return call(rows if draw(st.booleans()) else ListCell({"items": rows}), Int(at))


@generates("jax.numpy.concat")
def concat(draw: Draw) -> Case:
    """As concatenate, the axis by keyword."""
    arrays, at = concatenate(draw).args
    return call(arrays, axis=at)


@generates("jax.numpy.stack")
def stack(draw: Draw) -> Case:
    """Arrays of one shape."""
    shape = extents(draw)
    rows = tuple(array(draw, shape, NUMBERS) for _ in range(draw(st.integers(1, 3))))
    return call(ListCell({"items": rows}), axis=axis(draw, len(shape) + 1))


@generates("jax.numpy.broadcast_arrays")
def broadcast_arrays(draw: Draw) -> Case:
    """Arrays that broadcast."""
    shape = extents(draw)
    return call(array(draw, shape), array(draw, broadcastable(draw, shape)))


@generates("jax.numpy.split")
def split(draw: Draw) -> Case:
    """Into equal parts, or at positions."""
    shape = (*extents(draw, 0, 2), 6)
    where = (
        Int(draw(st.sampled_from((1, 2, 3))))
        if draw(st.booleans())
        else ints(tuple(sorted(draw(st.lists(st.integers(0, 7), max_size=3)))))
    )
    return call(array(draw, shape), where, Int(-1))


@generates("jax.numpy.unstack")
def unstack(draw: Draw) -> Case:
    """Rows."""
    a = some_array(draw, low=1)
    return call(a, axis=axis(draw, len(a.shape)))  # pyright: ignore[reportArgumentType]


@generates("jax.lax.split")
def lax_split(draw: Draw) -> Case:
    """Sizes that add up."""
    return call(array(draw, (*extents(draw, 0, 2), 6)), ints(draw(st.sampled_from(((6,), (2, 4), (1, 2, 3))))), Int(-1))


@generates("jax.numpy.repeat")
def repeat(draw: Draw) -> Case:
    """Along an axis or flattened."""
    a = some_array(draw, low=1)
    return call(a, Int(draw(st.integers(0, 3))), axis=axis(draw, len(a.shape)) if draw(st.booleans()) else None)  # pyright: ignore


@generates("jax.numpy.tile")
def tile(draw: Draw) -> Case:
    """Repetitions of more or fewer axes than there are."""
    return call(some_array(draw), ints(extents(draw)))


@generates("jax.numpy.pad")
def pad(draw: Draw) -> Case:
    """One number, a pair, or a pair for each axis."""
    a = some_array(draw, NUMBERS, low=1)
    pair = ints((draw(st.integers(0, 3)), draw(st.integers(0, 3))))
    width = draw(st.sampled_from(("one", "pair", "each")))
    return call(a, pair[0] if width == "one" else pair if width == "pair" else (pair,) * len(a.shape))  # pyright: ignore


@generates("jax.lax.pad")
def lax_pad(draw: Draw) -> Case:
    """Low and high padding of each axis."""
    shape, name = extents(draw, 1), draw(st.sampled_from(NUMBERS))
    config = tuple(ints((draw(st.integers(-1, 3)), draw(st.integers(0, 3)), 0)) for _ in shape)
    return call(array(draw, shape, (name,)), array(draw, (), (name,)), config)


# -- chosen ---------------------------------------------------------------------------------------------


@generates("jax.numpy.take")
def take(draw: Draw) -> Case:
    """Positions along an axis or of the flat array."""
    a = some_array(draw, low=1)
    where = axis(draw, len(a.shape)) if draw(st.booleans()) else None  # pyright: ignore[reportArgumentType]
    return call(a, some_array(draw, INTEGERS), axis=where)


@generates("jax.numpy.take_along_axis")
def take_along_axis(draw: Draw) -> Case:
    """Positions for each row."""
    shape = extents(draw, 1)
    at = draw(st.integers(0, len(shape) - 1))
    indices = (*shape[:at], draw(st.integers(1, 4)), *shape[at + 1 :])
    return call(array(draw, shape), array(draw, indices, INTEGERS), axis=Int(at))


@generates("jax.lax.slice")
def slice_(draw: Draw) -> Case:
    """Bounds and strides."""
    shape = extents(draw, 1)
    starts = tuple(draw(st.integers(0, n - 1)) for n in shape)
    limits = tuple(draw(st.integers(s, n)) for s, n in zip(starts, shape, strict=True))
    strides = [ints(tuple(draw(st.integers(1, 2)) for _ in shape))] if draw(st.booleans()) else []
    return call(array(draw, shape), ints(starts), ints(limits), *strides)


@generates("jax.lax.slice_in_dim")
def slice_in_dim(draw: Draw) -> Case:
    """Bounds of one axis."""
    shape = extents(draw, 1)
    return call(array(draw, shape), Int(0), Int(-1) if draw(st.booleans()) else None, axis=axis(draw, len(shape)))


@generates("jax.lax.dynamic_slice")
def dynamic_slice(draw: Draw) -> Case:
    """Sizes within the shape."""
    shape = extents(draw, 1)
    return call(array(draw, shape), ints((0,) * len(shape)), ints(tuple(draw(st.integers(1, n)) for n in shape)))


@generates("jax.lax.dynamic_slice_in_dim")
def dynamic_slice_in_dim(draw: Draw) -> Case:
    """One row."""
    shape = extents(draw, 1)
    return call(array(draw, shape), array(draw, (), ("int32",)), Int(1), axis=axis(draw, len(shape)))


@generates("jax.lax.dynamic_index_in_dim jax.lax.index_in_dim")
def index_in_dim(draw: Draw) -> Case:
    """One position, the axis kept or not."""
    shape = extents(draw, 1)
    return call(array(draw, shape), Int(0), axis(draw, len(shape)), draw(st.booleans()))


@generates("jax.lax.dynamic_update_slice")
def dynamic_update_slice(draw: Draw) -> Case:
    """A smaller array written into another."""
    shape, name = extents(draw, 1), draw(st.sampled_from(NAMES))
    part = tuple(draw(st.integers(1, n)) for n in shape)
    return call(array(draw, shape, (name,)), array(draw, part, (name,)), ints((0,) * len(shape)))


@generates("jax.lax.dynamic_update_slice_in_dim jax.lax.dynamic_update_index_in_dim")
def dynamic_update_in_dim(draw: Draw) -> Case:
    """A row written."""
    shape, name = extents(draw, 1), draw(st.sampled_from(NAMES))
    return call(array(draw, shape, (name,)), array(draw, (1, *shape[1:]), (name,)), Int(0), Int(0))


@generates("jax.lax.sort")
def lax_sort(draw: Draw) -> Case:
    """One array, or several together."""
    shape = extents(draw, 1)
    return (
        call(array(draw, shape, REAL))
        if draw(st.booleans())
        else call((array(draw, shape, REAL), array(draw, shape, REAL)))
    )


@generates("jax.lax.top_k")
def top_k(draw: Draw) -> Case:
    """The largest of each row."""
    shape = extents(draw, 1)
    return call(array(draw, shape, REAL), Int(draw(st.integers(1, shape[-1]))))


# -- products -------------------------------------------------------------------------------------------


@generates("jax.numpy.matmul")
def matmul(draw: Draw) -> Case:
    """Matrices or vectors, with batches that broadcast."""
    m, k, n = (draw(st.sampled_from((1, 2, 3))) for _ in range(3))
    batch = extents(draw, 0, 2)
    left = (k,) if draw(st.booleans()) else (*batch, m, k)
    right = (k,) if draw(st.booleans()) else (*broadcastable(draw, batch), k, n)
    more = {"preferred_element_type": DTYPES["float32"]} if draw(st.booleans()) else {}
    return call(array(draw, left, NUMBERS), array(draw, right, NUMBERS), **more)


@generates("jax.numpy.dot")
def dot(draw: Draw) -> Case:
    """Arrays, vectors or scalars."""
    k = draw(st.sampled_from((1, 2, 3)))
    left = () if draw(st.integers(0, 3)) == 0 else (*extents(draw, 0, 2), k)
    right = (k,) if draw(st.booleans()) else (*extents(draw, 0, 1), k, 4)
    return call(array(draw, left, NUMBERS), array(draw, right, NUMBERS))


@generates("jax.lax.dot")
def lax_dot(draw: Draw) -> Case:
    """Matrices or vectors."""
    left = (3,) if draw(st.booleans()) else (2, 3)
    right = (3,) if draw(st.booleans()) else (3, 4)
    name = draw(st.sampled_from(NUMBERS))
    return call(array(draw, left, (name,)), array(draw, right, (name,)))


@generates("jax.lax.dot_general")
def dot_general(draw: Draw) -> Case:
    """Batch, contracted and free axes in any order."""
    left, right = list(draw(st.permutations("bkmq"))), list(draw(st.permutations("bkn")))
    sizes = {"b": 2, "k": 3, "m": 4, "n": 6, "q": 1}
    numbers = tuple((ints((left.index(c),)), ints((right.index(c),))) for c in "kb")
    name = draw(st.sampled_from(NUMBERS))
    operands = (array(draw, tuple(sizes[c] for c in side), (name,)) for side in (left, right))
    more = {"preferred_element_type": DTYPES["float32"]} if draw(st.booleans()) else {}
    return call(*operands, numbers, **more)


@generates("jax.numpy.tensordot")
def tensordot(draw: Draw) -> Case:
    """A number of axes, or the axes themselves."""
    if draw(st.booleans()):
        return call(array(draw, (4, 2, 3), NUMBERS), array(draw, (2, 3, 6), NUMBERS), Int(2))
    return call(array(draw, (4, 2, 3), NUMBERS), array(draw, (3, 6, 2), NUMBERS), (ints((1, 2)), ints((2, 0))))


@generates("jax.numpy.outer")
def outer(draw: Draw) -> Case:
    """Two arrays, flattened."""
    return call(some_array(draw, NUMBERS), some_array(draw, NUMBERS))


@generates("jax.numpy.einsum")
def einsum(draw: Draw) -> Case:
    """Names of axes, with and without an output, with an ellipsis."""
    text = draw(
        st.sampled_from(
            ("ij,jk->ik", "bij,bjk->bik", "ij,jk", "...i,...i->...", "i,j->ji", "ij->ji", "bqhd,bkhd->bhqk")
        )
    )
    sizes = {c: draw(st.sampled_from((1, 2, 3))) for c in "bijkqhd"}
    terms = text.partition("->")[0].split(",")
    shapes = [(*((2, 3) if "..." in t else ()), *(sizes[c] for c in t.replace("...", ""))) for t in terms]
    return call(text, *(array(draw, s, NUMBERS) for s in shapes))


# -- random ---------------------------------------------------------------------------------------------

_KEY = Array((Int(2),), DTYPES["uint32"])


@generates(_named("jax.random", "normal uniform exponential laplace gumbel cauchy logistic"))
def samples(draw: Draw) -> Case:
    """A shape and perhaps a type."""
    return call(
        _KEY, ints(extents(draw)), **({"dtype": DTYPES[draw(st.sampled_from(FLOATS))]} if draw(st.booleans()) else {})
    )


@generates("jax.random.bits jax.random.rademacher")
def bits(draw: Draw) -> Case:
    """A shape."""
    return call(_KEY, ints(extents(draw)))


@generates("jax.random.randint")
def randint(draw: Draw) -> Case:
    """A shape and bounds."""
    return call(_KEY, ints(extents(draw)), Int(0), Int(5), **({"dtype": DTYPES["int8"]} if draw(st.booleans()) else {}))


@generates("jax.random.key jax.random.PRNGKey")
def seed(draw: Draw) -> Case:
    """A seed."""
    return call(Int(draw(st.integers(0, 9))))


@generates("jax.random.split")
def split_key(draw: Draw) -> Case:
    """A number of keys."""
    return call(_KEY, Int(draw(st.integers(1, 4))))


@generates("jax.random.fold_in")
def fold_in(draw: Draw) -> Case:
    """A key and a number."""
    return call(_KEY, Int(draw(st.integers(0, 9))))


@generates("jax.random.bernoulli")
def bernoulli(draw: Draw) -> Case:
    """A probability and a shape."""
    return call(_KEY, 0.5, ints(extents(draw)))


@generates("jax.random.truncated_normal")
def truncated_normal(draw: Draw) -> Case:
    """Bounds and a shape."""
    return call(_KEY, -1.0, 1.0, ints(extents(draw)))


@generates("jax.random.permutation")
def permutation(draw: Draw) -> Case:
    """A number or an array."""
    return call(_KEY, Int(5)) if draw(st.booleans()) else call(_KEY, some_array(draw, NUMBERS, low=1))


@generates("jax.nn.one_hot")
def one_hot(draw: Draw) -> Case:
    """Positions and a number of classes."""
    return call(some_array(draw, INTEGERS), Int(draw(st.integers(1, 5))), **_dtype(draw))
