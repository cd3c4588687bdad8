"""What values have in common that differ in too many cases to tell them apart: one extent that is not known leaves the
others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..domain.array import Array
from ..domain.python import Choice, Unknown, Value, same
from ..domain.ref import RefType

_WHY = "too many cases"


def common(a: Value, b: Value) -> Value:
    """A value that says of two only what is true of both; Unknown where that is nothing."""
    if isinstance(a, Choice):
        a = common(a.yes, a.no)
    if isinstance(b, Choice):
        b = common(b.yes, b.no)
    if same(a, b):
        return a
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        return tuple(common(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, RefType) and isinstance(b, RefType):
        return _of_types(a, b)
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(_shape(a.shape, b.shape), _same_or_unknown(a.dtype, b.dtype), a.weak, Unknown(_WHY))
    return Unknown(_WHY)


def _of_types(a: RefType, b: RefType) -> Value:
    if (a.kind, a.space) != (b.kind, b.space) or not same(a.members, b.members):
        return Unknown(_WHY)
    return replace(
        a,
        shape=_shape(a.shape, b.shape),
        dtype=_same_or_unknown(a.dtype, b.dtype),
        transforms=_same_or_unknown(a.transforms, b.transforms),
        params=_params(a.params, b.params),
    )


def _shape(a: Any, b: Any) -> Any:
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(_same_or_unknown(x, y) for x, y in zip(a, b, strict=True))
    return _same_or_unknown(a, b)


def _params(a: Mapping[str, Value], b: Mapping[str, Value]) -> Mapping[str, Value]:
    names = dict.fromkeys((*a, *b))
    return {k: _same_or_unknown(a[k], b[k]) if k in a and k in b else Unknown(_WHY) for k in names}


def _same_or_unknown(a: Any, b: Any) -> Any:
    return a if same(a, b) else Unknown(_WHY)
