"""Rules about buffer and barrier types: swizzles, tilings, arrivals."""

from __future__ import annotations

from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import element_bits
from ..domain.cond import Cond
from ..domain.dim import Dim
from ..domain.finding import JaxError
from ..domain.python import DictCell, Int, ListCell, Unknown, Value
from ..domain.ref import RefType, Swizzle, Tiling
from ..source.span import Site
from .advice import fitting_transforms, rounded_to_tiles, show_transforms
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView, show_array, show_shape

SWIZZLES = (32, 64, 128)


def swizzle_value(v: CallView) -> Answer:
    """A swizzle that is none of 32, 64, 128."""
    s = v.value("swizzle")
    if not isinstance(s, Int):
        return Unsure("the swizzle is not known")
    allowed = [v.decide(conds.equal(s.dim, w)) for w in SWIZZLES]
    if True in allowed:
        return None
    exact = v.exact(s)
    if not all(a is False for a in allowed) or exact is None:
        return Unsure("the swizzle is not known")
    text = f"A swizzle of {exact} bytes does not exist: it is 32, 64 or 128, and divides the row in bytes."
    if exact == 16:
        text += (
            " plgpu.find_swizzle returns 16 for rows that none of them divides: leave the transform away then, or "
            "widen the row."
        )
    jax = JaxError("ValueError", f"Swizzle {exact} is not supported. Only 32, 64 and 128 are accepted.")
    return Problem(text, jax, v.site("swizzle"))


def barrier_arrivals(v: CallView) -> Answer:
    """A barrier that waits for no arrival at all."""
    n = v.value("num_arrivals")
    if not isinstance(n, Int):
        return Unsure("num_arrivals is not known")
    positive = v.decide(conds.less(0, n.dim))
    if positive is not False:
        return None if positive else Unsure("num_arrivals is not known")
    shown = dims.text(v.simplify(n.dim))
    jax = JaxError("ValueError", f"Num arrivals must be at least 1, but got {shown}")
    return Problem(
        f"num_arrivals={shown}: a barrier completes a phase after at least one arrival. Give the number of "
        "arrivals that a wait is for.",
        jax,
        v.site("num_arrivals"),
    )


# -- transforms of a buffer ------------------------------------------------------------------------


def buffer_types(v: CallView) -> list[RefType]:
    """The buffer types that a call allocates, members of unions included."""
    if v.fact.api == "launch":
        return _types(v.value("scratch"))
    return [t for name in ("types", "kw_types") for t in _types(v.value(name))]


def _types(v: Value) -> list[RefType]:
    if isinstance(v, RefType):
        return [v, *(t for member in v.members for t in _types(member))]
    if isinstance(v, (ListCell, DictCell)):
        return _types(v.slots["items"])
    if isinstance(v, dict):
        rows = [x[1] if type(x) is tuple and len(x) == 2 else x for _, x in _as_flattened(v)]
        return [t for x in rows for t in _types(x)]
    if type(v) is tuple:
        return [t for x in v for t in _types(x)]
    return []


def _as_flattened(v: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """A dict's items in the order in which JAX flattens them."""
    return sorted(v.items()) if all(isinstance(k, str) for k in v) else list(v.items())


def tiling_divides(v: CallView) -> Answer:
    """A tiling that does not divide the buffer's shape."""
    return _first_fault(v)[0]


def swizzle_row(v: CallView) -> Answer:
    """A row (the last dimension after tiling) that is not as wide as the swizzle."""
    return _first_fault(v)[1]


def _first_fault(v: CallView) -> tuple[Answer, Answer]:
    """What `_walk` says of the first buffer that JAX stops at: buffer by buffer, not check by check."""
    unsure: tuple[Answer, Answer] = (None, None)
    for t in buffer_types(v):
        tiling, row = _walk(v, t)
        if isinstance(tiling, Problem) or isinstance(row, Problem):
            return tiling, row
        unsure = (unsure[0] or tiling, unsure[1] or row)
    return unsure


def transforms_are_sound(v: CallView, t: RefType) -> bool:
    """Whether JAX accepts a buffer's transforms, as far as is known."""
    tiling, row = _walk(v, t)
    return tiling is None and row is None


def _walk(v: CallView, t: RefType) -> tuple[Answer, Answer]:
    """(what is wrong with a tiling, what is wrong with a swizzle), following `transform_type` through the
    transforms."""
    if isinstance(t.transforms, Unknown):
        return Unsure(t.transforms.why), None
    if not t.transforms:
        return None, None
    if not isinstance(t.shape, tuple):
        return Unsure("the buffer's shape is not known"), None
    shape: list[Dim | None] = [e.dim if isinstance(e, Int) else None for e in t.shape]
    for x in t.transforms:
        if isinstance(x, Tiling):
            answer = _tile(v, t, x, shape)
            if answer is not None:
                return answer, None
        elif isinstance(x, Swizzle):
            answer = _row(v, t, x, shape)
            if answer is not None:
                return None, answer
        else:
            return Unsure(f"the effect of {x.name} is not known"), None
    return None, None


def _tile(v: CallView, t: RefType, x: Tiling, shape: list[Dim | None]) -> Answer:
    """Tiles `shape` in place."""
    if not isinstance(x.tiling, tuple):
        return Unsure(x.tiling.why)
    tiling = [e.dim if isinstance(e, Int) else None for e in x.tiling]
    if not tiling:
        return Unsure("an empty tiling has no model")
    tiled = shape[-len(tiling) :]
    unsure = False
    for d, by in zip(tiled, tiling, strict=False):  # JAX passes over the dimensions that the buffer lacks
        known = None if d is None or by is None else v.decide(conds.divides(by, d))
        if known is False and d is not None and by is not None:
            return _does_not_divide(v, t, x, d, by)
        unsure = unsure or known is None
    if unsure:
        return Unsure("whether the tiling divides the shape is not known")
    if len(tiling) > len(shape):
        return Unsure("the tiling has more dimensions than the buffer")
    counts = [dims.floordiv(d, by) for d, by in zip(tiled, tiling, strict=True) if d is not None and by is not None]
    shape[-len(tiling) :] = [*counts, *tiling]
    return None


def _does_not_divide(v: CallView, t: RefType, x: Tiling, d: Dim, by: Dim) -> Problem:
    rest = v.simplify(dims.mod(d, by))
    text = (
        f"TilingTransform({show_shape(x.tiling)}) does not divide {show_array(t.shape, t.dtype)}: "
        f"{dims.text(v.simplify(d))} % {dims.text(v.simplify(by))} = {dims.text(rest)}.{_use_instead(v, t)}"
    )
    at = x.made.args.get("tiling") if x.made else None
    return Problem(text, JaxError("AssertionError", ""), at or _site(t), _shape_note(t, at))


def _use_instead(v: CallView, t: RefType) -> str:
    """Transforms that the buffer can have, or the sizes that it would need for any."""
    shape, bits = v.exact_shape(t.shape), element_bits(t.dtype)
    if not shape or not isinstance(bits, int):
        return ""
    fitting = fitting_transforms(shape, bits)
    if fitting is not None:
        return f" Use {show_transforms(*fitting)}."
    return f" The usual tilings do not divide it; they do {t.dtype}{list(rounded_to_tiles(shape, bits))}."


def _row(v: CallView, t: RefType, x: Swizzle, shape: list[Dim | None]) -> Answer:
    swizzle, last = x.swizzle, shape[-1] if shape else None
    bits = element_bits(t.dtype)
    if not isinstance(swizzle, Int) or last is None or bits is None:
        return Unsure("the swizzle or the row is not known")
    exact = v.exact(swizzle)
    if exact is not None and exact not in SWIZZLES:
        return Unsure("the swizzle itself is refused")
    want = dims.floordiv(dims.mul(swizzle.dim, 8), bits)
    fits: Cond = conds.equal(want, last)
    known = v.decide(fits)
    if known is not False:
        return None if known else Unsure("whether the row fits the swizzle is not known")
    want, last = v.simplify(want), v.simplify(last)
    row_bytes = dims.floordiv(dims.mul(last, bits), 8)
    text = (
        f"SwizzleTransform({dims.text(v.simplify(swizzle.dim))}) needs rows of "
        f"{dims.text(v.simplify(swizzle.dim))} bytes, that is "
        f"{dims.text(want)} x {t.dtype}; after tiling a row of {show_array(t.shape, t.dtype)} has {dims.text(last)} "
        f"({dims.text(v.simplify(row_bytes))} bytes).{_use_instead(v, t)}"
    )
    physical = (
        "("
        + ", ".join(dims.text(v.simplify(d)) if d is not None else "?" for d in shape)
        + ("," if len(shape) == 1 else "")
        + ")"
    )
    jax = JaxError(
        "ValueError",
        f"Swizzle {dims.text(v.simplify(swizzle.dim))} requires the trailing dimension to be of size "
        f"{dims.text(want)}, "
        f"but got shape: {physical}",
    )
    at = x.made.args.get("swizzle") if x.made else None
    return Problem(text, jax, at or _site(t), _shape_note(t, at))


def _site(t: RefType) -> Site | None:
    return t.made.site if t.made else None


def _shape_note(t: RefType, at: Site | None) -> tuple[Note, ...]:
    where = (t.made.args.get("shape") or t.made.args.get("block_shape")) if t.made else None
    return (
        (Note(where, f"the buffer's shape, {show_array(t.shape, t.dtype)}"),)
        if where is not None and where != at
        else ()
    )


RULES = (
    Rule(
        "swizzle-value",
        "A swizzle is 32, 64 or 128 bytes.",
        ("SwizzleTransform",),
        10,
        swizzle_value,
        "jax/_src/pallas/mosaic_gpu/core.py, SwizzleTransform.__post_init__",
        "Swizzling permutes 16-byte units within rows of 32, 64 or 128 bytes, so that the accesses of a warp meet "
        "different banks. "
        "The hardware (TMA, wgmma, tcgen05) knows these three widths only.\n\nTake the widest that divides the row "
        "in bytes, with "
        "`TilingTransform((8, 8 * swizzle // bits))`.",
    ),
    Rule(
        "barrier-arrivals",
        "A barrier needs at least one arrival.",
        ("Barrier", "ClusterBarrier"),
        10,
        barrier_arrivals,
        "jax/_src/pallas/mosaic_gpu/core.py, BarrierType.__post_init__",
        "An mbarrier completes its phase when `num_arrivals` arrivals have been counted. With none there is no phase "
        "to wait for.",
    ),
    Rule(
        "tiling-divides",
        "A tiling divides the dimensions that it cuts.",
        ("launch", "pl.run_scoped", "pipeline.memory"),
        30,
        tiling_divides,
        "jax/_src/pallas/mosaic_gpu/core.py, TilingTransform.transform_type",
        "`TilingTransform((a, b))` lays the last two dimensions out as whole tiles of a x b elements. JAX says only "
        "`AssertionError` where a tile "
        "is left over.\n\nChoose a tiling that divides the shape, or round the shape up to whole tiles.",
    ),
    Rule(
        "swizzle-row",
        "The row of a swizzled buffer is as wide as the swizzle.",
        ("launch", "pl.run_scoped", "pipeline.memory"),
        40,
        swizzle_row,
        "jax/_src/pallas/mosaic_gpu/core.py, SwizzleTransform.transform_type",
        "A swizzle of s bytes permutes rows of exactly s bytes: after tiling, the last dimension has `8 * s // bits` "
        "elements.\n\n"
        "Fit the tiling to the swizzle (`TilingTransform((8, 8 * s // bits))`), or take the swizzle that the row has.",
    ),
)
