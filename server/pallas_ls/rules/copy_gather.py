"""Copies that pick rows of an operand by an array of positions: gathers and scatters by TMA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..domain.array import Array, LayoutName
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.ref import Gather, Indexed, Indexer, Position, Ref
from ..domain.target import Semantics
from ..source.span import Site
from .copying.case import V11, Kind
from .copying.read import collective_names, kind_of, sides, used_elsewhere
from .copying.tables import GATHER_COLUMNS, element_bits
from .rule import Answer, Problem, Unsure
from .store_case import exact_transforms
from .view import CallView, show_shape

#: Register layouts in which positions are given.
LAYOUTS = ("TMA_INDICES", "TMA_INDICES_4")
#: Rows of one instruction, and the bits that they fill whole multiples of.
ROWS, ALIGNED = 4, 1024


@dataclass(frozen=True, slots=True)
class _Rows:
    """A gather: the operand, its index, the positions, and the width of a row that one instruction takes."""

    operand: Ref
    items: tuple[Indexer, ...]
    positions: Array
    columns: int | None
    bits: int
    site: Site | None


def check(v: CallView) -> Answer:
    """The first thing that is wrong with a gather or scatter."""
    found = _rows(v)
    if found is None or isinstance(found, Unsure):
        return found
    if v.semantics is None:
        return Unsure("the lowering semantics are not known")
    checks = _lane(v, found) if v.semantics is Semantics.LANE else _warpgroup(v, found)
    unsure: Answer = None
    for answer in checks:
        if isinstance(answer, Problem):
            return answer
        unsure = unsure or answer
    return unsure


def _rows(v: CallView) -> _Rows | Unsure | None:
    pair = sides(v)
    if isinstance(pair, Unsure):
        return pair
    operand, smem = pair
    views = [x for x in operand.views if isinstance(x, Indexed) and isinstance(x.items, tuple)]
    last = views[-1] if views else None
    positions = [i.indices for i in (last.items if last is not None else ()) if isinstance(i, Gather)]  # pyright: ignore
    if last is None or not positions:
        return None
    if len(operand.views) != 1 or len(positions) != 1 or not isinstance(positions[0], Array):
        return Unsure("a gather of a part has no model")
    if not isinstance(operand.dtype, DType) or not isinstance(operand.type.shape, tuple):
        return Unsure("the operand is not known")
    site = last.made.site if last.made is not None else None
    items = last.items if isinstance(last.items, tuple) else ()
    columns = _columns(v, operand, smem)
    return _Rows(operand, items, positions[0], columns, element_bits(operand.dtype), site)


def _columns(v: CallView, operand: Ref, smem: Ref | None) -> int | None:
    """Elements of a row that one instruction takes: of a tile, or of the buffer."""
    if smem is None:
        shape = v.exact_shape(operand.shape)
        return shape[-1] if shape else None
    transforms, shape = exact_transforms(v, smem.type), v.exact_shape(smem.shape)
    if isinstance(transforms, Unsure) or not shape or (not transforms[0] and v.semantics is Semantics.WARPGROUP):
        return None
    return transforms[0][-1] if transforms[0] else shape[-1]


def _lane(v: CallView, g: _Rows) -> Iterator[Answer]:
    yield _predicate(v)
    yield _first_of_two(g, "Gathers/scatters only supported along the first dimension of 2D arrays")
    yield _unsigned(g)
    yield _together(v)
    yield from _instruction(v, g)


def _warpgroup(v: CallView, g: _Rows) -> Iterator[Answer]:
    if kind_of(v) is Kind.PREFETCH:
        yield _first_of_two(g, "Gathers/scatters only supported along the first dimension of 2D arrays")
    elif not isinstance(g.items[0], Gather):
        yield _first_of_two(g, "Only leading gather dimensions allowed.")
    else:
        yield _first_of_two(g, "Only 2D gathers/scatters for async load/store are supported.")
        yield _whole_row(v, g)
    yield _together(v)
    yield from _instruction(v, g)


def _predicate(v: CallView) -> Answer:
    if v.value("predicate") is None:
        return None
    jax = JaxError("NotImplementedError", "Gather/scatter TMA does not support predicates yet.")
    return Problem("A gather or scatter takes no predicate: put it under pl.when.", jax, v.site("predicate"))


def _first_of_two(g: _Rows, words: str) -> Answer:
    rank = len(g.operand.type.shape) if isinstance(g.operand.type.shape, tuple) else 0
    if rank == 2 and isinstance(g.items[0], Gather):
        return None
    text = f"Only rows of a matrix can be gathered; this picks from {show_shape(g.operand.type.shape)}"
    return Problem(f"{text}, axis {_axis(g)}.", JaxError("NotImplementedError", words), g.site)


def _axis(g: _Rows) -> int:
    return next(i for i, x in enumerate(g.items) if isinstance(x, Gather))


def _unsigned(g: _Rows) -> Answer:
    dtype = g.positions.dtype
    if not isinstance(dtype, DType):
        return Unsure("the type of the positions is not known")
    if dtype.family != "int":
        return None
    jax = JaxError("ValueError", "Gather/scatter indices must be unsigned")
    return Problem(f"The positions are {dtype}; TMA takes unsigned ones: .astype(jnp.u{dtype}).", jax, g.site)


def _together(v: CallView) -> Answer:
    if kind_of(v) is Kind.STORE or (kind_of(v) is Kind.PREFETCH and v.semantics is Semantics.WARPGROUP):
        return None
    names = collective_names(v)
    if isinstance(names, Unsure) or not names:
        return names if isinstance(names, Unsure) else None
    jax = JaxError("NotImplementedError", "Collective copies with gather/scatter unsupported")
    return Problem("Blocks cannot gather together: each gathers for itself.", jax, v.site("collective_axes"))


def _whole_row(v: CallView, g: _Rows) -> Answer:
    """Warpgroup's solver wants rows of which four fill whole 128 bytes."""
    shape = v.exact_shape(g.operand.shape)
    if not shape:
        return Unsure("the width of the gather is not known")
    divisor = ALIGNED // ROWS // g.bits
    if len(shape) < 2 or shape[-1] % divisor == 0:
        return None
    words = (
        f"Cannot assign layout to async load with gather indices since minor dim={shape[-1]} is not divisible by "
        f"divisor={divisor} bits."
    )
    return Problem(_row_text(g, shape[-1]), JaxError("ValueError", words), g.site)


def _row_text(g: _Rows, columns: int) -> str:
    unit = ALIGNED // ROWS // g.bits
    return (
        f"{ROWS} gathered rows of {columns} x {g.operand.dtype} are {ROWS * columns * g.bits // 8} B, no multiple of "
        "128 B: "
        f"take a multiple of {unit} columns."
    )


def _instruction(v: CallView, g: _Rows) -> Iterator[Answer]:
    """What one instruction takes."""
    if kind_of(v) is Kind.PREFETCH:
        jax = JaxError("NotImplementedError", "Gather/scatter prefetch not implemented yet")
        yield Problem("A prefetch takes no array of positions: prefetch the whole, or nothing.", jax, g.site)
        return
    if any(isinstance(i, Position) for i in g.items):
        jax = JaxError("NotImplementedError", "Gather/scatter unsupported when using integer indexing")
        yield Problem("Rows are gathered whole, or a slice of each.", jax, g.site)
    if v.value("reduction_op") is not None:
        jax = JaxError("ValueError", "Gather/scatter TMA can't perform reductions")
        yield Problem("A scatter does not reduce.", jax, v.site("reduction_op"))
    layout = g.positions.layout
    if v.semantics is Semantics.LANE and isinstance(layout, LayoutName) and layout.name not in LAYOUTS:
        text = f"The positions are in plgpu.Layout.{layout.name}; cast them to plgpu.Layout.TMA_INDICES."
        yield Problem(text, JaxError("ValueError", "Unsupported gather indices layout: "), g.site)
    yield _columns_fit(v, g)


def _columns_fit(v: CallView, g: _Rows) -> Answer:
    if g.columns is None:
        shape = v.exact_shape(g.operand.shape)
        untransformed = shape[-1] if shape else None
        if untransformed is None or untransformed <= GATHER_COLUMNS or not _keeps_rows(v):
            return (
                None
                if untransformed is not None and untransformed <= GATHER_COLUMNS
                else Unsure("the transforms are the solver's")
            )
        return _too_wide(v, untransformed)
    n = ROWS * g.columns * g.bits
    if n % ALIGNED:
        words = (
            f"Gather/scatter TMA would require breaking it up into transfers of {n // 8} bytes, but need a multiple "
            "of 128 bytes"
        )
        return Problem(_row_text(g, g.columns), JaxError("ValueError", words), g.site)
    return _too_wide(v, g.columns)


def _keeps_rows(v: CallView) -> bool:
    """Whether Warpgroup's solver leaves an untransformed buffer as it is: nothing else uses it."""
    pair = sides(v)
    return (
        not isinstance(pair, Unsure)
        and pair[1] is not None
        and not pair[1].type.transforms
        and not used_elsewhere(v, pair[1])
    )


def _too_wide(v: CallView, columns: int) -> Answer:
    if columns <= GATHER_COLUMNS or v.version < V11:
        return None
    words = (
        "Gather/scatter TMA can't handle slices with more than 256 columns. Consider adding a TilingTransform with the "
        "minormost dimension <= 256."
    )
    text = (
        f"A gathered row has {columns} elements; TMA takes at most {GATHER_COLUMNS}: tile the buffer, or gather "
        "parts of rows."
    )
    return Problem(text, JaxError("ValueError", words), v.site("dst" if kind_of(v) is Kind.LOAD else "src"))
