"""Extents that a call implies: JAX takes it only where its operands fit each other.

Source: mosaic_gpu/primitives.py, the checks of each primitive ("Expected source shape to be ...", "Incompatible shapes
for matrix multiplication"). For answers to a person only: what is wrong with a call is judged by what is known of its
operands without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..domain.array import Array, ShapeDtype
from ..domain.fact import CallFact
from ..domain.python import Unknown, Value
from ..domain.ref import Ref

#: Pairs of operands of one shape and one element type.
_ALIKE: Mapping[str, tuple[str, str]] = {
    "async_load_tmem": ("src", "result"),
    "async_store_tmem": ("ref", "value"),
    "copy_gmem_to_smem": ("src", "dst"),
    "copy_smem_to_gmem": ("src", "dst"),
    "layout_cast": ("x", "result"),
    "load": ("src", "result"),
    "wgmma_accumulator_load": ("acc", "result"),
}
#: `acc[m, n] += a[m, k] @ b[k, n]`.
_PRODUCTS = ("mma", "tcgen05_mma", "wgmma")
_EXTENTS = {"acc": "mn", "a": "mk", "b": "kn"}
#: Operands under which the shapes of the others differ: part of the data goes to another block.
_SPREADING = ("collective_axes", "leader_tracked", "collective_axis", "idx", "reduce")

#: Whether an extent can be told.
Known = Callable[[Value], bool]


def completed(fact: CallFact, known: Known) -> Mapping[str, Value]:
    """The operands and the result of a call, with the extents that its other operands imply."""
    given = {**fact.operands, "result": fact.result}
    if any(given.get(name) not in (None, ()) for name in _SPREADING):
        return given
    if fact.api in _ALIKE:
        a, b = _ALIKE[fact.api]
        return {**given, a: _like(given.get(a), given.get(b), known), b: _like(given.get(b), given.get(a), known)}
    if fact.api in _PRODUCTS:
        return {**given, **_product(given, known)}
    return given


def _shape(v: Value) -> tuple[Value, ...] | None:
    shape = v.shape if isinstance(v, (Array, Ref, ShapeDtype)) else None
    return shape if isinstance(shape, tuple) else None


def _like(v: Value, other: Value, known: Known) -> Value:
    """A value of which less is known than of another one of its shape."""
    shape = _shape(other)
    return v if shape is None else _filled(v, shape, getattr(other, "dtype", None), known)


def _product(given: Mapping[str, Value], known: Known) -> dict[str, Value]:
    extents: dict[str, Value] = {}
    for name, letters in _EXTENTS.items():
        shape = _shape(given.get(name))
        if shape is not None and len(shape) == 2:
            extents |= {x: e for x, e in zip(letters, shape, strict=True) if known(e) and x not in extents}
    out: dict[str, Value] = {}
    for name, letters in _EXTENTS.items():
        shape = tuple(extents.get(x, Unknown("an extent that is not known")) for x in letters)
        if any(x in extents for x in letters):
            out[name] = _filled(given.get(name), shape, Unknown("an element type that is not known"), known)
    return out


def _filled(v: Value, shape: tuple[Value, ...], dtype: Value, known: Known) -> Value:
    """A value with the extents of `shape` in the place of those that are not known."""
    if isinstance(v, (Array, Ref)):
        mine = _shape(v)
        if mine is None:
            return replace(v, shape=shape)
        if len(mine) != len(shape) or all(map(known, mine)):
            return v
        return replace(v, shape=tuple(b if not known(a) and known(b) else a for a, b in zip(mine, shape, strict=True)))
    if isinstance(v, Unknown):
        return ShapeDtype(shape, dtype)
    return v
