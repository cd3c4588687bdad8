"""Checks written by hand that certainly refuse a call: a `raise` or `assert` that runs with the arguments given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePath

from ..domain.cond import Cond, Not, Truth
from ..domain.fact import Raise
from ..domain.finding import Finding, Related, Severity
from ..evaluate.control import takes_any
from ..source.span import Site, Span
from .examples import PREFIX

CODE = "raises"
Locate = Callable[[Site], Span | None]
Text = Callable[[Span], str]
Line = Callable[[Span], int]


def refusals(raises: Iterable[Raise], locate: Locate, text: Text, line: Line) -> list[Finding]:
    """A finding at each call that certainly ends in a `raise` or a failing `assert`."""
    found = {(r.chain[0], r.site): r for r in raises if is_certain(r)}
    return [f for r in found.values() if (f := _finding(r, locate, text, line)) is not None]


def is_certain(r: Raise) -> bool:
    """Whether a call of known arguments ends here, and nobody takes or expects the exception."""
    return (
        r.deliberate
        and bool(r.chain)
        and r.site is not None
        and all(_is_granted(c) for c in r.guards)
        and not takes_any(r.caught, r)
    )


def _is_granted(c: Cond) -> bool:
    """That a loop runs at all is taken for granted."""
    inner = c.cond if isinstance(c, Not) else c
    return isinstance(inner, Truth) and inner.name.startswith(("?loop", "?traced"))


def _finding(r: Raise, locate: Locate, text: Text, line: Line) -> Finding | None:
    span, where = locate(r.chain[0]), locate(r.site) if r.site is not None else None
    if span is None or where is None:
        return None
    severity = Severity.WARNING if r.chain[0].chunk.startswith(PREFIX) else Severity.ERROR
    said = r.message or _statement(text(where), r.name)
    place = f"{PurePath(where.path).name}:{line(where)}"
    message = f"{_callee(text(span))} raises here: {said} ({place})"
    return Finding(CODE, severity, span, message, None, (Related(where, f"{r.name} is raised here"),))


def _callee(call: str) -> str:
    """What is called, as the program writes it; "this" where that is no name."""
    head = call.split("(", maxsplit=1)[0].strip()
    return head.rpartition(".")[2] if head.replace(".", "").isidentifier() else "this"


def _statement(code: str, name: str) -> str:
    """What is said where the program says nothing itself."""
    return " ".join(code.split()) if code.startswith("assert") else name
