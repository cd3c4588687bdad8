"""How the shapes at a line came about, step by step."""

from __future__ import annotations

from collections.abc import Callable

from ..domain import cond as conds
from ..domain.array import Shape
from ..domain.fact import CallFact
from ..domain.facts import Facts
from ..domain.python import Int, Opaque, Origin, Unknown, Value
from ..source.span import Site, Span
from .describe import describe, dim_text
from .report import Step

Locate = Callable[[Site], Span | None]

_DEPTH = 6


def explain_fact(fact: CallFact, locate: Locate) -> Step:
    """One call: each operand, and where its numbers come from."""
    steps: list[Step] = []
    for name, v in (*fact.operands.items(), ("result", fact.result)):
        text = describe(v, fact.facts)
        if text is None and not isinstance(v, (Int, Opaque)):
            continue
        site = fact.arg_sites.get(name)
        span = locate(site) if site is not None else None
        if text is None:
            text = dim_text(fact.facts.simplify(v.dim)) if isinstance(v, Int) else f"{v.name}, a parameter"
        steps.append(Step(f"{name}: {text}", span, tuple(_numbers(v, fact.facts, locate))))
    guards = _guards(fact)
    title = f"{fact.api}{guards}"
    return Step(title, locate(fact.site), tuple(steps))


def _guards(fact: CallFact) -> str:
    shown = [conds.text(g) for g in fact.guards]
    shown = [s for s in shown if "?" not in s]
    return f" where {' and '.join(shown)}" if shown else ""


def _numbers(v: Value, facts: Facts, locate: Locate) -> list[Step]:
    if isinstance(v, Int):
        return [step for step in [_origin_step(v, facts, locate)] if step is not None]
    shape: Shape | None = getattr(v, "shape", None)
    if isinstance(shape, tuple):
        return [s for e in shape for s in [_extent_step(e, facts, locate)] if s is not None]
    if isinstance(shape, (Unknown, Opaque)):
        return [_lost(shape, locate)]
    if isinstance(v, (Unknown, Opaque)):
        return [_lost(v, locate)]
    return []


def _extent_step(e: Value, facts: Facts, locate: Locate) -> Step | None:
    return _origin_step(e, facts, locate) if isinstance(e, Int) else _lost(e, locate)


def _origin_step(n: Int, facts: Facts, locate: Locate) -> Step | None:
    if n.origin is None:
        return None
    return _walk(dim_text(facts.simplify(n.dim)), n.origin, locate, _DEPTH)


def _walk(shown: str, o: Origin, locate: Locate, depth: int) -> Step:
    words = {"literal": "written", "parameter": "a parameter", "shape": "an extent of an argument"}
    how = o.how if o.how.startswith("not known") else f"computed ({o.how})"
    text = f"{shown}: {words.get(o.how, how)}"
    inner = tuple(_walk("from", i, locate, depth - 1) for i in o.inputs) if depth else ()
    return Step(text, locate(o.site), inner)


def _lost(v: Value, locate: Locate) -> Step:
    if isinstance(v, Opaque):
        hint = (
            f"{v.name} comes from the caller; what gives it: a call with known arguments, an annotation, or a comment "
            "`# pallas: example f(x: bf16[4096, 4096])` over the function"
        )
        return Step(hint)
    return Step(f"not known: {v.why}", locate(v.site) if v.site is not None else None)
