"""Call facts: what a library function was given, on which path, in which kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain.fact import CallFact
from ..domain.python import Call, Value
from ..source.span import Site
from .registry import Arguments


def record(
    m: Any, api: str, site: Site, operands: Mapping[str, Value], result: Value, sites: Mapping[str, Site] | None = None
) -> None:
    """Records a call that has no signature to check (a subscript, an attribute)."""
    m.record(
        CallFact(
            api,
            site,
            operands,
            result,
            sites or {},
            m.path.guards,
            m.path.facts,
            m.launch,
            m.chain,
            m.stack,
            caught=m.caught,
            operations=m.operations,
        )
    )


def record_call(m: Any, api: str, call: Call, arguments: Arguments, result: Value) -> None:
    """Records a call with its arguments by parameter, and what of them does not fit the signature."""
    m.record(
        CallFact(
            api,
            call.site,
            arguments.values,
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
            m.operations,
        )
    )
