"""The part of Mosaic GPU's layout solver that a store to shared memory takes part in (Warpgroup semantics).

Mirrors jax/experimental/mosaic/gpu/layout_inference.py and constraints.py for the system that one store makes: the
value's layout (given, or any that a constant may take), the ref's transforms (given, or conjured), and the constraint
that one can be transferred to the other. Other operations on the same value or ref can only make the system harder;
they are not known here, which is why a value without a known layout is refused only if nothing at all would do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ...domain.finding import JaxError
from ...domain.layout import RegisterLayout, Splat, Strided, Tiled
from ...domain.layout_table import (
    TCGEN05,
    TCGEN05_TRANSPOSED,
    WGMMA,
    WGMMA_TRANSPOSED,
    jax_name,
)
from ...domain.target import JaxVersion
from ...domain.tiling import Shape, tile_nested, tile_shape
from .behaviour import behaviour
from .case import StoreCase, Undecided
from .geometry import logical_strides, tiled_ref
from .mlir import smem_memref
from .plan import (
    NO_SWIZZLE,
    PLAN_ERROR,
    Plan,
    SmemRef,
    Unmodelled,
    plan_transfer,
    plan_without_conflicts,
    transfers_by_matrix,
)


@dataclass(frozen=True, slots=True)
class Transforms:
    """A ref's tiling and swizzle (bytes) as the solver assigns them."""

    tiling: Shape | None
    swizzle: int | None


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver settles on.

    Attributes:
      layout: of the registers.
      tiling, swizzle: of the stored-to view; None without.
      ref: the view, tiled.
    """

    layout: Tiled
    tiling: Shape | None
    swizzle: int | None
    ref: SmemRef


UNTRANSFORMED = Transforms(None, None)


def solve(case: StoreCase) -> Solution | JaxError | Undecided:
    """The layout and transforms that the solver picks for the store, or JAX's error.

    A `case.source` of None is a variable that nothing else constrains.
    """
    given = _given(case)
    if isinstance(given, JaxError | Undecided):
        return given
    if given is not None and not _divides_slices(case, given):
        return behaviour(case.version).unsatisfiable
    seen = given and _seen_through_view(case, given)
    if isinstance(case.source, Tiled):
        return _with_layout(case, case.source, seen)
    if isinstance(case.source, Strided) and seen is not None:
        return _unsatisfiable(case, case.source, seen)
    if seen is None:
        return behaviour(case.version).unsatisfiable
    return _with_free_layout(case, seen)


def can_transfer(case: StoreCase, layout: Tiled | Strided) -> bool | Undecided:
    """Whether a value of that layout can be loaded from, or stored to, the ref with any transforms that it may have.

    The solver's constraint `IsTransferableSmemRegisters`, for the allocated ref's given transforms or those that the
    solver would try; whatever else uses the ref only takes some of them away.
    """
    given = _given(case)
    if isinstance(given, JaxError | Undecided):
        return Undecided("the ref's transforms are refused or not known")
    if isinstance(layout, Strided):
        return given is None
    if given is not None and not _divides_slices(case, given):
        return False
    for transforms in (_seen_through_view(case, given),) if given is not None else tuple(_conjured(case)):
        possible = transferable(case, layout, transforms)
        if isinstance(possible, JaxError | Undecided):
            return Undecided("this transfer has no model")
        if possible:
            return True
    return False


def no_transfer(case: StoreCase, layout: RegisterLayout) -> JaxError:
    """What the solver says where `can_transfer` is False."""
    given = _given(case)
    if isinstance(given, Transforms):
        return _unsatisfiable(case, layout, _seen_through_view(case, given))
    return behaviour(case.version).unsatisfiable


def tried_layouts(case: StoreCase) -> tuple[Tiled, ...]:
    """The layouts that the solver tries for a value on which nothing else depends, because of the ref alone."""
    given = _given(case)
    return _candidate_layouts(case, given) if isinstance(given, Transforms) else ()


def _given(case: StoreCase) -> Transforms | JaxError | Undecided | None:
    """The transforms that the user gave, as the solver takes them; None: it may choose."""
    rules = behaviour(case.version)
    if case.tiling is None:
        if case.swizzle is None:
            return None
        if rules.swizzle_from_tiling:
            mode = f"<SwizzlingMode.k{case.swizzle}ByteSwizzle: {case.swizzle}>"
            return JaxError("NotImplementedError", f"Unsupported transforms [{mode}]")
    elif len(case.tiling) > len(case.allocated):
        return Undecided("a tiling of higher rank than the ref")
    elif rules.swizzle_from_tiling and (refused := _other_swizzle(case, case.tiling)):
        return refused
    if case.view is not None and case.view.permutation not in (None, (1, 0)):
        return Undecided("a transposition of more than two dimensions")
    transforms = Transforms(case.tiling, None if rules.swizzle_from_tiling else case.swizzle)
    if _valid_for_ref(case.allocated, case.register_bits, transforms):
        return transforms
    tiling = f"tiling {_tile_transform(case.tiling)}" if case.tiling else "empty tiling"
    swizzle = f"{case.swizzle} swizzle" if case.swizzle else "no swizzle"
    return JaxError("ValueError", f"Cannot apply {tiling} with {swizzle} to memref with shape {case.allocated}.")


def _other_swizzle(case: StoreCase, tiling: Shape) -> JaxError | None:
    """JAX 0.10 refuses a swizzle that is not the one of the tiling's bytes in registers (bools have but a bit)."""
    implied = _swizzle_of(tiling[-1], case.register_bits)
    if isinstance(implied, JaxError) or case.swizzle in (None, implied):
        return implied if isinstance(implied, JaxError) and case.swizzle is not None else None
    computed = "kNoSwizzle" if implied is None else f"k{implied}ByteSwizzle"
    return JaxError(
        "NotImplementedError",
        f"Cannot honor caller-provided swizzle k{case.swizzle}ByteSwizzle that is different from the computed swizle "
        f"{computed} for type {smem_memref(case.allocated, case.dtype)}.",
    )


def _tile_transform(tiling: Shape) -> str:
    return f"TileTransform(tiling={tiling}, rounding=None)"


def _valid_for_ref(shape: Shape, bits: int, transforms: Transforms) -> bool:
    """Whether a contiguous ref can have these transforms (`_is_valid_smem_layout_assignment`)."""
    if transforms.tiling is not None and tile_shape((transforms.tiling,), shape) is None:
        return False
    if transforms.swizzle is None:
        return True
    minor = shape[-1] if transforms.tiling is None else transforms.tiling[-1]
    # Another dimension has stride 1 too where the last one is of size 1: JAX then cannot tell which is the minor one.
    if len(shape) > 1 and shape[-1] == 1:
        return False
    return minor % (8 * transforms.swizzle // bits) == 0


def _divides_slices(case: StoreCase, transforms: Transforms) -> bool:
    """Whether the tiling divides sizes and offsets of all slices (the constraint of `memref.subview`)."""
    if case.view is None or transforms.tiling is None:
        return True
    tails = zip(reversed(transforms.tiling), reversed(_slice_multiples(case)), strict=False)
    return all(multiple % tile == 0 for tile, multiple in tails)


def _slice_multiples(case: StoreCase) -> Shape:
    """For each dimension of the allocated ref, what a tile there must divide."""
    if case.view is None:
        return case.allocated
    return tuple(
        1 if part is None else math.gcd(part.size, whole, part.offset_multiple)
        for part, whole in zip(case.view.index, case.view.parent, strict=True)
    )


def _seen_through_view(case: StoreCase, transforms: Transforms) -> Transforms:
    """The transforms of the stored-to view, whose tiling is transposed with it. The swizzle never is."""
    transposed = case.view is not None and case.view.permutation is not None
    if transposed and transforms.tiling is not None:
        return Transforms(transforms.tiling[:-2] + transforms.tiling[:-3:-1], transforms.swizzle)
    return transforms


def _with_layout(case: StoreCase, layout: Tiled, seen: Transforms | None) -> Solution | JaxError | Undecided:
    """A value whose layout is fixed: its transforms are given, or the first ones conjured that can be stored to."""
    if not layout.applies_to(case.shape):
        return Undecided("the value's layout does not apply to its shape")
    if not _takes_splat(case, layout):
        return behaviour(case.version).unsatisfiable
    for transforms in _conjured(case) if seen is None else (seen,):
        possible = transferable(case, layout, transforms)
        if isinstance(possible, JaxError | Undecided):
            return possible
        if possible:
            return _solution(case, layout, transforms)
    return behaviour(case.version).unsatisfiable if seen is None else _unsatisfiable(case, layout, seen)


def _with_free_layout(case: StoreCase, seen: Transforms) -> Solution | JaxError | Undecided:
    """A constant, or a value without constraints: the solver tries a few layouts."""
    for layout in _candidate_layouts(case, seen):
        if not layout.applies_to(case.shape):
            continue
        possible = transferable(case, layout, seen)
        if isinstance(possible, JaxError | Undecided):
            return possible
        if possible and _takes_splat(case, layout):
            return _solution(case, layout, seen)
    return behaviour(case.version).unsatisfiable


def _candidate_layouts(case: StoreCase, seen: Transforms) -> tuple[Tiled, ...]:
    """In the order in which the solver tries them. Without a tiling it tries a strided one, which no store takes."""
    if seen.tiling is None:
        return ()
    hopper = (WGMMA, WGMMA_TRANSPOSED)
    return hopper if case.arch == (9, 0) else (TCGEN05, TCGEN05_TRANSPOSED, *hopper)


def _takes_splat(case: StoreCase, layout: Tiled) -> bool:
    """Whether a constant can take the layout; up to JAX 0.10 the wrong dimensions were compared above rank 2."""
    constant = case.constant or isinstance(case.source, Splat)
    if not constant or not behaviour(case.version).splat_from_front:
        return True
    return all(size % tile == 0 for size, tile in zip(case.shape, layout.base_tile, strict=False))


def _conjured(case: StoreCase) -> Iterator[Transforms]:
    """The transforms that the solver tries for a ref without any, largest swizzle first, none last."""
    yield from _conjured_tilings(case)
    yield UNTRANSFORMED


def _conjured_tilings(case: StoreCase) -> Iterator[Transforms]:
    strides, shape = logical_strides(case), case.shape
    rank = len(shape)
    if rank < 2 or (case.view is not None and case.view.permutation not in (None, (1, 0))):
        return
    order = sorted(range(rank), key=lambda i: strides[i])
    if set(order[:2]) != {rank - 1, rank - 2} or shape[order[1]] % 8:
        return
    transposed = order[0] != rank - 1
    for swizzle in (128, 64, 32):
        minor = 8 * swizzle // case.register_bits
        if minor and shape[order[0]] % minor == 0:
            transforms = _constrained(case, (minor, 8) if transposed else (8, minor), swizzle, transposed)
            if transforms is not None:
                yield transforms


def _constrained(case: StoreCase, tiling: Shape, swizzle: int, transposed: bool) -> Transforms | None:
    """A conjured tiling cut down to what the slices of the ref allow; the swizzle follows its minor size."""
    if case.view is None or (case.version < JaxVersion(0, 11) and transposed):
        return Transforms(tiling, swizzle)
    if transposed:
        return Transforms(tiling, swizzle)
    multiples = _slice_multiples(case)
    kept = tuple(m for m, part in zip(multiples, case.view.index, strict=True) if part is not None)
    tiling = tuple(math.gcd(t, m) for t, m in zip(tiling, kept[-2:], strict=True))
    swizzle = tiling[-1] * case.register_bits // 8
    return Transforms(tiling, swizzle) if swizzle in (32, 64, 128) else None


def transferable(case: StoreCase, layout: Tiled, transforms: Transforms) -> bool | JaxError | Undecided:
    """The solver's constraint between a register layout and a ref's transforms; an error where checking it raises."""
    rules = behaviour(case.version)
    ref = _ref(case, transforms.tiling or case.shape)
    if isinstance(ref, JaxError):
        return ref
    if not rules.solver_checks_strides:
        return _transferable_by_plan(case, layout, transforms, ref)
    swizzle = transforms.swizzle or NO_SWIZZLE
    by_matrix = transfers_by_matrix(ref, layout, swizzle, case.optimized, rules)
    if isinstance(by_matrix, Unmodelled):
        return Undecided(by_matrix.reason)
    if by_matrix is not False:
        return by_matrix
    plan = plan_transfer(ref, layout, swizzle, case.optimized, rules)
    if isinstance(plan, Unmodelled):
        return Undecided(plan.reason)
    if isinstance(plan, JaxError) and plan.type not in ("UnsupportedTransferError", PLAN_ERROR):
        return plan
    return isinstance(plan, Plan)


def _transferable_by_plan(
    case: StoreCase, layout: Tiled, transforms: Transforms, ref: SmemRef
) -> bool | JaxError | Undecided:
    """JAX 0.10: transposed refs go with transposed layouts, unoptimized transfers always work, else bank conflicts."""
    strides = logical_strides(case)
    if len(strides) > 1 and strides[-1] > strides[-2]:
        tiled_twice = transforms.tiling is not None and len(transforms.tiling) == 2
        return tiled_twice and layout in (TCGEN05_TRANSPOSED, WGMMA_TRANSPOSED)
    if not case.optimized:
        return True
    swizzle = NO_SWIZZLE if transforms.tiling is None else _implied_swizzle(case, transforms.tiling)
    if isinstance(swizzle, JaxError):
        return swizzle
    sizes, nested_strides = ref.nested()
    tiled = tile_nested(layout.tiles, sizes, nested_strides)
    if tiled is None:
        return JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {sizes}")
    if layout.register_bits(case.register_bits) % 8:
        return JaxError("AssertionError", "")
    plan = plan_without_conflicts(tiled, layout, case.register_bits, swizzle or NO_SWIZZLE)
    if isinstance(plan, Unmodelled):
        return Undecided(plan.reason)
    if isinstance(plan, JaxError) and plan.type != PLAN_ERROR:
        return plan
    return isinstance(plan, Plan)


def _implied_swizzle(case: StoreCase, tiling: Shape) -> int | JaxError | None:
    """JAX 0.10 swizzles by the bytes of the tiling's minor dimension where they are 32, 64 or 128."""
    inner = logical_strides(case)[-len(tiling) :]
    return _swizzle_of(tiling[inner.index(min(inner))], case.register_bits)


def _swizzle_of(minor: int, bits: int) -> int | JaxError | None:
    if minor * bits % 8:
        text = f"Minor tiling dimension is not byte aligned. Got {minor} elements of {bits} bits."
        return JaxError("ValueError", text)
    size = minor * bits // 8
    return size if size in (32, 64, 128) else None


def _solution(case: StoreCase, layout: Tiled, transforms: Transforms) -> Solution | JaxError:
    swizzle = transforms.swizzle
    if behaviour(case.version).swizzle_from_tiling and transforms.tiling is not None:
        implied = _implied_swizzle(case, transforms.tiling)
        if isinstance(implied, JaxError):
            return implied
        swizzle = implied
    ref = _ref(case, transforms.tiling or case.shape)
    return ref if isinstance(ref, JaxError) else Solution(layout, transforms.tiling, swizzle, ref)


def _ref(case: StoreCase, tiling: Shape) -> SmemRef | JaxError:
    ref = tiled_ref(case.shape, logical_strides(case), tiling, case.register_bits)
    return JaxError("ValueError", ref) if isinstance(ref, str) else ref


def _unsatisfiable(case: StoreCase, layout: RegisterLayout, seen: Transforms) -> JaxError:
    """The refusal of a known layout and known transforms, which newer releases name."""
    rules = behaviour(case.version)
    if not rules.names_conflict:
        return rules.unsatisfiable
    kind = "optimized " if case.optimized else ""
    return JaxError(
        "ValueError",
        f"Failed to infer a possible set of layouts: no {kind}SMEM <-> registers transfer plan could be synthesized "
        f"for register layout {jax_name(layout, case.version)} and {_described(seen)}",
    )


def _described(seen: Transforms) -> str:
    parts = []
    if seen.tiling is not None:
        parts.append(f"TilingTransform({seen.tiling})")
    if seen.swizzle is not None:
        parts.append(f"SwizzleTransform({seen.swizzle})")
    if not parts:
        return "untransformed ref"
    return f"ref with transforms ({parts[0]},)" if len(parts) == 1 else f"ref with transforms ({', '.join(parts)})"
