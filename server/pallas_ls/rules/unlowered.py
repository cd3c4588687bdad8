"""The rule about functions of jax.numpy, jax.lax and jax.nn that a kernel cannot be lowered with."""

from __future__ import annotations

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.target import JaxVersion, Semantics
from .layouts.known import arrays_in
from .layouts.names import CONCATENATIONS
from .primitives.table import functions, unlowered
from .rule import Answer, Problem, Rule
from .view import CallView, show_array

_NAMES = {Semantics.LANE: "Lane", Semantics.WARPGROUP: "Warpgroup"}
#: What to do instead, by primitive.
_INSTEAD = {
    "dot_general": (
        "The tensor cores are used by name: plgpu.wgmma (Hopper), plgpu.tcgen05_mma (Blackwell) or plgpu.mma, on "
        "tiles in shared memory (plgpu.mma: in registers)."
    ),
    "transpose": "Transpose the reference that it is stored to or loaded from: ref.T, or plgpu.layout_cast it to a "
    "transposed layout first.",
    "cumsum": "Keep the running sum in the carry of a loop (jax.lax.fori_loop), one block after another.",
    "sort": "Sort before the kernel, or keep the few largest with max and where.",
    "argmax": "Compare with the maximum and take the smallest index: where(x == max(x), iota, n), then min.",
    "argmin": "Compare with the minimum and take the smallest index: where(x == min(x), iota, n), then min.",
    "pow": "Multiply, take jnp.exp2(y * log2(x)), or give an integer as the exponent.",
    "gather": "Index the reference instead of the value: ref[i].",
    "scatter": "Store to a part of a reference: ref[...] = x.",
    "pad": "Pad before the kernel, or compute with the whole tile and mask with jnp.where.",
    "dynamic_slice": "Slice the reference instead of the value: ref[pl.ds(i, n)].",
    "dynamic_update_slice": "Store to a part of a reference: ref[pl.ds(i, n)] = x.",
    "rev": "Index the reference backwards, or turn the data round before the kernel.",
}


def primitive(v: CallView) -> Answer:
    """A call that stops at a primitive without a lowering rule, whatever its other arguments are."""
    launch, semantics = v.fact.launch, v.semantics
    if launch is None or semantics is None or launch.warp:
        return None
    joined = _joined(v, semantics)
    cell = _cell(v) if joined is None else None
    if cell is None:
        return joined
    name, arrays, rank, family = cell
    table = unlowered(v.version, semantics)
    found = table.get((name, arrays, rank, family, "any"))
    if found is None and _is_plain(v, arrays):
        found = table.get((name, arrays, rank, family, "plain"))
    if found is None:
        return None
    jax = _unimplemented(found, semantics)
    first = next(x for x in v.fact.operands.values() if isinstance(x, Array))
    called = name.replace("jax.numpy.", "jnp.").replace("jax.lax.", "lax.")
    what = f" ({found})" if found != "…" else ""
    text = f"{called} of {show_array(first.shape, first.dtype)}{what} has no lowering inside a kernel."
    instead = _INSTEAD.get(found)
    return Problem(f"{text} {instead}" if instead else text, jax)


def _joined(v: CallView, semantics: Semantics) -> Problem | None:
    """Arrays put side by side, for which there is a lowering since JAX 0.11; a sequence is in no cell of the table."""
    if v.fact.api not in CONCATENATIONS or v.version >= JaxVersion(0, 11):
        return None
    arrays = [x for value in v.fact.operands.values() for x in arrays_in(value)]
    if len(arrays) < 2:
        return None
    text = (
        f"{v.fact.api.rpartition('.')[2]} has no lowering inside a kernel up to JAX 0.10. Store the arrays side "
        "by side in a buffer, ref[pl.ds(i, n)] = x, and load it."
    )
    return Problem(text, _unimplemented("concatenate", semantics))


def _unimplemented(primitive: str, semantics: Semantics) -> JaxError:
    return JaxError(
        "NotImplementedError",
        f"Unimplemented primitive in Pallas Mosaic GPU lowering: {primitive} for lowering semantics "
        f"LoweringSemantics.{_NAMES[semantics]} and user thread semantics PrimitiveSemantics.Warpgroup.",
    )


def _cell(v: CallView) -> tuple[str, int, int, str] | None:
    """The function, how many arrays it is given first, and their one rank and family."""
    leading: list[Array] = []
    for x in v.fact.operands.values():
        if not isinstance(x, Array):
            break
        leading.append(x)
    kinds = {_kind(x) for x in leading}
    if len(kinds) != 1 or (kind := kinds.pop()) is None or not 1 <= len(leading) <= 2:
        return None
    if any(isinstance(x, Array) for x in list(v.fact.operands.values())[len(leading) :]):
        return None
    return (v.fact.api, len(leading), *kind)


def _kind(x: Array) -> tuple[int, str] | None:
    if not isinstance(x.shape, tuple) or not isinstance(x.dtype, DType):
        return None
    return len(x.shape), x.dtype.family


def _is_plain(v: CallView, arrays: int) -> bool:
    """Whether nothing but the arrays is given."""
    first = list(v.fact.operands)[:arrays]
    return all(name in first for name in v.fact.arg_sites)


RULES = (
    Rule(
        "unlowered-primitive",
        "A kernel computes with operations that Mosaic GPU can lower.",
        (*functions(), *sorted(CONCATENATIONS - {*functions()})),
        10,
        primitive,
        "jax/_src/pallas/mosaic_gpu/lowering.py, lower_jaxpr_to_mosaic_gpu",
        "A kernel is traced like any function, but only some of JAX's primitives have a lowering to Mosaic GPU: "
        "elementwise arithmetic, comparisons, reductions over an axis, broadcasts, reshapes, loops and conditions, and "
        "what `plgpu` adds. What works grows from release to release; the table that this rule looks up was measured "
        "with JAX 0.10.2, 0.11.2 and 0.12.0.\n\nProducts of matrices are made by `plgpu.wgmma` or "
        "`plgpu.tcgen05_mma`; what moves elements is done on references (`ref.T`, `ref[pl.ds(i, n)]`) instead of "
        "values.",
    ),
)
