"""Fixes of axis names and of the receiving block's index."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..domain.array import Array
from ..domain.ref import Launch
from .candidate import Candidate, Repair, some, together


def cluster_axis(repair: Repair) -> Iterator[Candidate]:
    """The closest cluster axis, or the kernel's only one."""
    names = _names(repair.view.fact.launch, ("cluster_names",))
    yield from _renamed(repair, "cluster_dim", names)


def collective_axis(repair: Repair) -> Iterator[Candidate]:
    """The closest cluster axis for a copy, or the kernel's only one."""
    yield from _renamed(repair, "collective_axes", _names(repair.view.fact.launch, ("cluster_names",)))


def unknown_axis(repair: Repair) -> Iterator[Candidate]:
    """The closest axis of the mesh, where no store goes along the axis named; a cluster with this axis."""
    launch = repair.view.fact.launch
    axis = repair.view.value("axis_name")
    if not any(f.launch is not None and f.operands.get("cluster_dim") == axis for f in repair.facts):
        yield from _renamed(repair, "axis_name", _names(launch, ("cluster_names", "grid_names", "thread_name")))
    yield from _cluster_of_two(repair)


def _renamed(repair: Repair, operand: str, names: list[str]) -> Iterator[Candidate]:
    given, site = repair.view.value(operand), repair.view.site(operand)
    close = difflib.get_close_matches(given, names, len(names), 0.0) if isinstance(given, str) and names else names
    for name in close[:2]:
        edits = repair.replace(site, f'"{name}"')
        if edits:
            yield Candidate(f'Use the axis "{name}"', False, edits)


def _names(launch: Launch | None, groups: tuple[str, ...]) -> list[str]:
    out: list[str] = []
    for group in groups:
        found = getattr(launch, group, None)
        rows = found if isinstance(found, tuple) else (found,)
        out += [n for n in rows if isinstance(n, str)]
    return out


def no_cluster(repair: Repair) -> Iterator[Candidate]:
    """A cluster for a kernel that has none: two blocks along the axis that the call names."""
    yield from _cluster_of_two(repair)


def _cluster_of_two(repair: Repair) -> Iterator[Candidate]:
    launch = repair.view.fact.launch
    axis = repair.view.value("cluster_dim") or repair.view.value("axis_name")
    if launch is None or launch.made is None or launch.cluster != () or not isinstance(axis, str):
        return
    args = launch.made.args
    texts = {"cluster": "(2,)", "cluster_names": f'("{axis}",)'}
    groups = [
        some(repair.replace(args[n], t) if n in args else repair.add_argument(launch.made.site, f"{n}={t}"))
        for n, t in texts.items()
    ]
    if "cluster" not in args and "cluster_names" not in args:
        groups = [some(repair.add_argument(launch.made.site, f'cluster=(2,), cluster_names=("{axis}",)'))]
    edits = together(*groups)
    if edits:
        yield Candidate(f'Run the kernel in clusters of two blocks along "{axis}"', False, edits)


def cluster_index(repair: Repair) -> Iterator[Candidate]:
    """An integer in place of a float, the first element of an array."""
    index, site = repair.view.value("cluster_idx"), repair.view.site("cluster_idx")
    if isinstance(index, float) and index.is_integer():
        source = repair.source(site) or ""
        edits = repair.replace(site, str(int(index))) if _is_number(source) else repair.wrap(site, "int(", ")")
        yield Candidate(f"Use the integer {int(index)}", True, edits)
    if isinstance(index, Array) and isinstance(index.shape, tuple) and index.shape:
        yield from _element(repair)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _element(repair: Repair) -> Iterator[Candidate]:
    """The block beside this one, where two form a cluster along the axis."""
    launch, axis = repair.view.fact.launch, repair.view.value("cluster_dim")
    if launch is None or not isinstance(axis, str) or not isinstance(launch.cluster_names, tuple):
        return
    edits = repair.replace(repair.view.site("cluster_idx"), "0")
    if edits:
        yield Candidate("Send to the first block (cluster_idx=0)", False, edits)
