"""Fixes of tensor memory: its shape, who allocates it, how it is loaded and stored to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..domain.array import Array
from ..domain.python import Int
from ..domain.ref import Ds, Indexed, Launch, Position, Ref, RefType
from ..domain.target import Semantics
from ..rules.capacity import TMEM_LIMIT, Part
from ..rules.memory import footprint_of
from ..rules.mesh import launch_of
from ..rules.tmem import HALF, HALF_STEP, LANES
from ..source.span import Site, Span
from .arguments import kernel_of, scratch_of
from .candidate import Candidate, Edits, Repair, some, together
from .literals import set_number, set_shape
from .text import assigned, called, subscript, whole

Make = Callable[[Repair], Iterator[Candidate]]

# -- allocation ------------------------------------------------------------------------------------


def shape(repair: Repair) -> Iterator[Candidate]:
    """All lanes or half of them; columns in the steps that these are allocated in."""
    t = repair.view.fact.result
    old = repair.view.exact_shape(t.shape) if isinstance(t, RefType) else None
    if old is None or not isinstance(t, RefType):
        return
    if len(old) == 1:
        yield from _one_column(repair, old[0])
    if len(old) != 2:
        return
    for rows in _rows(old[0]):
        step = HALF_STEP if rows == HALF else 1
        new = (rows, -(-old[1] // step) * step)
        edits = set_shape(repair, t.shape, new)
        if edits:
            yield Candidate(f"Give the tensor memory the shape {new}", False, edits)


def _rows(old: int) -> tuple[int, ...]:
    """The numbers of rows to try: as many or more, nearest first; of too many all lanes."""
    return (HALF, LANES) if old <= HALF else (LANES,)


def _one_column(repair: Repair, lanes: int) -> Iterator[Candidate]:
    """A value for each lane: one column."""
    source = (repair.source(repair.view.site("shape")) or "").strip()
    if lanes in (HALF, LANES) and source.startswith("(") and source.rstrip(") ").endswith(","):
        edits = repair.replace(repair.view.site("shape"), f"{source.rstrip(') ').rstrip(',')}, 1)")
        yield Candidate("Take one column of tensor memory", False, edits)


def pair_of_blocks(repair: Repair) -> Iterator[Candidate]:
    """A cluster of two blocks, which allocate together; tensor memory for one block alone."""
    launch = launch_of(repair.view) or repair.view.fact.launch
    edits = cluster_of_two(repair, launch)
    if edits:
        yield Candidate("Launch clusters of two blocks", False, edits)
    yield from _alone(repair)


def cluster_of_two(repair: Repair, launch: Launch | None) -> Edits:
    """Edits that make the last axis of a kernel's cluster two blocks long."""
    made = launch.made if launch is not None else None
    if launch is None or made is None:
        return None
    if launch.cluster == () and not {"cluster", "cluster_names"} & made.args.keys():
        return some(repair.add_argument(made.site, 'cluster=(2,), cluster_names=("cluster",)'))
    last = launch.cluster[-1] if isinstance(launch.cluster, tuple) and launch.cluster else None
    return set_number(repair, last, 2) if isinstance(last, Int) else None


def _alone(repair: Repair) -> Iterator[Candidate]:
    """No buffer in tensor memory is allocated for two blocks."""
    f = footprint_of(repair.view)
    parts = (*f.usage.parts, *f.usage.others) if f is not None else ()
    made = [p.type.made for p in parts if p.type is not None and p.type.params.get("collective") is True]
    groups = [
        some(repair.remove_argument(m.site, m.args.get("collective"))) for m in {m.site: m for m in made if m}.values()
    ]
    edits = together(*groups)
    if edits:
        yield Candidate("Allocate tensor memory for each block alone (without collective)", False, edits)


def together_with(repair: Repair) -> Iterator[Candidate]:
    """A cluster of two blocks for what they do together, with tensor memory that both allocate."""
    launch = repair.view.fact.launch
    edits = cluster_of_two(repair, launch)
    if not edits:
        return
    if repair.view.semantics is Semantics.LANE or not _has_memory(repair):
        yield Candidate("Launch clusters of two blocks", False, edits)
    kernel = kernel_of(repair)
    types = [t for _, t in scratch_of(kernel) if isinstance(t, RefType)] if kernel is not None else []
    odd = {t.made.site for t in types if t.space == "tmem" and t.made and t.params.get("collective") is not True}
    both = together(edits, *(some(repair.add_argument(site, "collective=True")) for site in odd))
    if both and odd:
        yield Candidate("Launch clusters of two blocks, which allocate tensor memory together", False, both)


def _has_memory(repair: Repair) -> bool:
    """Whether the kernel allocates tensor memory for each block alone, which Warpgroup semantics refuses beside what
    two blocks do together."""
    kernel = kernel_of(repair)
    types = [t for _, t in scratch_of(kernel)] if kernel is not None else []
    return any(isinstance(t, RefType) and t.space == "tmem" and t.params.get("collective") is not True for t in types)


def fewer_columns(repair: Repair) -> Iterator[Candidate]:
    """One buffer with fewer columns, the largest first: halved until all of them fit."""
    f = footprint_of(repair.view)
    parts = [p for p in f.usage.parts if _columns(repair, p)] if f is not None else []
    total = sum(_columns(repair, p) for p in parts)
    for part in sorted(parts, key=lambda p: -_columns(repair, p))[:2]:
        t, most = part.type, _columns(repair, part)
        extents = repair.view.exact_shape(t.shape) if t is not None else None
        fitting = next((n for n in (most >> i for i in range(1, 5)) if total - most + n <= TMEM_LIMIT), 0)
        if t is None or not extents or not fitting or extents[-1] * fitting % most:
            continue
        new = (*extents[:-1], extents[-1] * fitting // most)
        edits = set_shape(repair, t.shape, new)
        if edits:
            yield Candidate(f"Give {part.name} {new[-1]} columns", False, edits)


def _columns(repair: Repair, part: Part) -> int:
    n = repair.view.simplify(part.columns)
    return n if isinstance(n, int) else 0


# -- loads and stores ------------------------------------------------------------------------------


def all_rows(repair: Repair) -> Iterator[Candidate]:
    """All of the lanes, where some or one of them are picked."""
    name = "src" if repair.view.fact.api == "async_load_tmem" else "ref"
    ref = repair.view.value(name)
    view = ref.views[0] if isinstance(ref, Ref) and len(ref.views) == 1 else None
    if not isinstance(view, Indexed) or not isinstance(view.items, tuple) or view.made is None:
        return
    if not view.items or not isinstance(view.items[0], Ds | Position) or _is_indexed(repair, repair.view.fact.site):
        return
    found = subscript(repair.source(view.made.site) or "")
    if found is None:
        return
    base, items = found
    rest = [":", *items[1:]]
    while rest and rest[-1] == ":":
        rest.pop()
    whole = f"{base}[{', '.join(rest)}]" if rest else base.removesuffix(".at")
    edits = repair.replace(view.made.site, whole)
    if edits:
        yield Candidate(f"Take all rows of {base.removesuffix('.at')}", False, edits)


def _is_indexed(repair: Repair, load: Site) -> bool:
    """Whether elements are picked from what is loaded, which no layout of tensor memory allows."""
    return any(
        o.name == "getitem" and any(isinstance(x, Array) and x.by is not None and x.by.site == load for x in values)
        for o in repair.view.fact.operations
        if (values := tuple(o.operands.values()))
    )


def other_memory(repair: Repair) -> Iterator[Candidate]:
    """The load or store for shared and global memory."""
    name = repair.view.fact.api.removeprefix("async_").removesuffix("_tmem")
    edits = called(repair, repair.view.fact.site, repair.spelled(name, repair.view.fact.site))
    if edits:
        yield Candidate(f"Use {name}: this is not tensor memory", True, edits)


def asynchronous(repair: Repair) -> Iterator[Candidate]:
    """The load or store of tensor memory, completed at once."""
    fact = repair.view.fact
    if fact.api in ("load", "ref.get"):
        yield from loaded(repair)
    else:
        yield from _stored(repair)


def loaded(repair: Repair) -> Iterator[Candidate]:
    """A load behind a wait of the kernel: without one it would read what is still being computed."""
    fact = repair.view.fact
    mine = [f for f in repair.facts if f.launch is fact.launch]
    written = any(f.api == "tcgen05_mma" for f in mine)
    if written and not any(f.api == "barrier_wait" for f in mine):
        return
    site = repair.violation.problem.at or fact.site
    if _is_indexed(repair, site):
        return
    load = view_function(repair, "async_load_tmem")
    name = whole(repair.source(site) or "")
    if name is not None:
        edits = repair.replace(site, f"{load}({name})")
    else:
        edits = called(repair, site, load)
    if edits:
        yield Candidate("Load it with async_load_tmem", False, edits)


def view_function(repair: Repair, name: str) -> str:
    """A function of plgpu as the file writes it, by the calls that are known of it."""
    made = repair.view.fact.launch.made if repair.view.fact.launch is not None else None
    return repair.spelled(name, made.site if made is not None else None)


def _stored(repair: Repair) -> Iterator[Candidate]:
    """`ref[...] = x` as a store that is committed before anything reads the memory."""
    site = repair.view.fact.site
    start, value = repair.locate(site), assigned(repair, site)
    name = whole(repair.source(site) or "")
    if repair.view.fact.api != "ref.set" or start is None or value is None or name is None:
        return
    indent = repair.line_before(start)
    if indent.strip():
        return
    store, commit = view_function(repair, "async_store_tmem"), view_function(repair, "commit_tmem")
    new = f"{store}({name}, {repair.text(value)}){repair.line_break(start.path)}{indent}{commit}()"
    edit = repair.edit(Span(start.path, start.start, value.end), new)
    yield Candidate("Store it with async_store_tmem, and commit", False, (edit,))


# -- copies ----------------------------------------------------------------------------------------


def copied(repair: Repair) -> Iterator[Candidate]:
    """Tensor memory of the element type and shape that is copied, packed."""
    source, target = repair.view.value("smem_ref"), repair.view.value("tmem_ref")
    if not isinstance(source, Ref) or not isinstance(target, Ref) or target.views or target.type.made is None:
        return
    made, wanted = target.type.made, source.type.made
    dtype = repair.source(wanted.args.get("dtype")) if wanted is not None else None
    new = repair.view.exact_shape(source.shape)
    if dtype is None or new is None or "packed" in made.args:
        return
    groups = [repair.replace(made.args.get("dtype"), dtype), set_shape(repair, target.shape, new)]
    narrow = getattr(source.dtype, "bits", 32) < 32
    groups.append(some(repair.add_argument(made.site, "packed=True")) if narrow else ())
    edits = together(*groups)
    if edits:
        yield Candidate(f"Allocate {target.name or 'it'} as {source.dtype}{list(new)}", False, edits)


FIXES: dict[str, tuple[Make, ...]] = {
    "tmem-shape": (shape,),
    "tmem-cluster": (pair_of_blocks,),
    "tmem-capacity": (fewer_columns,),
    "tmem-view": (all_rows,),
    "tmem-space": (other_memory,),
    "tmem-synchronous": (asynchronous,),
    "tmem-synchronous-load": (loaded,),
    "tmem-copy-type": (copied,),
    "tcgen05-cluster": (together_with,),
}
