"""`dataclasses.replace` of plgpu's objects: barriers, block specs, parameters, what a loop tells its body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..domain.python import Builtin, Call, Value
from ..domain.ref import BlockSpec, CompilerParams, RefType
from .convert import as_shape
from .pipelines import block_extents
from .registry import Registry

#: An object with other fields; None where they are not its own.
Replacer = Callable[[Any, Any, Mapping[str, Value]], Value]


def register(r: Registry, replacers: Mapping[type, Replacer]) -> None:
    """Puts what replaces fields of these types before Python's own classes."""
    python: Builtin = r.names["dataclasses.replace"]

    def one(m: Any, call: Call, v: Value) -> Value:
        replacer = replacers.get(type(v))
        if replacer is None or len(call.args) != 1 or call.open:
            return python.run(m, Call(call.site, (v, *call.args[1:]), call.kwargs, (), {}, call.open))
        return replacer(m, v, call.kwargs)

    def model(m: Any, call: Call) -> Value:
        if not call.args:
            return python.run(m, call)
        return m.lift(lambda v: one(m, call, v), call.args[0])

    for name in ("dataclasses.replace", "copy.replace"):
        r.raw(name)(model)


def of_type(m: Any, v: RefType, changes: Mapping[str, Value]) -> Value:
    """A barrier with other counts."""
    shape = as_shape(m, changes["num_barriers"]) if "num_barriers" in changes else v.shape
    return replace(v, shape=shape, params={**v.params, **changes})


def of_spec(m: Any, v: BlockSpec, changes: Mapping[str, Value]) -> Value:
    """A block spec with another block, map or transforms."""
    shape, index_map = v.shape, changes.get("index_map", v.index_map)
    if changes.get("block_shape") is not None:
        shape = block_extents(m, changes["block_shape"])
    transforms = v.transforms
    if "transforms" in changes:
        items = m.program.items.iterate(m, changes["transforms"])
        transforms = tuple(items) if items is not None else m.unknown("transforms that are not known")
    kept = {k: x for k, x in changes.items() if k not in ("index_map", "transforms")}
    return replace(v, shape=shape, index_map=index_map, transforms=transforms, params={**v.params, **kept})


def of_params(m: Any, v: CompilerParams, changes: Mapping[str, Value]) -> Value:
    """Compiler parameters with some of them changed."""
    return replace(v, params={**v.params, **changes})
