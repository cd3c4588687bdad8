"""Attributes of entry parameters: `x.shape`, `x.dtype`, `config.tile_m`, known by name."""

from __future__ import annotations

from typing import Any

from ..domain import dim as dims
from ..domain.dtype import DType
from ..domain.python import Bound, Int, Opaque, Value
from ..source.span import Site
from .convert import as_array, shape_of_opaque
from .jnp_array import ARRAY, ndim
from .jnp_dtype import dtype_attribute, itemsize
from .promote import known_type
from .registry import NO_ATTRIBUTE, Registry

#: Attributes that only arrays have, and what they give is no view of a reference: safe for a parameter without
#: annotation.
_OF_ANY_ARRAY = ("astype",)


def register(r: Registry) -> None:
    """Registers the attributes of parameters."""
    r.attribute(Opaque)(attribute)


def attribute(m: Any, v: Opaque, name: str, site: Site) -> Value:
    """`v.name`: an array's attribute where `v` is one, else a part of the parameter under its own name."""
    if v.hint == "dtype":
        found = _of_dtype(m, v, name, site)
    elif v.hint == "array":
        found = _of_array(m, v, name, site)
    elif v.hint in ("int", "float", "str", "bool"):
        found = NO_ATTRIBUTE
    else:
        found = _of_any(m, v, name, site)
    if found is NO_ATTRIBUTE:
        return (
            m.unknown(f"{v.name}.{name}", v, site=site)
            if v.hint in ("int", "float", "str", "bool")
            else Opaque(f"{v.name}.{name}")
        )
    return found


def _of_any(m: Any, v: Opaque, name: str, site: Site) -> Value:
    """What every array, reference and struct has; everything else keeps its name."""
    if name == "shape":
        return shape_of_opaque(m, v)
    if name == "dtype":
        return known_type(m, Opaque(f"{v.name}.dtype", "dtype"))
    if name == "ndim":
        return ndim(m, shape_of_opaque(m, v))
    if name == "itemsize" and v.name.endswith("dtype"):
        return _of_dtype(m, v, name, site)
    if name in _OF_ANY_ARRAY and not v.hint:
        found = ARRAY.find(name)
        return Bound(as_array(m, v), found) if found is not None else NO_ATTRIBUTE
    return NO_ATTRIBUTE


def _of_array(m: Any, v: Opaque, name: str, site: Site) -> Value:
    found = m.program.library.registry.attributes[type(as_array(m, v))](m, as_array(m, v), name, site)
    return _of_any(m, v, name, site) if found is NO_ATTRIBUTE else found


def _of_dtype(m: Any, v: Opaque, name: str, site: Site) -> Value:
    known = known_type(m, v)
    if isinstance(known, DType):
        return dtype_attribute(m, known, name, site)
    if name == "itemsize":
        size = itemsize(v)
        return Int(size if size is not None else dims.symbol(f"{v.name}.itemsize", low=1))
    if name in ("dtype", "type"):
        return v
    if name == "name":
        return Opaque(f"{v.name}.name", "str")
    return NO_ATTRIBUTE
