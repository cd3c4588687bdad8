"""What is shown over a call, an operand, a scratch type or a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..domain import dim as dims
from ..domain.array import Array, byte_count
from ..domain.fact import CallFact
from ..domain.python import Int, Value
from ..domain.ref import Ref, RefType
from ..library.plgpu import MODULE
from ..rules.view import origins
from ..source.span import Site, Span
from .describe import describe, remainder_text, size_text
from .report import Hover

Locate = Callable[[Site], Span | None]
Text = Callable[[Span], str]


#: What a kernel or pipeline does by itself; its call tells of it.
INNER = frozenset(("launch", "kernel.body", "kernel.memory", "pipeline.memory"))


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are in the present texts: a site's span, a span's text, a span in words."""

    locate: Locate
    text: Text
    words: Callable[[Span], str]


def hover_at(offset: int, path: str, facts: Iterable[CallFact], places: Places, context: Span | None) -> Hover | None:
    """The smallest thing around an offset that is known: an operand, then a call. `context`: the caller to speak of."""
    best: tuple[tuple[int, bool, bool, bool], CallFact, str | None, Span] | None = None
    for fact in facts:
        if fact.api in INNER:
            continue
        for name, site in ((None, fact.site), *fact.arg_sites.items()):
            span = places.locate(site)
            if span is None or span.path != path or not span.start <= offset <= span.end:
                continue
            if name is not None and describe(fact.operands.get(name), fact.facts) is None:
                continue
            rank = (span.end - span.start, *_rank(fact, places.locate, context))
            if best is None or rank < best[0]:
                best = (rank, fact, name, span)
    if best is None:
        return None
    _, fact, name, span = best
    if name is None:
        return Hover(span, call_markdown(fact, places.locate, places.words), _symbol(fact))
    return Hover(span, operand_markdown(name, fact, places.locate, places.words), None)


def _rank(fact: CallFact, locate: Locate, context: Span | None) -> tuple[bool, bool, bool]:
    """The picked caller first; a kernel that is launched tells more than its body alone; a general view more than one
    caller's."""
    picked = context is not None and bool(fact.chain) and locate(fact.chain[0]) == context
    return not picked, fact.launch is None, bool(fact.chain)


def _symbol(fact: CallFact) -> str | None:
    return None if "." in fact.api else f"{MODULE}.{fact.api}"


def call_markdown(fact: CallFact, locate: Locate, place: Callable[[Span], str]) -> str:
    """A call with its operands, the bytes it moves, and where the numbers come from."""
    lines = [f"**{fact.api}**" + _moves(fact)]
    for name, v in (*fact.operands.items(), ("result", fact.result)):
        shown = describe(v, fact.facts)
        if shown is not None and (name != "result" or v is not None):
            lines.append(f"- `{name}`: {literally(shown)}")
    lines += _sources([*fact.operands.values(), fact.result], locate, place)
    return "\n".join(lines)


def _moves(fact: CallFact) -> str:
    """The bytes that a transfer moves, and how they relate to 128."""
    if fact.api not in _TRANSFERS:
        return ""
    for name in ("src", "value", "ref", "dst"):
        v = fact.operands.get(name)
        n = byte_count(v.shape, v.dtype) if isinstance(v, (Array, Ref)) else None
        if n is not None:
            n = fact.facts.simplify(n)
            size = size_text(n, fact.facts)
            return f": {size if isinstance(n, int) else literally(size)} ({remainder_text(n, fact.facts)})"
    return ": size not known"


_TRANSFERS = frozenset(
    (
        "async_store_smem",
        "copy_gmem_to_smem",
        "copy_smem_to_gmem",
        "async_prefetch",
        "store",
        "load",
        "async_load_tmem",
        "async_store_tmem",
    )
)


def operand_markdown(name: str, fact: CallFact, locate: Locate, place: Callable[[Span], str]) -> str:
    """One operand."""
    v = fact.operands[name]
    lines = [f"`{name}` of {fact.api}: {literally(describe(v, fact.facts) or '')}"]
    if isinstance(v, (Array, Ref)):
        n = byte_count(v.shape, v.dtype)
        if n is not None and fact.api in _TRANSFERS:
            lines.append(f"- {remainder_text(n, fact.facts)}")
    lines += _sources([v], locate, place)
    return "\n".join(lines)


def _sources(values: list[Value], locate: Locate, place: Callable[[Span], str]) -> list[str]:
    """The literals behind the numbers, each with its place."""
    found: dict[Span, str] = {}
    for v in values:
        shape = getattr(v, "shape", None)
        for e in shape if isinstance(shape, tuple) else ():
            if isinstance(e, Int):
                for o in origins(e):
                    span = locate(o.site)
                    if span is not None:
                        found.setdefault(span, literally(dims.text(e.dim)))
    for v in values:
        made = v.type.made if isinstance(v, Ref) else v.made if isinstance(v, RefType) else None
        span = locate(made.site) if made is not None else None
        if span is not None and isinstance(v, Ref):
            found.setdefault(span, f"`{v.name}` is allocated")
    rows = [f"- {what} at {place(span)}" for span, what in list(found.items())[:8]]
    return ["", "From:", *rows] if rows else []


def literally(description: str) -> str:
    """A description as Markdown that shows it as it is: `float16[48, 64]` alone reads as a link and loses its brackets
    in some editors, and the stars of `128*rows*cols` as emphasis. Sentences stay text: they bring their own marks."""
    return description if "`" in description or description.startswith("not known") else f"`{description}`"
