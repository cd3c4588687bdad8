"""Rules about loops of a kernel: how `pl.loop` is unrolled, and how `plgpu.nd_loop` is tiled."""

from __future__ import annotations

from ..domain.finding import JaxError
from ..domain.python import ListCell, Value
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView


def unrolled(v: CallView) -> Answer:
    """`unroll=` that leaves steps over. (A loop of no steps is left out, whatever its `unroll`.)"""
    unroll = v.value("unroll")
    if unroll is None or isinstance(unroll, bool) or v.fact.launch is None:
        return None
    bounds = [v.exact(v.value(name)) for name in ("lower", "upper", "step")]
    at_once = v.exact(unroll)
    lower, upper, step = bounds
    if lower is None or upper is None or step is None or at_once is None:
        return Unsure("the loop's bounds or its unroll are not known")
    if step <= 0 or at_once <= 0:
        return Unsure("a loop that does not count up")
    length = -(-(upper - lower) // step)
    if length <= 0 or length % at_once == 0:
        return None
    text = (
        f"The loop has {length} step{'s' if length != 1 else ''}, {at_once} of them at once would leave "
        f"{length % at_once} over: unroll divides the number of steps."
    )
    jax = f"``unroll`` must divide ``length``, got unroll={at_once} and length={length}"
    return Problem(text, JaxError("NotImplementedError", jax), v.site("unroll"))


def _items(v: Value) -> tuple[Value, ...] | None:
    items = v.slots["items"] if isinstance(v, ListCell) else v
    return items if type(items) is tuple else None


def tiled(v: CallView) -> Answer:
    """A `tiling` of another rank than the grid, or one that does not divide it. (What is known on the GPU alone is
    not looked at.)"""
    if v.value("tiling") is None:
        return None
    grid, tiling = _items(v.value("grid")), _items(v.value("tiling"))
    if grid is None or tiling is None:
        return Unsure("the grid or its tiling is not known")
    if tiling and len(grid) != len(tiling):
        text = f"tiling has {len(tiling)} entries, and grid {len(grid)}: one for each axis."
        jax = JaxError("ValueError", "tiling=… and grid=… must have same length.")
        return Problem(text, jax, v.site("tiling"))
    for n, by in zip(map(v.exact, grid), map(v.exact, tiling), strict=False):
        if n is not None and by is not None and n % by:
            text = (
                f"The grid's {n} blocks along an axis are not a multiple of the tiling's {by}: {n % by} are left over."
            )
            return Problem(text, JaxError("ValueError", "Tiling … does not divide grid …"), v.site("tiling"))
    return None


RULES = (
    Rule(
        "loop-unroll",
        "unroll divides the number of steps.",
        ("pl.loop",),
        10,
        unrolled,
        "jax/_src/pallas/mosaic_gpu/lowering.py, _lower_jaxpr_to_for_loop",
        "`unroll=n` writes the body n times into each round of the loop. Steps that are left over have no round of "
        "their own: take a divisor of the number of steps, or a bound that is a multiple and `pl.when` in the body.",
    ),
    Rule(
        "loop-tiling",
        "The tiling of plgpu.nd_loop divides its grid.",
        ("nd_loop",),
        60,
        tiled,
        "jax/_src/pallas/mosaic_gpu/helpers.py, nd_loop",
        "`tiling` says in which order the blocks of a grid are visited: a tile of them, then the next tile. A tile "
        "that reaches beyond the grid would visit blocks that are not there.",
    ),
)
