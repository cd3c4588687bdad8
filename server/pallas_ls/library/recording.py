"""Call facts: what a library function was given, on which path, in which kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..domain.fact import CallFact
from ..domain.python import Builtin, Call, DictCell, ListCell, SetCell, Value
from ..source.span import Site
from .dataflow import computed
from .registry import Arguments, Signature, by_case

#: What a call returns, from its arguments by parameter.
Model = Callable[[Any, Call, Arguments], Value]


def snapshot(v: Value) -> Value:
    """A list, dict or set as it is now: rules look at it when the program has gone on, or its writes are undone."""
    if isinstance(v, (ListCell, DictCell, SetCell)):
        items = v.slots.get("items")
        if type(items) is tuple:
            items = tuple(snapshot(x) for x in items)
        elif isinstance(items, dict):
            items = {k: (key, snapshot(x)) for k, (key, x) in items.items()}
        return type(v)({**v.slots, "items": items})
    return tuple(snapshot(x) for x in v) if type(v) is tuple else v


def _snapshots(operands: Mapping[str, Value]) -> Mapping[str, Value]:
    cells = (ListCell, DictCell, SetCell, tuple)
    if not any(isinstance(v, cells) for v in operands.values()):
        return operands
    return {k: snapshot(v) for k, v in operands.items()}


def record(
    m: Any, api: str, site: Site, operands: Mapping[str, Value], result: Value, sites: Mapping[str, Site] | None = None
) -> None:
    """Records a call that has no signature to check (a subscript, an attribute)."""
    m.record(
        CallFact(
            api,
            site,
            _snapshots(operands),
            result,
            sites or {},
            m.path.guards,
            m.path.facts,
            m.launch,
            m.chain,
            m.stack,
            caught=m.caught,
            names=m.names(),
            operations=m.operations,
            row=m.row,
        )
    )


def record_call(m: Any, api: str, call: Call, arguments: Arguments, result: Value) -> None:
    """Records a call with its arguments by parameter, and what of them does not fit the signature."""
    m.record(
        CallFact(
            api,
            call.site,
            _snapshots(arguments.values),
            result,
            arguments.sites,
            m.path.guards,
            m.path.facts,
            m.launch,
            m.chain,
            m.stack,
            arguments.missing,
            arguments.excess,
            arguments.open,
            m.caught,
            m.names(),
            m.operations,
            m.row,
            len(call.args),
            tuple(call.kwargs),
        )
    )


def recorded(name: str, api: str, signature: str, model: Model | None, older: str | None = None) -> Builtin:
    """A function whose every call is kept as a fact, those that do not fit the signature included.

    Attributes:
      name: its full name; api: the short one that facts carry.
      model: what it returns (None: nothing); it runs only where no required argument is missing.
      older: the signature of an earlier release, for calls that fit only that.
    """
    newest, before = Signature.parse(signature), Signature.parse(older) if older is not None else None
    return Builtin(name, lambda m, call: run_recorded(m, api, bind(newest, before, call), call, model))


def bind(newest: Signature, before: Signature | None, call: Call) -> Arguments:
    """Arguments by parameter. What a call for an earlier release gives is taken as that release takes it; that it
    does not fit the newest stays told."""
    arguments = newest.bind(call)
    if before is None or arguments.fits:
        return arguments
    earlier = before.bind(call)
    if not earlier.fits:
        return arguments
    return replace(arguments, values={**arguments.values, **earlier.values}, sites=earlier.sites, given=earlier.given)


def run_recorded(m: Any, api: str, arguments: Arguments, call: Call, model: Model | None) -> Value:
    """Runs a model for each case of the arguments, and records each."""

    def one(values: dict[str, Value]) -> Value:
        mine = replace(arguments, values=values)
        if arguments.lacking:
            result: Value = m.unknown(f"{api} called with arguments that do not fit", site=call.site)
        else:
            m.calling.append(call.site)
            try:
                result = computed(m, api, values, call.site, model(m, call, mine) if model else None)
            finally:
                m.calling.pop()
        record_call(m, api, call, mine, result)
        return result

    return by_case(m, arguments.values, one, lists=True)
