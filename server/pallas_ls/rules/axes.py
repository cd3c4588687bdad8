"""Rules about axis names."""

from __future__ import annotations

from ..domain.finding import JaxError
from ..domain.ref import Launch
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView


def unknown_axis(v: CallView) -> Answer:
    """`lax.axis_index` of a name that no mesh around it declares."""
    launch = v.fact.launch
    name = v.value("axis_name")
    if launch is None or not isinstance(name, str):
        return Unsure("the axis or the kernel is not known")
    names = _axis_names(launch)
    if names is None:
        return Unsure("the kernel's axes are not known")
    if name in names or launch.warp:
        return None
    if v.target.mapped:
        return Unsure("a mesh around the kernel (jax.shard_map) may have this axis")
    jax = JaxError(
        "NameError", f"Found an unbound axis name: {name}. To fix this, please call axis_index under `jax.shard_map`."
    )
    listed = ", ".join(map(repr, names)) if names else "none"
    notes = (Note(launch.made.site, "the kernel's mesh"),) if launch.made else ()
    return Problem(
        f"The kernel has no axis {name!r}; its axes are: {listed} (grid_names=, cluster_names=, thread_name=).",
        jax,
        v.site("axis_name"),
        notes,
    )


def _axis_names(launch: Launch) -> list[str] | None:
    names: list[str] = []
    for group in (launch.grid_names, launch.cluster_names, (launch.thread_name,)):
        if not isinstance(group, tuple):
            return None
        for n in group:
            if n is None:
                continue
            if not isinstance(n, str):
                return None
            names.append(n)
    return names


RULES = (
    Rule(
        "unknown-axis",
        "An axis name is one of the kernel's mesh.",
        ("lax.axis_index",),
        10,
        unknown_axis,
        "jax/_src/core.py, axis_frame",
        "`jax.lax.axis_index(name)` asks for the position along an axis of the grid (`grid_names`), of the cluster "
        "(`cluster_names`) or among the "
        "warpgroups (`thread_name`). A name that none of them declares is unbound, unless the kernel is called under "
        "`jax.shard_map` with a mesh that has it.",
    ),
)
