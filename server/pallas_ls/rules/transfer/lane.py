"""Loads and stores under Lane semantics: the register layout that a load gives, and what JAX refuses of either.

Mirrors `_get_lowering_rule` and `_swap_lowering_rule` (jax/_src/pallas/mosaic_gpu/lowering.py) and the transfers of
`FragmentedArray` behind them (jax/experimental/mosaic/gpu/fragmented_array.py), for whole buffers and views of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...domain.finding import JaxError
from ...domain.layout import RegisterLayout, Splat, Strided, Tiled
from ...domain.layout_table import TCGEN05_TRANSPOSED, WGMMA, WGMMA_TRANSPOSED, jax_repr, strided_for
from ...domain.tiling import Shape, contiguous_strides, tile_nested
from .behaviour import behaviour
from .case import StoreCase, Undecided
from .geometry import allocated_ref, logical_strides
from .gmem import plan_with_gmem
from .mlir import smem_memref
from .plan import (
    NO_SWIZZLE,
    Plan,
    PlanResult,
    SmemRef,
    Unmodelled,
    lies_in_columns,
    lies_in_rows,
    plan_columns,
    plan_transfer,
)

LayoutResult = RegisterLayout | JaxError | Undecided
TRANSPOSED = (WGMMA_TRANSPOSED, TCGEN05_TRANSPOSED)
_UNTRANSPOSED = JaxError("ValueError", "Either both the ref and the value are transposed or neither is.")
_SWIZZLED_ROWS = JaxError("NotImplementedError", "Unsupported swizzle transform with strided layout")


@dataclass(frozen=True, slots=True)
class Access:
    """A load or a store of a buffer, or of a view of it.

    Attributes:
      case: shape, element type, transforms, view and `optimized`; its `source` is not looked at.
      global_memory: the buffer is in GMEM; else it is in shared memory.
    """

    case: StoreCase
    global_memory: bool = False

    @property
    def strides(self) -> Shape:
        """Of the view, in elements, where the buffer is not tiled."""
        return logical_strides(self.case)


def load_layout(access: Access, hint: RegisterLayout | None) -> LayoutResult:
    """The layout of a loaded value.

    `hint`: of the `layout_cast` that immediately follows, which `load(layout=)` adds.
    """
    case = access.case
    if not case.shape:
        return Splat(())
    refused = _cannot_be_viewed(access, hint)
    if refused is not None:
        return refused
    if case.tiling is not None:
        return _tiled(access, case.tiling, hint or WGMMA, case.optimized)
    if isinstance(hint, Tiled):
        return _untiled(access, hint, case.optimized)
    return _load_strided(access, hint)


def store_error(access: Access, layout: RegisterLayout) -> JaxError | Undecided | None:
    """What JAX says of a store of a value in this layout; None: it lowers."""
    case, rules = access.case, behaviour(access.case.version)
    if math.prod(case.shape) == 1:
        return None if isinstance(layout, Splat) else Undecided("a single element in a layout")
    refused = _cannot_be_viewed(access, layout)
    if refused is not None:
        return refused
    optimized = case.optimized or rules.stores_read_first
    if case.tiling is not None:
        return _refusal(_tiled(access, case.tiling, layout, optimized))
    if isinstance(layout, Tiled):
        return _refusal(_untiled(access, layout, case.optimized and not rules.stores_read_first))
    if case.swizzle is not None:
        return _SWIZZLED_ROWS
    read = _refusal(_load_strided(access, None)) if rules.stores_read_first else None
    return read or _store_strided(access, layout)


def _refusal(found: LayoutResult) -> JaxError | Undecided | None:
    return found if isinstance(found, (JaxError, Undecided)) else None


def _cannot_be_viewed(access: Access, layout: RegisterLayout | None) -> JaxError | Undecided | None:
    """Views that this does not mirror; and, up to JAX 0.10, transposed layouts of what is not transposed."""
    case = access.case
    if case.dtype == "bool":
        return Undecided("a buffer of bools")
    permutation = None if case.view is None else case.view.permutation
    if behaviour(case.version).transposes_in_layouts:
        if permutation is not None:
            return Undecided("a transposed reference")
        return _UNTRANSPOSED if layout in TRANSPOSED else None
    return None


# -- tiles -----------------------------------------------------------------------------------------


def _tiled(access: Access, tiling: Shape, layout: RegisterLayout, optimized: bool) -> LayoutResult:
    """A transfer with a tiled buffer."""
    case = access.case
    unswizzled = JaxError("NotImplementedError", "Tiling without swizzle is not supported.")
    early = not behaviour(case.version).transposes_in_layouts
    if case.swizzle is None and early:
        return unswizzled
    if len(tiling) != 2:
        return JaxError("NotImplementedError", f"Only 2D tiling is supported, got: {tiling}")
    if case.swizzle is None:
        return unswizzled
    if not _takes_whole_tiles(case, tiling):
        return Undecided("a tiling of higher rank than the buffer, or a view that cuts tiles")
    if not isinstance(layout, Tiled):
        return JaxError("NotImplementedError", jax_repr(layout, case.version))
    return _moved(access, layout, allocated_ref(case, tiling), case.swizzle, optimized)


def _takes_whole_tiles(case: StoreCase, tiling: Shape) -> bool:
    if len(tiling) > len(case.allocated):
        return False
    if case.view is None:
        return True
    parts = case.view.index[-len(tiling) :]
    return all(part is not None and part.size % tile == 0 for part, tile in zip(parts, tiling, strict=True))


def _untiled(access: Access, layout: Tiled, optimized: bool) -> LayoutResult:
    """A transfer of a tiled layout with a buffer that is not tiled: the whole of it is taken for one tile."""
    case, rank = access.case, len(access.case.shape)
    ref = SmemRef((1,) * rank + case.shape, (0,) * rank + access.strides, rank, case.register_bits)
    return _moved(access, layout, ref, case.swizzle or NO_SWIZZLE, optimized)


def _moved(access: Access, layout: Tiled, ref: SmemRef, swizzle: int, optimized: bool) -> LayoutResult:
    """`FragmentedArray.transfer_tiled`, by matrix instructions where they can, else by plain ones."""
    shape, version = access.case.shape, access.case.version
    if not layout.applies_to(shape):
        return JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {shape}")
    rules = behaviour(version)
    plan: PlanResult = plan_transfer(ref, layout, swizzle, optimized and not access.global_memory, rules)
    if rules.matrix_instructions and not access.global_memory:
        columns = _by_columns(access, layout, ref, swizzle, optimized)
        plan = plan if columns is None else columns
    if access.global_memory and optimized and isinstance(plan, Plan):
        plan = _with_gmem(access, layout, ref)
    if isinstance(plan, Unmodelled):
        return Undecided(plan.reason)
    return layout if isinstance(plan, Plan) else plan


def _by_columns(access: Access, layout: Tiled, ref: SmemRef, swizzle: int, optimized: bool) -> PlanResult | None:
    """What transposing matrix instructions make of it; None where a plain transfer decides.

    A row of four lanes that lies together goes by rows, which refuse what a plain transfer refuses.
    """
    if lies_in_rows(ref, layout) or not lies_in_columns(ref, layout):
        return None
    if ref.bits == 8:
        return None if access.case.arch[0] < 10 else Unmodelled("a transfer of bytes by transposing instructions")
    plan = plan_columns(ref, layout, swizzle, optimized, behaviour(access.case.version))
    return None if plan == Plan(staggered=True) else plan


def _with_gmem(access: Access, layout: Tiled, ref: SmemRef) -> PlanResult:
    if not behaviour(access.case.version).plans_gmem:
        return JaxError("NotImplementedError", "Only optimized transfers to SMEM supported")
    tiled = tile_nested(layout.tiles, *ref.nested())
    return Unmodelled("a tiling across dimensions") if tiled is None else plan_with_gmem(tiled, layout, ref.bits)


# -- elements in turns -----------------------------------------------------------------------------


def _load_strided(access: Access, hint: RegisterLayout | None) -> LayoutResult:
    case = access.case
    if isinstance(hint, Strided) and hint.shape != case.shape:
        return JaxError("ValueError", f"Unsupported shape {hint.shape}, (expected {case.shape})")
    if case.swizzle is not None:
        return _SWIZZLED_ROWS
    if isinstance(hint, Splat):
        return JaxError("AssertionError", "")
    layout = hint or strided_for(case.shape, case.bits, case.version)
    if not isinstance(layout, Strided):
        return JaxError("ValueError", _uneven_count(case))
    return _transfer_strided(access, layout.vec) or layout


def _uneven_count(case: StoreCase) -> str:
    """The beginning of JAX's words, which go on with strides where there are any, and the memory."""
    return smem_memref(case.shape, case.dtype).partition(",")[0]


def _store_strided(access: Access, layout: Splat | Strided) -> JaxError | Undecided | None:
    """A store of a strided value, or of a constant, which is dealt out as widely as it can be."""
    case, count = access.case, math.prod(access.case.shape)
    if isinstance(layout, Strided):
        return _transfer_strided(access, layout.vec)
    if case.bits > 64:
        return Undecided("a wide element type")
    vec = math.gcd(64 // case.bits, count // 128)
    if count % (128 * vec):
        text = (
            "Arrays with the splat layout can only be stored when they have a single element or a multiple of 128 "
            "elements"
        )
        return JaxError("NotImplementedError", text)
    return _transfer_strided(access, vec)


def _transfer_strided(access: Access, vec: int) -> JaxError | Undecided | None:
    """`FragmentedArray.transfer_strided`: vectors of `vec` elements must lie together in memory."""
    case = access.case
    if vec * case.register_bits % 8:
        return JaxError("NotImplementedError", "Vector length should be a multiple of byte size")
    if _is_contiguous(case.shape, access.strides):
        return None
    sizes, strides = _folded(case.shape, access.strides)
    if strides[-1] != 1:
        return Undecided("vectors across the rows of a transposed buffer, which MLIR's verifier looks at")
    if vec == 1:
        return None
    for size, stride in zip(sizes, strides, strict=True):
        if stride == 1 and size % vec:
            return JaxError("ValueError", _UNEVEN.format(size=size, vec=vec))
        if stride != 1 and size > 1 and stride % vec:
            return JaxError("ValueError", _ASTRIDE.format(stride=stride, vec=vec))
    return None


_UNEVEN = (
    "The contiguous dimension of the reference must be a multiple of the layout's vector size (got {size} and vector "
    "size {vec})"
)
_ASTRIDE = (
    "Non-contiguous dimension of the reference must have strides that are multiples of the layout's vector size (got "
    "{stride} and vector size {vec})"
)


def _is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Whether the elements follow each other; where a dimension of one element steps to is of no concern."""
    rows = zip(shape, strides, contiguous_strides(shape), strict=True)
    return all(size == 1 or stride == whole for size, stride, whole in rows)


def _folded(shape: Shape, strides: Shape) -> tuple[list[int], list[int]]:
    """Neighbouring dimensions that lie together, as one."""
    sizes, steps = list(shape), list(strides)
    for i in reversed(range(len(shape) - 1)):
        if strides[i] == shape[i + 1] * strides[i + 1]:
            sizes[i : i + 2] = [sizes[i] * sizes[i + 1]]
            steps[i : i + 2] = [steps[i + 1]]
    return sizes, steps
