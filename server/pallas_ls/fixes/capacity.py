"""Fixes of kernels that ask for too much: memory, barriers, axes of a cluster."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..domain.python import Int
from ..rules.capacity import SMEM_LIMIT, Part
from ..rules.memory import MOST_BARRIERS, footprint_of
from ..rules.mesh import MOST_CLUSTER_AXES, launch_of
from .candidate import Candidate, Repair, some, together
from .literals import set_number, set_shape
from .text import parsed

Make = Callable[[Repair], Iterator[Candidate]]
#: How often a buffer is halved at most.
HALVINGS = 4
#: The alignment of a buffer, which its size is rounded up to.
ALIGNMENT = 1024


def smaller(repair: Repair) -> Iterator[Candidate]:
    """The largest buffer with fewer rows, halved until the kernel fits."""
    f = footprint_of(repair.view)
    total = repair.view.simplify(f.total) if f is not None else None
    parts = [p for p in f.usage.parts if _bytes(repair, p)] if f is not None else []
    if not isinstance(total, int) or not parts:
        return
    part = max(parts, key=lambda p: _bytes(repair, p))
    size, t = _bytes(repair, part), part.type
    shape = repair.view.exact_shape(t.shape) if t is not None else None
    if t is None or not shape or part.scope.kind.startswith("emit_pipeline"):
        return
    for i in range(1, HALVINGS + 1):
        if total - size + (size >> i) > SMEM_LIMIT or size % (ALIGNMENT << i):
            continue
        for axis in _axes(shape, 1 << i):
            new = tuple(n >> i if a == axis else n for a, n in enumerate(shape))
            edits = set_shape(repair, t.shape, new)
            if edits:
                yield Candidate(f"Give {part.name} the shape {new}", False, edits, "shrink")
        return


def _axes(shape: tuple[int, ...], parts: int) -> list[int]:
    """Axes that can be cut, of a tile rows first."""
    rank = len(shape)
    return [a for a in (rank - 2, rank - 1, *range(rank - 2)) if 0 <= a < rank and shape[a] % parts == 0]


def _bytes(repair: Repair, part: Part) -> int:
    n = repair.view.simplify(part.bytes)
    return n if isinstance(n, int) else 0


def barriers(repair: Repair) -> Iterator[Candidate]:
    """As many barriers as an entry has, or stages as it has barriers."""
    f = footprint_of(repair.view)
    for part in (*f.usage.parts, *f.usage.others) if f is not None else ():
        n = repair.view.simplify(part.barriers)
        if not isinstance(n, int) or n <= MOST_BARRIERS:
            continue
        given = part.type.params.get("num_barriers") if part.type is not None else None
        made = part.scope.made
        stages = _stages(repair, part) if part.scope.kind.startswith("emit_pipeline") and made is not None else None
        number = given if isinstance(given, Int) else stages
        edits = set_number(repair, number, MOST_BARRIERS) if isinstance(number, Int) else None
        if edits:
            what = "stages" if stages is not None else "barriers"
            yield Candidate(f"Use {MOST_BARRIERS} {what}", False, edits)
        return


def _stages(repair: Repair, part: Part) -> Int | None:
    """`max_concurrent_steps` of the pipeline that allocates."""
    made = part.scope.made
    facts = repair.made_by(made.site) if made is not None else []
    steps = [f.operands.get("max_concurrent_steps") for f in facts]
    return next((s for s in steps if isinstance(s, Int)), None)


def fewer_axes(repair: Repair) -> Iterator[Candidate]:
    """A cluster without axes of one block that nothing asks for."""
    launch = launch_of(repair.view)
    sites = [repair.view.site("cluster"), repair.view.site("cluster_names")]
    if launch is None or not isinstance(launch.cluster, tuple) or not isinstance(launch.cluster_names, tuple):
        return
    sizes = [repair.view.exact(n) for n in launch.cluster]
    names = [n for n in launch.cluster_names if isinstance(n, str)]
    used = {x for f in repair.facts if f.launch is not None for x in f.operands.values() if isinstance(x, str)}
    spare = [i for i, n in enumerate(sizes) if n == 1 and i < len(names) and names[i] not in used]
    dropped = spare[: len(sizes) - MOST_CLUSTER_AXES]
    if len(names) != len(sizes) or len(sizes) - len(dropped) > MOST_CLUSTER_AXES:
        return
    edits = together(
        *(some(repair.replace(site, text)) if (text := _kept(repair.source(site), dropped)) else None for site in sites)
    )
    if edits:
        yield Candidate(f"Leave {' and '.join(repr(names[i]) for i in dropped)} away: one block", True, edits)


def _kept(text: str | None, dropped: list[int]) -> str | None:
    """A tuple written out, without some of its elements."""
    node = parsed(text) if text is not None else None
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    kept = [ast.unparse(e) for i, e in enumerate(node.elts) if i not in dropped]
    return f"({', '.join(kept)}{',' if len(kept) == 1 else ''})"


FIXES: dict[str, tuple[Make, ...]] = {
    "barrier-count": (barriers,),
    "cluster-rank": (fewer_axes,),
}
