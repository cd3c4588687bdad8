"""Fixes of kernels, what they allocate, and pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..domain.python import Int, Value
from ..domain.ref import BlockSpec, Launch, RefType
from ..rules.allocation import types_of
from ..rules.kernel_call import RENAMED
from ..rules.memory import fitting_stages, footprint_of
from ..rules.mesh import WARPGROUP, launch_of
from ..rules.pipeline import specs_of
from ..source.span import Site, Span
from .call_text import keyword
from .candidate import Candidate, Edits, Repair, some, together
from .literals import set_number

Make = Callable[[Repair], Iterator[Candidate]]


def _offer(title: str, safe: bool, edits: Edits) -> Iterator[Candidate]:
    if edits:
        yield Candidate(title, safe, edits)


# -- keywords --------------------------------------------------------------------------------------


def rename(repair: Repair) -> Iterator[Candidate]:
    """`out_shape` and `scratch_shapes` by their present names, both at once."""
    call = repair.locate(repair.view.fact.site)
    if call is None:
        return
    words = {old: found[0] for old in RENAMED if (found := keyword(repair.text(call), old)) is not None}
    edits = tuple(
        repair.edit(Span(call.path, call.start + w.start, call.start + w.end), RENAMED[old]) for old, w in words.items()
    )
    title = " and ".join(f"{old} to {RENAMED[old]}" for old in words)
    yield from _offer(f"Rename {title}", True, edits)


def kernel_name(repair: Repair) -> Iterator[Candidate]:
    """`name=` is `kernel_name=`; any other unknown keyword is left away."""
    call = repair.locate(repair.view.fact.site)
    found = keyword(repair.text(call), "name") if call is not None else None
    if call is not None and found is not None and "name" in repair.view.fact.arg_sites:
        span = Span(call.path, call.start + found[0].start, call.start + found[0].end)
        yield from _offer("Rename name to kernel_name", True, (repair.edit(span, "kernel_name"),))
    yield from _without(repair, repair.view.fact.site, repair.violation.problem.at, False)


def without(safe: bool) -> Make:
    """The call without the argument at fault."""

    def make(repair: Repair) -> Iterator[Candidate]:
        yield from _without(repair, repair.view.fact.site, repair.violation.problem.at, safe)

    return make


def _without(repair: Repair, call: Site, argument: Site | None, safe: bool) -> Iterator[Candidate]:
    edits = repair.remove_argument(call, argument)
    text = repair.text(edits[0].span).strip(", \n") if edits else ""
    name = text.partition("=")[0].strip() if "=" in text else "the argument"
    yield from _offer(f"Remove {name}", safe, edits)


def params_without(repair: Repair) -> Iterator[Candidate]:
    """`CompilerParams` without the keyword at fault."""
    params = repair.view.value("compiler_params")
    made = getattr(params, "made", None)
    if made is not None:
        yield from _without(repair, made.site, repair.violation.problem.at, True)


def spec_without(name: str, safe: bool) -> Make:
    """The spec at fault without a keyword."""

    def make(repair: Repair) -> Iterator[Candidate]:
        for group in ("in_specs", "out_specs"):
            for s in specs_of(repair.view.value(group)) or ():
                made = s.made if isinstance(s, BlockSpec) else None
                if made is not None and made.args.get(name) == repair.violation.problem.at:
                    yield from _without(repair, made.site, made.args.get(name), safe)
                    return

    return make


# -- mesh ------------------------------------------------------------------------------------------


def axis_names(axis: str) -> Make:
    """Names for the axes that have none; or the names that have an axis."""

    def make(repair: Repair) -> Iterator[Candidate]:
        launch = launch_of(repair.view)
        sizes = getattr(launch, axis, None)
        names = getattr(launch, f"{axis}_names", None)
        if launch is None or not isinstance(sizes, tuple) or not isinstance(names, tuple):
            return
        if not all(isinstance(n, str) for n in names):
            return
        wanted = [*names[: len(sizes)], *_new_names(launch, len(sizes) - len(names))]
        text = f"({', '.join(map(_quoted, wanted))}{',' if len(wanted) == 1 else ''})"
        site = repair.view.site(f"{axis}_names")
        if site is not None:
            edits = some(repair.replace(site, text))
        else:
            edits = some(repair.add_argument(repair.view.fact.site, f"{axis}_names={text}"))
        yield from _offer(f"Use {axis}_names={text}", len(names) < len(sizes), edits)

    return make


def _quoted(name: Value) -> str:
    return f'"{name}"'


def _new_names(launch: Launch, count: int) -> list[str]:
    """Names that no axis has."""
    groups = (launch.grid_names, launch.cluster_names, (launch.thread_name,))
    taken = {n for group in groups if isinstance(group, tuple) for n in group}
    free = [f"axis{i}" for i in range(16) if f"axis{i}" not in taken]
    return free[: max(count, 0)]


def thread_name(repair: Repair) -> Iterator[Candidate]:
    """A name for the threads."""
    launch = launch_of(repair.view)
    if launch is not None and launch.thread_name is None:
        edits = some(repair.add_argument(repair.view.fact.site, 'thread_name="wg"'))
        yield from _offer('Add thread_name="wg"', True, edits)
    elif launch is not None:
        yield from _without(repair, repair.view.fact.site, repair.view.site("thread_name"), False)


def thread_count(repair: Repair) -> Iterator[Candidate]:
    """CUDA threads counted as warpgroups."""
    launch = launch_of(repair.view)
    n = launch.num_threads if launch is not None else None
    exact = repair.view.exact(n)
    if isinstance(n, Int) and exact is not None and exact % WARPGROUP == 0:
        count = exact // WARPGROUP
        yield from _offer(f"Use num_threads={count}", False, set_number(repair, n, count))


# -- what is allocated -----------------------------------------------------------------------------


def listed(repair: Repair) -> Iterator[Candidate]:
    """A list around the only type."""
    site = repair.view.site("scratch_types") or repair.view.site("scratch_shapes")
    kernel = repair.view.value("kernel")
    if kernel is not None and isinstance(kernel.scratch, RefType):
        yield from _offer("Put the scratch type in a list", True, some(repair.wrap(site, "[", "]")))


def smem(repair: Repair) -> Iterator[Candidate]:
    """`plgpu.SMEM` in place of another type's constructor."""
    site = repair.violation.problem.at
    source = repair.source(site)
    if source is None or not source.endswith(")") or "(" not in source:
        return
    near = [t.made.site for t in types_of(repair.view) if t.made is not None and t.made.site != site]
    new = repair.spelled("SMEM", *near[:1]) + source[source.index("(") :]
    yield from _offer(f"Use {new[: new.index('(')]}", False, some(repair.replace(site, new)))


def collective_axes(repair: Repair) -> Iterator[Candidate]:
    """The threads' axis, where they allocate together."""
    launch = repair.view.fact.launch
    name = launch.thread_name if launch is not None else None
    site = repair.view.site("collective_axes")
    if not isinstance(name, str):
        yield from _without(repair, repair.view.fact.site, site, True)
    elif site is not None:
        yield from _offer(f'Use collective_axes="{name}"', False, some(repair.replace(site, f'"{name}"')))
    else:
        edits = some(repair.add_argument(repair.view.fact.site, f'collective_axes="{name}"'))
        yield from _offer(f'Add collective_axes="{name}"', True, edits)


def accumulator_alone(repair: Repair) -> Iterator[Candidate]:
    """The accumulator without collective_axes, where nothing else is allocated with it."""
    if repair.view.fact.api == "pl.run_scoped" and all(t.kind == "acc" for t in types_of(repair.view)):
        yield from _without(repair, repair.view.fact.site, repair.view.site("collective_axes"), True)


def barrier_axis(repair: Repair) -> Iterator[Candidate]:
    """The cluster's only axis."""
    launch = repair.view.fact.launch
    names = launch.cluster_names if launch is not None else None
    for name in names if isinstance(names, tuple) else ():
        if isinstance(name, str):
            edits = some(repair.replace(repair.violation.problem.at, f'("{name}",)'))
            yield from _offer(f'Use collective_axes=("{name}",)', False, edits)


def packing(repair: Repair) -> Iterator[Candidate]:
    """Both ways to hold a narrow type."""
    fact = repair.view.fact
    if repair.view.value("layout") is not None:
        yield from _without(repair, fact.site, repair.view.site("packed"), True)
        return
    for packed, what in ((True, "an operand"), (False, "an accumulator")):
        edits = some(repair.add_argument(fact.site, f"packed={packed}"))
        yield from _offer(f"Add packed={packed}, as for {what} of tcgen05_mma", False, edits)


def all_collective(repair: Repair) -> Iterator[Candidate]:
    """collective=True for every buffer in tensor memory."""
    f = footprint_of(repair.view)
    parts = [p for p in (*f.usage.parts, *f.usage.others) if p.columns != 0] if f is not None else []
    odd = [
        p.type.made.site for p in parts if p.type is not None and p.type.made and not p.type.params.get("collective")
    ]
    edits = together(*(some(repair.add_argument(site, "collective=True")) for site in dict.fromkeys(odd)))
    yield from _offer("Add collective=True", False, edits)


def fewer_stages(repair: Repair) -> Iterator[Candidate]:
    """The most stages that fit."""
    f = footprint_of(repair.view)
    found = fitting_stages(repair.view, f) if f is not None else None
    if found is None or found[1] < 1:
        return
    scope, count, _ = found
    depth = next((_first(p.type) for p in f.usage.parts if p.scope is scope and p.bytes != 0), None) if f else None
    if isinstance(depth, Int):
        yield from _offer(f"Use {count} stage{'' if count == 1 else 's'}", False, set_number(repair, depth, count))


def _first(t: RefType | None) -> Value:
    return t.shape[0] if t is not None and isinstance(t.shape, tuple) and t.shape else None


def deeper(repair: Repair) -> Iterator[Candidate]:
    """As many stages as the delay asks for."""
    view = repair.view
    steps = view.value("max_concurrent_steps")
    delays = [
        s.params.get("delay_release", Int(0))
        for s in specs_of(view.value("in_specs")) or ()
        if isinstance(s, BlockSpec)
    ]
    known = [n for d in delays if (n := view.exact(d)) is not None]
    if len(known) != len(delays):
        return
    wanted = max(known, default=0) + 1
    if view.site("max_concurrent_steps") is None:
        edits = some(repair.add_argument(view.fact.site, f"max_concurrent_steps={wanted}"))
    else:
        edits = set_number(repair, steps, wanted) if isinstance(steps, Int) else None
    yield from _offer(f"Use max_concurrent_steps={wanted}", False, edits)
