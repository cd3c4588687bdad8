"""Rules about a kernel's mesh: grid, cluster and threads with their names."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.finding import JaxError, Severity
from ..domain.python import Int, Opaque, Unknown, Value
from ..domain.ref import Kernel, Launch
from ..domain.target import JaxVersion
from ..source.span import Site
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView

CORE = "jax/_src/pallas/mosaic_gpu/core.py"
_MESH = f"{CORE}, Mesh.__post_init__"

#: CUDA threads of a Mosaic GPU thread, which is a warpgroup.
WARPGROUP = 128
#: JAX's limit of warpgroups in a block (2048 threads), and what a block can really hold (1024 threads).
MOST_THREADS, MOST_LAUNCHABLE = 16, 8
#: Blocks of a cluster that every GPU since Hopper can launch, and that any of them can.
PORTABLE_CLUSTER, LARGEST_CLUSTER = 8, 16
#: CUDA's limit of blocks along the y and z axes of a grid.
MOST_YZ = 65_535
MOST_CLUSTER_AXES = 3


def launch_of(v: CallView) -> Launch | None:
    """The mesh of the kernel that the call makes."""
    return v.fact.result.launch if isinstance(v.fact.result, Kernel) else None


def _names(axis: str) -> Any:
    """A check that `grid_names` or `cluster_names` has a name for each axis."""

    def check(v: CallView) -> Answer:
        launch = launch_of(v)
        if launch is None or v.fact.open:
            return Unsure("the kernel's keywords are not known")
        sizes, names = getattr(launch, axis), getattr(launch, f"{axis}_names")
        if not isinstance(sizes, tuple) or not isinstance(names, tuple):
            return _no_sequence(v, axis) or Unsure(f"{axis} or {axis}_names is not known")
        if len(sizes) == len(names):
            return None
        text = (
            f"{axis} has {_count(len(sizes), 'axis', 'axes')}, {axis}_names {_count(len(names), 'name', 'names')}: "
            f"{_listed(sizes)} and {_listed(names)}. {_missing(axis, len(sizes), len(names))}"
        )
        jax = JaxError("ValueError", f"{axis}_names must have the same length as {axis}, got {_mesh(launch)}.")
        at = v.site(f"{axis}_names") or v.site(axis)
        return Problem(text, jax, at, _notes(v, at, (axis, f"the {axis}'s extents")))

    return check


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}" if n else f"no {one}"


def _missing(axis: str, sizes: int, names: int) -> str:
    return "Give every axis a name; jax.lax.axis_index asks by it." if names < sizes else "Each name needs an extent."


def _no_sequence(v: CallView, axis: str) -> Answer:
    """A bare integer in place of the tuple of extents."""
    given = v.value(axis)
    if not isinstance(given, Int):
        return None
    n = dims.text(v.simplify(given.dim))
    text = f"{axis} is a tuple of extents, one for each axis: ({n},) for one axis of {n}."
    return Problem(text, JaxError("TypeError", "object of type 'int' has no len()"), v.site(axis))


def cluster_rank(v: CallView) -> Answer:
    """A cluster of more than three axes."""
    launch = launch_of(v)
    if launch is None or not isinstance(launch.cluster, tuple):
        return _no_sequence(v, "cluster") or Unsure("the cluster is not known")
    if len(launch.cluster) <= MOST_CLUSTER_AXES:
        return None
    text = f"cluster has {len(launch.cluster)} axes, {_listed(launch.cluster)}; CUDA's clusters have at most three."
    return Problem(
        text, JaxError("ValueError", f"cluster= must be at most 3D, got {_mesh(launch)}."), v.site("cluster")
    )


def threads_named(v: CallView) -> Answer:
    """`num_threads` without `thread_name`, or the other way round."""
    launch = launch_of(v)
    if launch is None or v.fact.open:
        return Unsure("the kernel's keywords are not known")
    count, name = _is_given(launch.num_threads), _is_given(launch.thread_name)
    if count is None or name is None:
        return Unsure("num_threads or thread_name is not known")
    if count == name:
        return None
    given, missing = ("num_threads", "thread_name") if count else ("thread_name", "num_threads")
    what = "the name by which jax.lax.axis_index asks for the warpgroup" if count else "the number of warpgroups"
    jax = JaxError(
        "ValueError", f"num_threads and thread_name must be either both set or both None, got {_mesh(launch)}"
    )
    return Problem(f"{given} is given without {missing}, {what}. Give both or none.", jax, v.site(given))


def _is_given(v: Value) -> bool | None:
    if v is None:
        return False
    return True if isinstance(v, (Int, str)) else None


def thread_count(v: CallView) -> Answer:
    """More warpgroups than JAX allows in a block."""
    launch = launch_of(v)
    n = launch.num_threads if launch is not None else None
    if n is None:
        return None
    if launch is None or not isinstance(n, Int):
        return Unsure("num_threads is not known")
    reserved = int(v.version >= JaxVersion(0, 12))  # of the 16 named barriers, one is the block's own
    fits = v.decide(conds.at_most(n.dim, MOST_THREADS - reserved))
    if fits is not False:
        return None if fits else Unsure("num_threads is not known")
    text, jax = _too_many(v, n, launch)
    return Problem(text, jax, v.site("num_threads"), cause=n)


def _too_many(v: CallView, n: Int, launch: Launch) -> tuple[str, JaxError]:
    shown = dims.text(v.simplify(n.dim))
    text = (
        f"num_threads={shown}: a Pallas thread is a warpgroup, {WARPGROUP} CUDA threads, "
        f"and a block holds {MOST_LAUNCHABLE} of them."
    )
    exact = v.exact(n)
    if exact is not None and exact > MOST_LAUNCHABLE and exact % WARPGROUP == 0:
        text += f" Are {exact // WARPGROUP} meant ({exact} CUDA threads)?"
    if v.decide(conds.at_most(n.dim, MOST_THREADS)) is True:
        return text, JaxError("ValueError", "Too many CTA barriers requested: 0 requested, but only -1 available")
    jax = (
        "Requested too many CUDA threads per block. Each Mosaic thread corresponds to 128 CUDA threads. "
        f"At most {MOST_THREADS} are supported, got {_mesh(launch)}"
    )
    return text, JaxError("ValueError", jax)


# -- what lowers and cannot be launched ------------------------------------------------------------


def launchable_threads(v: CallView) -> Answer:
    """More warpgroups than a block can hold, which JAX does not check."""
    launch = launch_of(v)
    n = launch.num_threads if launch is not None else None
    if not isinstance(n, Int) or v.decide(conds.at_most(n.dim, MOST_LAUNCHABLE)) is not False:
        return None
    shown = dims.text(v.simplify(n.dim))
    return Problem(
        f"num_threads={shown} warpgroups are {dims.text(v.simplify(dims.mul(n.dim, WARPGROUP)))} CUDA threads in a "
        f"block; a GPU launches at most 1,024, that is {MOST_LAUNCHABLE} warpgroups. JAX lowers this; the launch "
        "fails with CUDA_ERROR_INVALID_VALUE.",
        None,
        v.site("num_threads"),
    )


def launchable_cluster(v: CallView) -> Answer:
    """More blocks in a cluster than any GPU can launch."""
    launch = launch_of(v)
    sizes = _extents(launch.cluster) if launch is not None else None
    if sizes is None:
        return None
    total = dims.product(sizes)
    if v.decide(conds.at_most(total, LARGEST_CLUSTER)) is not False:
        return None
    return Problem(
        f"This cluster has {dims.text(v.simplify(total))} blocks. {PORTABLE_CLUSTER} is what every GPU since Hopper "
        f"launches, {LARGEST_CLUSTER} the most that any does. JAX lowers this; the launch fails.",
        None,
        v.site("cluster"),
    )


def launchable_grid(v: CallView) -> Answer:
    """A grid whose y or z axis is longer than CUDA allows.

    The last axis is CUDA's x, the one before it y; all others together are z (lowering.py, lower_jaxpr_to_module). The
    cluster multiplies them, its last axis x.
    """
    launch = launch_of(v)
    grid, cluster = (_extents(launch.grid), _extents(launch.cluster)) if launch is not None else (None, None)
    if grid is None or cluster is None:
        return None
    blocks = (1, 1, 1, *cluster)[-3:]
    axes = ((len(grid) - 2, blocks[1], "y"), (len(grid) - 3, blocks[0], "z"))
    for last, factor, letter in axes:
        own = grid[last : last + 1] if letter == "y" else grid[: last + 1]
        if last < 0:
            continue
        total = dims.mul(dims.product(own), factor)
        if v.decide(conds.at_most(total, MOST_YZ)) is False:
            return _too_long(v, launch, grid, letter, total)
    return None


def _too_long(v: CallView, launch: Launch | None, grid: tuple[dims.Dim, ...], letter: str, total: dims.Dim) -> Problem:
    names = list(launch.grid_names) if launch is not None and isinstance(launch.grid_names, tuple) else []
    long = f"Axis {names[-2]!r}" if letter == "y" and len(names) == len(grid) else "The leading axes together"
    n = v.simplify(total)
    shown = f"{n:,}" if isinstance(n, int) else dims.text(n)
    return Problem(
        f"{long}: {shown} blocks along CUDA's {letter}, which ends at {MOST_YZ:,}. The last grid axis is CUDA's x and "
        "may have 2,147,483,647: put the long axis last. JAX lowers this; the launch fails with "
        "CUDA_ERROR_INVALID_VALUE.",
        None,
        v.site("grid"),
    )


def duplicate_names(v: CallView) -> Answer:
    """An axis name that two axes of the mesh share."""
    launch = launch_of(v)
    if launch is None:
        return None
    seen: dict[str, str] = {}
    for group in ("grid_names", "cluster_names", "thread_name"):
        value = getattr(launch, group)
        for name in value if isinstance(value, tuple) else (value,):
            if not isinstance(name, str):
                continue
            if name in seen:
                where = group if seen[name] == group else f"{seen[name]} and {group}"
                return Problem(
                    f"The axis name {name!r} stands twice in {where}. JAX takes it, and "
                    f"jax.lax.axis_index({name!r}) then speaks of one of the two axes only.",
                    None,
                    v.site(group),
                )
            seen[name] = group
    return None


# -- texts -----------------------------------------------------------------------------------------


def _extents(v: tuple[Value, ...] | Unknown) -> tuple[dims.Dim, ...] | None:
    if not isinstance(v, tuple) or not all(isinstance(x, Int) for x in v):
        return None
    return tuple(x.dim for x in v)


def _shown(v: Value) -> str:
    if isinstance(v, Int):
        return dims.text(v.dim)
    if isinstance(v, (str, float)) or v is None:
        return repr(v)
    return v.name if isinstance(v, Opaque) else "…"


def _listed(v: tuple[Value, ...]) -> str:
    inner = ", ".join(map(_shown, v))
    return f"({inner},)" if len(v) == 1 else f"({inner})"


def _mesh(launch: Launch) -> str:
    """The mesh as JAX writes it, as far as it is known: up to the first thing that is not."""
    parts = [
        f"{n}={_listed(x) if isinstance(x, tuple) else '…'}"
        for n in ("grid", "grid_names", "cluster", "cluster_names")
        for x in (getattr(launch, n),)
    ]
    parts += [f"{n}={_shown(getattr(launch, n))}" for n in ("num_threads", "thread_name")]
    return f"Mesh({', '.join(parts)}, kernel_name=…)"


def _notes(v: CallView, at: Site | None, *rows: tuple[str, str]) -> tuple[Note, ...]:
    found = [(v.site(name), text) for name, text in rows]
    return tuple(Note(site, text) for site, text in found if site is not None and site != at)


_NAMES_TEXT = (
    "Each axis has a name, by which the body asks for its place along it: `jax.lax.axis_index(name)`. "
    "`{0}` and `{0}_names` have the same length."
)

RULES = (
    Rule(
        "cluster-rank",
        "A cluster has at most three axes.",
        ("kernel",),
        10,
        cluster_rank,
        _MESH,
        "CUDA arranges the blocks of a cluster along three axes. Merge some: two axes of 2 and 2 are one axis of 4, "
        "and `divmod(jax.lax.axis_index(name), 2)` gives both indices.",
    ),
    Rule(
        "grid-names",
        "Every grid axis has a name.",
        ("kernel",),
        20,
        _names("grid"),
        _MESH,
        _NAMES_TEXT.format("grid"),
    ),
    Rule(
        "cluster-names",
        "Every cluster axis has a name.",
        ("kernel",),
        30,
        _names("cluster"),
        _MESH,
        _NAMES_TEXT.format("cluster"),
    ),
    Rule(
        "thread-name",
        "num_threads and thread_name are given together.",
        ("kernel",),
        40,
        threads_named,
        _MESH,
        "`num_threads` is the number of warpgroups in a block, `thread_name` the axis by which the body asks which one "
        "it is: `jax.lax.axis_index(thread_name)`.",
    ),
    Rule(
        "thread-count",
        "A block has no more warpgroups than JAX allows.",
        ("kernel",),
        50,
        thread_count,
        f"{_MESH}; jax/experimental/mosaic/gpu/core.py, _launch",
        "A Pallas thread is a warpgroup of 128 CUDA threads. JAX refuses more than 16; from 0.12 on 16 too, as each "
        "warpgroup has one of the 16 hardware barriers and the block needs one. A GPU launches at most 8 "
        "(see `thread-limit`).",
    ),
    Rule(
        "thread-limit",
        "A block has at most 1,024 CUDA threads, 8 warpgroups.",
        ("kernel",),
        800,
        launchable_threads,
        "none: JAX lowers it, CUDA refuses the launch",
        "`num_threads` counts warpgroups of 128 CUDA threads. A block of more than 8 has more than 1,024 threads: "
        "it lowers and compiles, and `cuLaunchKernel` fails.",
        severity=Severity.WARNING,
    ),
    Rule(
        "cluster-limit",
        "A cluster has at most 16 blocks.",
        ("kernel",),
        810,
        launchable_cluster,
        "none: JAX lowers it, CUDA refuses the launch",
        "Eight blocks is the portable size of a cluster: every GPU since Hopper launches it. Up to sixteen depend on "
        "the GPU and on what else the kernel takes; more are never launched.",
        severity=Severity.WARNING,
    ),
    Rule(
        "grid-limit",
        "CUDA's grid axes y and z have at most 65,535 blocks.",
        ("kernel",),
        820,
        launchable_grid,
        "none: JAX lowers it, CUDA refuses the launch",
        "The last axis of `grid` becomes CUDA's x, the one before it y, all others together z. Only x may be longer "
        "than 65,535. Put the long axis last.",
        severity=Severity.WARNING,
    ),
    Rule(
        "duplicate-axis",
        "Axis names of a kernel differ.",
        ("kernel",),
        830,
        duplicate_names,
        "none: JAX takes the last axis of the name",
        "A name that two axes share is no way to ask for either of them.",
        severity=Severity.WARNING,
    ),
)
