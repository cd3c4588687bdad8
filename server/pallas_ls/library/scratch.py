"""Types of buffers turned into the references that a body receives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..domain.array import Array, ShapeDtype
from ..domain.python import Alike, Choice, DictCell, ListCell, Opaque, Partial, Unknown, Value
from ..domain.ref import Ref, RefType
from .convert import as_array


def as_ref(m: Any, t: Value, name: str) -> Value:
    """A reference to a buffer of this type; structures of types give structures of references."""
    if isinstance(t, Choice):
        return m.lift(lambda x: as_ref(m, x, name), t)
    if isinstance(t, RefType):
        return Ref(t, t.shape, t.dtype, (), name)
    if isinstance(t, (ShapeDtype, Array)):
        return gmem_ref(t.shape, t.dtype, name)
    if type(t) is tuple:
        return tuple(as_ref(m, x, f"{name}[{i}]") for i, x in enumerate(t))
    if isinstance(t, Alike):
        return replace(t, element=as_ref(m, t.element, f"{name}[...]"))
    if isinstance(t, ListCell):
        items = m.select(t.slots["items"])
        return ListCell({"items": as_ref(m, items, name) if isinstance(items, (tuple, Alike)) else items})
    if isinstance(t, DictCell):
        return DictCell({"items": _dict_of_refs(m, t.slots["items"], name)})
    if t is None:
        return None
    if isinstance(t, Opaque) and t.hint in ("", "array"):
        x = as_array(m, t)
        return gmem_ref(x.shape, x.dtype, name)
    return m.unknown("a reference to a buffer of a type that is not known", t)


def _dict_of_refs(m: Any, items: Value, name: str) -> Value:
    def each(rows: Value) -> Value:
        if not isinstance(rows, dict):
            return m.unknown("buffers of a type that is not known", rows)
        return {k: (key, as_ref(m, t, f"{name}[{k!r}]")) for k, (key, t) in rows.items()}

    return m.lift(each, items)


def gmem_ref(shape: Any, dtype: Any, name: str) -> Ref:
    """A reference to an operand of a kernel."""
    return Ref(RefType("data", "gmem", shape, dtype), shape, dtype, (), name)


def operand_refs(m: Any, v: Value, name: str) -> Value:
    """References to the arrays of an operand (a pytree of them)."""
    if isinstance(v, (Ref, type(None))):
        return v
    if isinstance(v, (Array, ShapeDtype)):
        return gmem_ref(v.shape, v.dtype, name)
    if isinstance(v, Opaque):
        x = as_array(m, v)
        return gmem_ref(x.shape, x.dtype, name)
    if type(v) is tuple:
        return tuple(operand_refs(m, x, f"{name}[{i}]") for i, x in enumerate(v))
    if isinstance(v, Alike):
        return replace(v, element=operand_refs(m, v.element, f"{name}[...]"))
    if isinstance(v, (ListCell, DictCell)):
        items = m.select(v.slots["items"])
        if type(items) is tuple:
            return ListCell({"items": operand_refs(m, items, name)})
        if isinstance(items, dict):
            rows = {k: (key, operand_refs(m, x, f"{name}[{k!r}]")) for k, (key, x) in items.items()}
            return DictCell({"items": rows})
    unknown = m.unknown("an operand that is not known", v)
    return gmem_ref(unknown, unknown, name)


def parameter_names(f: Value, count: int) -> list[str]:
    """Names for the references given to a body by position: those of its parameters where they are known."""
    code = getattr(f, "code", None)
    skip = 0
    while isinstance(f, Partial):
        skip += len(f.args)
        f = f.function
        code = getattr(f, "code", None)
    names = [p.name for p in code.parameters if p.kind in ("positional", "normal")] if code else []
    names = names[skip:]
    return [names[i] if i < len(names) else f"ref{i}" for i in range(count)]


def positional_count(f: Value) -> int | None:
    """How many positional arguments a body takes; None where that is open."""
    bound = 0
    named: set[str] = set()
    while isinstance(f, Partial):
        bound += len(f.args)
        named |= set(f.kwargs)
        f = f.function
    code = getattr(f, "code", None)
    if code is None or any(p.kind == "*" for p in code.parameters):
        return None
    taken = [p for p in code.parameters if p.kind in ("positional", "normal") and p.name not in named]
    return len(taken) - bound


def described(m: Any, t: Value) -> Value:
    """A type of outputs, its parameters that stand for arrays (`out_type=x`) as the arrays that they are."""
    if isinstance(t, Opaque) and t.hint in ("", "array"):
        return as_array(m, t)
    if type(t) is tuple:
        return tuple(described(m, x) for x in t)
    if isinstance(t, ListCell) and type(items := m.select(t.slots["items"])) is tuple:
        return ListCell({"items": described(m, items)})
    return t


def result_of(m: Any, t: Value) -> Value:
    """The array that a kernel returns for an output type (a pytree of them)."""
    if isinstance(t, (ShapeDtype, RefType)):
        return Array(t.shape, t.dtype)
    if isinstance(t, Array):
        return t
    if isinstance(t, Opaque) and t.hint in ("", "array"):
        return as_array(m, t)
    if type(t) is tuple:
        return tuple(result_of(m, x) for x in t)
    if isinstance(t, Alike):
        return replace(t, element=result_of(m, t.element))
    if isinstance(t, (ListCell, DictCell)):
        items = m.select(t.slots["items"])
        if type(items) is tuple:
            return ListCell({"items": result_of(m, items)})
        if isinstance(items, dict):
            return DictCell({"items": {k: (key, result_of(m, x)) for k, (key, x) in items.items()}})
    return None if t is None else Unknown("an output of a type that is not known")
