"""Element types as the program sees them: `jnp.bfloat16`, `jnp.dtype(x)`, `jnp.finfo(dtype).bits`, `jnp.issubdtype`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, ElementType, Splat, element_bits
from ..domain.cond import Cond
from ..domain.dim import Dim
from ..domain.dtype import DTYPES, DType
from ..domain.python import Builtin, Call, External, Int, Opaque, Unknown, Value
from ..source.span import Site
from .convert import as_array, as_dtype, as_jax_dtype
from .operate import decided
from .promote import known_type, result_type
from .registry import NO_ATTRIBUTE, Registry

_OTHER_NAMES = {
    "bool_": "bool",
    "int_": "int32",
    "float_": "float32",
    "uint": "uint32",
    "single": "float32",
    "complex_": "complex64",
}


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """`jnp.finfo(dtype)` ("float") or `jnp.iinfo(dtype)` ("int")."""

    dtype: ElementType
    kind: str


def register(r: Registry) -> None:
    """Registers the names of element types and what is asked of them."""
    for name, d in DTYPES.items():
        r.value(f"jax.numpy.{name}", d)
    for name, target in _OTHER_NAMES.items():
        r.value(f"jax.numpy.{name}", DTYPES[target])
    r.value("jax.float0", External("jax.float0"))
    r.calls[DType] = converted
    r.attribute(DType)(dtype_attribute)
    r.attribute(TypeInfo)(_info_attribute)
    _functions(r)


def converted(m: Any, d: DType, call: Call) -> Value:
    """`jnp.float32(x)`: the value in that type."""
    if len(call.args) > 1 or call.kwargs or call.open:
        return m.unknown(f"{d.name} of values that are not known", *call.args, site=call.site)
    if not call.args:
        return Array((), d, layout=Splat())

    def convert(x: Value) -> Value:
        a = as_array(m, x)
        return Array(a.shape, as_jax_dtype(m, d, d), layout=a.layout, index=a.index if d.name == "int32" else None)

    return m.lift(convert, call.args[0])


# -- attributes ------------------------------------------------------------------------------------


def dtype_attribute(m: Any, v: DType, name: str, site: Site) -> Value:
    """An attribute of a known element type."""
    if name in ("name", "__name__"):
        return v.name
    if name == "itemsize":
        return Int(max(1, v.bits // 8))
    if name in ("dtype", "type"):
        return v
    if name == "kind":
        return _kind(v)
    return NO_ATTRIBUTE


def _kind(v: DType) -> Value:
    """NumPy's letter; types that NumPy does not know itself are "V"."""
    if v.bits < 8 or v.name.startswith(("float8", "bfloat")):
        return "V"
    return {"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}.get(v.family, "V")


def itemsize(d: ElementType) -> Dim | None:
    """Bytes of an element as NumPy counts them: at least one."""
    bits = element_bits(d)
    return None if bits is None else dims.maximum(1, dims.floordiv(bits, 8))


def _info_attribute(m: Any, v: TypeInfo, name: str, site: Site) -> Value:
    if name == "bits":
        bits = element_bits(v.dtype)
        return (
            Int(bits)
            if bits is not None
            else m.unknown("bits of an element type that is not known", v.dtype, site=site)
        )
    if name == "dtype":
        return v.dtype
    if v.kind == "float" and name in (
        "max",
        "min",
        "eps",
        "tiny",
        "smallest_normal",
        "resolution",
        "smallest_subnormal",
    ):
        return Array((), v.dtype, layout=Splat())
    if v.kind == "int" and name in ("max", "min"):
        return _integer_limit(m, v.dtype, name)
    return NO_ATTRIBUTE


def _integer_limit(m: Any, d: ElementType, name: str) -> Value:
    if not (isinstance(d, DType) and d.is_integer):
        return m.unknown("a limit of an element type that is not known", d)
    signed = d.family == "int"
    if name == "min":
        return Int(-(1 << (d.bits - 1)) if signed else 0)
    return Int((1 << (d.bits - signed)) - 1)


# -- functions -------------------------------------------------------------------------------------


def _functions(r: Registry) -> None:
    @r.function("jax.numpy.dtype jax.dtypes.canonicalize_dtype", "dtype")
    def dtype(m: Any, call: Call, dtype: Value) -> Value:
        if isinstance(dtype, Builtin):
            return m.unknown("the NumPy type of a Python type", site=call.site)
        return as_dtype(m, dtype)

    @r.function("jax.numpy.finfo jax.dtypes.finfo", "dtype")
    def finfo(m: Any, call: Call, dtype: Value) -> Value:
        return TypeInfo(as_dtype(m, dtype), "float")

    @r.function("jax.numpy.iinfo jax.dtypes.iinfo", "int_type")
    def iinfo(m: Any, call: Call, int_type: Value) -> Value:
        return TypeInfo(as_dtype(m, int_type), "int")

    @r.function("jax.numpy.issubdtype jax.dtypes.issubdtype", "arg1, arg2")
    def issubdtype(m: Any, call: Call, arg1: Value, arg2: Value) -> Value:
        return decided(m, is_subtype(m, as_dtype(m, arg1), arg2))

    @r.function("jax.numpy.isdtype", "dtype, kind")
    def isdtype(m: Any, call: Call, dtype: Value, kind: Value) -> Value:
        kinds = kind if type(kind) is tuple else (kind,)
        d = as_dtype(m, dtype)
        return decided(m, conds.any_of([_is_kind(m, d, k) for k in kinds]))

    @r.function("jax.numpy.promote_types", "a, b")
    def promote_types(m: Any, call: Call, a: Value, b: Value) -> Value:
        arrays = [Array((), as_dtype(m, x)) for x in (a, b)]
        return result_type(m, arrays)[0]

    @r.raw("jax.numpy.result_type")
    def result_type_(m: Any, call: Call) -> Value:
        return m.lift(lambda *args: _result_type(m, args), *call.args)

    @r.function(
        "jax.dtypes.bit_width jax.dtypes.itemsize_bits jax._src.dtypes.bit_width jax._src.dtypes.itemsize_bits", "dtype"
    )
    def bit_width(m: Any, call: Call, dtype: Value) -> Value:
        d = known_type(m, as_dtype(m, dtype))
        bits = element_bits(d)
        if bits is None or (isinstance(d, DType) and d.family == "bool"):
            return m.unknown("bits of an element type that is not known", dtype, site=call.site)
        return Int(bits)


def _result_type(m: Any, args: tuple[Value, ...]) -> Value:
    arrays = [Array((), as_dtype(m, x)) if isinstance(x, (DType, str, Builtin)) else as_array(m, x) for x in args]
    return result_type(m, arrays)[0] if arrays else m.unknown("the result type of nothing")


#: What JAX's abstract types take in, by their last name.
_FAMILIES: dict[str, tuple[str, ...]] = {
    "floating": ("float",),
    "integer": ("int", "uint"),
    "signedinteger": ("int",),
    "unsignedinteger": ("uint",),
    "complexfloating": ("complex",),
    "inexact": ("float", "complex"),
    "number": ("int", "uint", "float", "complex"),
    "generic": ("bool", "int", "uint", "float", "complex", "key"),
    "prng_key": ("key",),
}


def is_subtype(m: Any, d: ElementType, of: Value) -> Cond:
    """`jnp.issubdtype(d, of)`."""
    d = known_type(m, d)
    if isinstance(of, External):
        family = of.name.rpartition(".")[2]
        if family not in _FAMILIES or isinstance(d, Unknown):
            return m.fresh_condition()
        return d.family in _FAMILIES[family] if isinstance(d, DType) else conds.Truth(f"{d.name} is {family}")
    other = as_dtype(m, of) if isinstance(of, (DType, str, Opaque)) else of
    if isinstance(d, DType) and isinstance(other, DType):
        return d == other
    if isinstance(d, Opaque) and isinstance(other, DType):
        return conds.Same(d.name, other)
    return m.fresh_condition()


_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}


def _is_kind(m: Any, d: ElementType, kind: Value) -> Cond:
    d = known_type(m, d)
    if isinstance(kind, str) and kind in _KINDS and isinstance(d, DType):
        return d.family in _KINDS[kind]
    if isinstance(kind, DType) and isinstance(d, DType):
        return d == kind
    return m.fresh_condition()
