"""Attributes and methods of arrays and of `jax.ShapeDtypeStruct`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..domain import dim as dims
from ..domain.array import Array, ElementType, Shape, ShapeDtype, element_bits
from ..domain.python import Bound, Call, Int, Made, Opaque, Unknown, Value
from ..source.span import Site
from . import shapes
from .convert import as_array, as_dtype, as_jax_dtype, as_shape
from .jnp_dtype import itemsize
from .jnp_shape import reshaped, swapped, transposed, with_shape
from .methods import Methods
from .registry import NO_ATTRIBUTE, Registry, by_case

ARRAY = Methods("jax.Array")

#: Methods that are the function of jax.numpy with the array as first argument.
_FUNCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "var",
    "std",
    "any",
    "all",
    "argmax",
    "argmin",
    "cumsum",
    "cumprod",
    "squeeze",
    "ravel",
    "swapaxes",
    "repeat",
    "round",
    "clip",
    "conj",
    "conjugate",
    "take",
    "sort",
    "argsort",
    "dot",
]


@dataclass(frozen=True, slots=True)
class Updates:
    """`x.at`, and `x.at[index]` once it has an index."""

    array: Array
    indexed: bool = False


def register(r: Registry) -> None:
    """Registers the attributes of arrays."""
    functions = r.names

    @r.attribute(Array)
    def attribute(m: Any, v: Array, name: str, site: Site) -> Value:
        found = array_attribute(m, v, name, site)
        if found is NO_ATTRIBUTE and name in _FUNCTIONS:
            return Bound(v, functions[f"jax.numpy.{name}"])
        return found

    r.attribute(ShapeDtype)(_shape_dtype_attribute)
    r.attribute(Updates)(_updates_attribute)
    r.items[Updates] = UpdateItems()
    _shape_dtype(r)


def array_attribute(m: Any, v: Array, name: str, site: Site) -> Value:
    """An attribute of an array; NO_ATTRIBUTE where it has none of that name."""
    model = _PROPERTIES.get(name)
    return model(m, v) if model is not None else ARRAY.bind(v, name)


# -- properties ------------------------------------------------------------------------------------


def ndim(m: Any, shape: Shape) -> Value:
    """Number of axes."""
    if isinstance(shape, tuple):
        return Int(len(shape))
    if isinstance(shape, Opaque):
        return Int(dims.symbol(f"len({shape.name})", low=0))
    return m.unknown("the rank of an array of unknown shape", shape)


def byte_size(m: Any, shape: Shape, dtype: ElementType) -> Value:
    """`nbytes`, as NumPy counts it."""
    count, each = shapes.size(m, shape), itemsize(dtype)
    return (
        Int(dims.mul(count.dim, each))
        if isinstance(count, Int) and each is not None
        else m.unknown("the size in bytes of an array", count)
    )


def item_size(m: Any, dtype: ElementType) -> Value:
    """`itemsize`."""
    each = itemsize(dtype)
    return Int(each) if each is not None else m.unknown("the size of an element type that is not known", dtype)


_PROPERTIES: Mapping[str, Callable[[Any, Array], Value]] = {
    "shape": lambda m, v: v.shape,
    "dtype": lambda m, v: v.dtype,
    "ndim": lambda m, v: ndim(m, v.shape),
    "size": lambda m, v: shapes.size(m, v.shape),
    "nbytes": lambda m, v: byte_size(m, v.shape, v.dtype),
    "itemsize": lambda m, v: item_size(m, v.dtype),
    "T": lambda m, v: transposed(m, v, None),
    "mT": lambda m, v: swapped(m, v, Int(-1), Int(-2)),
    "at": lambda m, v: Updates(v),
    "weak_type": lambda m, v: v.weak,
}


# -- methods ---------------------------------------------------------------------------------------


@ARRAY.method("astype", "dtype, copy=False, device=None")
def astype(m: Any, call: Call, self: Array, dtype: Value, **_: Value) -> Value:
    """`x.astype(dtype)`."""
    return cast(m, self, dtype)


def cast(m: Any, a: Array, dtype: Value) -> Array:
    """An array in another element type: same layout, no longer weak."""
    d = as_jax_dtype(m, dtype, Unknown("no element type"))
    return Array(a.shape, d, False, a.layout, a.index if getattr(d, "name", "") == "int32" else None)


@ARRAY.raw("reshape")
def reshape(m: Any, call: Call) -> Value:
    """`x.reshape(shape)` or `x.reshape(*shape)`."""
    a, *sizes = call.args
    if call.open:
        return with_shape(m, a, m.unknown("a shape that is not known"))
    sizes = [*sizes, *(v for k, v in call.kwargs.items() if k == "shape")]
    return m.lift(lambda *picked: reshaped(m, a, picked[0] if len(picked) == 1 else picked), *sizes)


@ARRAY.raw("transpose")
def transpose(m: Any, call: Call) -> Value:
    """`x.transpose()`, `x.transpose(axes)` or `x.transpose(*axes)`."""
    a, *axes = call.args
    if call.open or call.kwargs:
        return with_shape(m, a, m.unknown("axes that are not known"))

    def permuted(*picked: Value) -> Value:
        return transposed(
            m,
            a,
            None
            if not picked or picked == (None,)
            else picked[0]
            if len(picked) == 1 and not isinstance(picked[0], Int)
            else picked,
        )

    return m.lift(permuted, *axes)


@ARRAY.method("flatten", "order='C'")
def flatten(m: Any, call: Call, self: Array, order: Value) -> Value:
    """One axis with all elements."""
    return with_shape(m, self, (shapes.size(m, self.shape),))


@ARRAY.method("view", "dtype=None, type=None")
def view(m: Any, call: Call, self: Array, dtype: Value, type: Value) -> Value:
    """`x.view(dtype)`: the bits as another type of the same width."""
    d = as_dtype(m, dtype)
    if element_bits(d) != element_bits(self.dtype) or element_bits(d) is None:
        return m.unknown("a view in a type of another width", self, dtype, site=call.site)
    return Array(self.shape, d, layout=self.layout)


@ARRAY.method("item tolist", "*args")
def item(m: Any, call: Call, self: Array, args: Value) -> Value:
    """The value on the host, which is not known."""
    return m.unknown("the value of an array", self, site=call.site)


@ARRAY.method("block_until_ready copy copy_to_host_async", "*args")
def block_until_ready(m: Any, call: Call, self: Array, args: Value) -> Value:
    """The array itself."""
    return self


@ARRAY.method("__len__")
def len_(m: Any, call: Call, self: Array) -> Value:
    """The extent of the first axis."""
    return (
        self.shape[0]
        if isinstance(self.shape, tuple) and self.shape
        else m.unknown("the length of an array", self.shape)
    )


# -- x.at[...].set(...) ----------------------------------------------------------------------------


class UpdateItems:
    """`x.at[index]`."""

    def get(self, m: Any, v: Updates, index: Value, site: Site, where: Site) -> Value:
        """The place to update."""
        return Updates(v.array, True)

    def set(self, m: Any, v: Value, index: Value, value: Value, site: Site, where: Site) -> None:
        """JAX refuses it."""

    def iterate(self, m: Any, v: Value) -> list[Value] | None:
        """Not iterable."""
        return None


_UPDATES = Methods("jax.Array.at")


def _updates_attribute(m: Any, v: Updates, name: str, site: Site) -> Value:
    return _UPDATES.bind(v, name) if v.indexed else NO_ATTRIBUTE


@_UPDATES.method("set add subtract multiply mul divide power min max", "values, **options")
def update(m: Any, call: Call, self: Updates, values: Value, options: Value) -> Value:
    """The array with elements changed: its shape and type stay."""
    a = self.array
    return Array(
        a.shape,
        a.dtype,
        a.weak and as_array(m, values).weak,
        layout=None if m.launch is None else Unknown("layout of an update"),
    )


# -- ShapeDtypeStruct ------------------------------------------------------------------------------


def _shape_dtype(r: Registry) -> None:
    @r.raw("jax.ShapeDtypeStruct")
    def shape_dtype_struct(m: Any, call: Call) -> Value:
        args = dict(zip(("shape", "dtype"), call.args, strict=False)) | dict(call.kwargs)
        if call.open or not {"shape", "dtype"} <= args.keys():
            return m.unknown("a ShapeDtypeStruct of values that are not known", *args.values(), site=call.site)
        sites = dict(zip(("shape", "dtype"), call.arg_sites, strict=False)) | dict(call.kwarg_sites)
        made = Made(call.site, sites)

        def one(values: dict[str, Value]) -> Value:
            return ShapeDtype(as_shape(m, values["shape"]), as_dtype(m, values["dtype"]), made)

        return by_case(m, {"shape": args["shape"], "dtype": args["dtype"]}, one, lists=True)

    @r.function("jax.ShapeDtypeStruct.like", "x")
    def like(m: Any, call: Call, x: Value) -> Value:
        a = as_array(m, x)
        return ShapeDtype(a.shape, a.dtype, Made(call.site, dict(zip(("x",), call.arg_sites, strict=False))))


def _shape_dtype_attribute(m: Any, v: ShapeDtype, name: str, site: Site) -> Value:
    if name in ("shape", "dtype", "ndim", "size"):
        return _PROPERTIES[name](m, Array(v.shape, v.dtype))
    if name == "weak_type":
        return False
    return _SHAPE_DTYPE.bind(v, name)


_SHAPE_DTYPE = Methods("jax.ShapeDtypeStruct")


@_SHAPE_DTYPE.method("update", "**changes")
def update_struct(m: Any, call: Call, self: ShapeDtype, changes: Value) -> Value:
    """`struct.update(shape=..., dtype=...)`."""
    shape = as_shape(m, changes["shape"]) if "shape" in changes else self.shape
    dtype = as_dtype(m, changes["dtype"]) if "dtype" in changes else self.dtype
    return ShapeDtype(shape, dtype, Made(call.site, dict(call.kwarg_sites)))
