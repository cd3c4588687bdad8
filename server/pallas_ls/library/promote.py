"""JAX's type promotion: the element type of an operation on operands of several types.

Mirrors `jax._src.dtypes._type_promotion_lattice` (standard promotion, without x64): the result is the least type
above all operands. The
weak types of Python scalars are nodes of the lattice, named "int*", "float*" and "complex*".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from ..domain.array import Array, ElementType
from ..domain.dtype import DTYPES, DType, canonical
from ..domain.python import Opaque, Unknown

_SMALL_FLOATS = tuple(n for n in DTYPES if n.startswith(("float8_", "float4_")))
_ABOVE: dict[str, tuple[str, ...]] = {
    "bool": ("int*",),
    "int*": ("uint8", "uint2", "uint4", "int8", "int2", "int4"),
    "uint2": (),
    "uint4": (),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int32", "uint64"),
    "uint64": ("float*",),
    "int2": (),
    "int4": (),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("float*",),
    "float*": (*_SMALL_FLOATS, "bfloat16", "float16", "complex*"),
    **dict.fromkeys(_SMALL_FLOATS, ()),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "complex*": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}
_WEAK = {"int": "int*", "uint": "int*", "float": "float*", "complex": "complex*"}
_DEFAULT = {"int*": "int32", "float*": "float32", "complex*": "complex64"}


@cache
def _upper(node: str) -> frozenset[str]:
    return frozenset((node,)).union(*(_upper(n) for n in _ABOVE[node]))


def _node(d: DType, weak: bool) -> str:
    return _WEAK.get(d.family, d.name) if weak else d.name


@lru_cache(maxsize=1 << 12)
def _join(nodes: frozenset[str]) -> str | None:
    common = frozenset.intersection(*(_upper(n) for n in nodes))
    least = [n for n in common if common <= _upper(n)]
    return least[0] if len(least) == 1 else None


def promoted(operands: Iterable[tuple[DType, bool]]) -> tuple[DType, bool] | None:
    """The common type of (type, weak) operands, and whether it is weak; None where JAX refuses to promote them."""
    rows = list(operands)
    all_weak = all(weak for _, weak in rows)
    if len({d for d, _ in rows}) == 1:
        return rows[0][0], all_weak and rows[0][0].family != "bool"
    found = _join(frozenset(_node(d, weak and not all_weak) for d, weak in rows))
    if found is None:
        return None
    d = canonical(DTYPES[_DEFAULT.get(found, found)])
    return d, (all_weak or found in _DEFAULT) and d.family != "bool"


def result_type(m: Any, arrays: Iterable[Array]) -> tuple[ElementType, bool]:
    """The element type of an operation on arrays; unknown where an operand's type is, unless all are the same."""
    rows = [(known_type(m, a.dtype), a.weak) for a in arrays]
    if all(isinstance(d, DType) for d, _ in rows):
        found = promoted([(d, weak) for d, weak in rows if isinstance(d, DType)])
        return found if found is not None else (Unknown("element types that JAX does not promote"), False)
    first = rows[0][0]
    rest = {d for d, _ in rows if not (isinstance(d, DType) and d.family == "bool")}
    if len(rest) == 1 and not any(weak for d, weak in rows if isinstance(d, DType)):
        only = rest.pop()
        if isinstance(only, Opaque):
            return only, False
    unknown = next((d for d, _ in rows if not isinstance(d, DType)), first)
    return m.unknown("the element type of operands that are not known", unknown), False


def known_type(m: Any, d: ElementType) -> ElementType:
    """The type that a named one is known to be on this path."""
    if isinstance(d, Opaque):
        known = m.path.facts.values.get(d.name)
        return known if isinstance(known, DType) else d
    return d
