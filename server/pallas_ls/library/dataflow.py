"""Who computed an array: every array that a kernel computes remembers the operation and its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..domain.array import Array, Operation
from ..domain.fact import CallFact
from ..domain.python import Call, Choice, Value
from ..source.span import Site


def computed(m: Any, name: str, operands: Mapping[str, Value], site: Site, result: Value) -> Value:
    """The result of an operation, which remembers it where a kernel is running.

    A function made of others keeps the inner operations; one that gives an operand back computes nothing.
    """
    if m.launch is None:
        return result
    operation = Operation(name, operands, site, result, m.launch.warp)
    m.operations.append(operation)
    return _by(operation, result)


def _by(operation: Operation, result: Value) -> Value:
    if isinstance(result, Choice):
        yes, no = _by(operation, result.yes), _by(operation, result.no)
        return result if yes is result.yes and no is result.no else Choice(result.cond, yes, no)
    if not isinstance(result, Array):
        return result
    given = [v for v in operation.operands.values() if isinstance(v, Array)]
    if any(v is result for v in given):
        return result
    if result.by is not None and all(v.by is not result.by for v in given):
        return result
    return replace(result, by=operation)


def noted(
    m: Any, name: str, call: Call, sites: Mapping[str, Site], operands: Mapping[str, Value], run: Callable[[], Value]
) -> Value:
    """Runs a model of JAX inside a kernel, where JAX traces every call, and keeps the call as a fact.

    What models call in turn is theirs: JAX may do it in another way.
    """
    inner = call.site in m.calling
    m.calling.append(call.site)
    try:
        result = computed(m, name, operands, call.site, run())
    finally:
        m.calling.pop()
    if not inner:
        path = m.path
        m.record(
            CallFact(
                name,
                call.site,
                operands,
                result,
                sites,
                path.guards,
                path.facts,
                m.launch,
                m.chain,
                m.stack,
                caught=m.caught,
                operations=m.operations,
                row=m.row,
            )
        )
    return result
