"""Fixes of copies that gather rows, and of copies of other generations of GPUs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.ref import Gather, Indexed, Ref
from ..rules.copying.case import Kind
from ..rules.copying.read import kind_of, sides
from ..rules.rule import Unsure
from ..source.span import Span
from .candidate import Candidate, Repair
from .copies import transforms
from .store import pallas
from .text import parsed, statement, subscript
from .values import numpy

Make = Callable[[Repair], Iterator[Candidate]]


def conditional(repair: Repair) -> Iterator[Candidate]:
    """The call under `pl.when`, where a copy takes no predicate."""
    view = repair.view
    where, found = view.site("predicate"), statement(repair, view.fact.site)
    if where is None or found is None or view.value("predicate") is None:
        return
    span, indent = found
    predicate, removed = repair.source(where), repair.remove_argument(view.fact.site, where)
    if predicate is None or not removed:
        return
    end, step = repair.line_break(span.path), "\t" if "\t" in indent else "    "
    line = span.start - len(indent)
    head = f"{indent}@{pallas(repair)}when({predicate}){end}{indent}def _():{end}{step}"
    yield Candidate(
        "Put the copy under pl.when", True, (repair.edit(Span(span.path, line, line), head), *removed), local=True
    )


def unsigned(repair: Repair) -> Iterator[Candidate]:
    """Positions converted to unsigned integers."""
    ref = _operand(repair)
    view = next((x for x in ref.views if isinstance(x, Indexed)), None) if ref is not None else None
    positions = (
        [i.indices for i in view.items if isinstance(i, Gather)] if view and isinstance(view.items, tuple) else []
    )
    x = positions[0] if len(positions) == 1 else None
    if view is None or view.made is None or not isinstance(x, Array) or not isinstance(x.dtype, DType):
        return
    node = parsed(repair.source(view.made.site) or "")
    if x.dtype.family != "int" or not isinstance(node, ast.Subscript):
        return
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
    rest = [ast.unparse(e) for e in node.slice.elts[1:]] if isinstance(node.slice, ast.Tuple) else []
    if not isinstance(first, ast.Name):
        return
    index = ", ".join([f"{first.id}.astype({numpy(repair)}u{x.dtype.name})", *rest])
    edits = repair.replace(view.made.site, f"{ast.unparse(node.value)}[{index}]")
    yield Candidate("Convert the positions to unsigned integers", False, edits, local=True)


def _operand(repair: Repair) -> Ref | None:
    pair = sides(repair.view)
    return None if isinstance(pair, Unsure) else pair[0]


def alone(repair: Repair) -> Iterator[Candidate]:
    """Each block gathers for itself what they would have gathered together."""
    where = repair.view.site("collective_axes")
    edits = repair.remove_argument(repair.view.fact.site, where) if where is not None else ()
    if edits:
        yield Candidate("Let each block gather for itself", False, edits, local=True)


def prefetched_whole(repair: Repair) -> Iterator[Candidate]:
    """The operand prefetched whole; what is computed does not depend on it."""
    found = subscript(repair.source(repair.view.site("ref")) or "")
    if kind_of(repair.view) is Kind.PREFETCH and found is not None and found[0].endswith(".at"):
        edits = repair.replace(repair.view.site("ref"), found[0].removesuffix(".at"))
        yield Candidate("Prefetch all of it", False, edits)


#: Fixes that only some of a rule's violations have.
SOME: dict[str, tuple[Make, ...]] = {
    "copy-gather": (conditional, unsigned, alone, prefetched_whole, transforms),
    "copy-architecture": (conditional,),
}
