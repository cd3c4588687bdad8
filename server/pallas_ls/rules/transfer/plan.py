"""Whether registers in a tiled layout can be moved to or from tiled, swizzled shared memory.

Mirrors `FragmentedArray.transfer_tiled` and `plan_tiled_transfer`
(jax/experimental/mosaic/gpu/fragmented_array.py): first the strides must fit the register vectors; then, if the
transfer must be optimized, no two lanes of a wavefront may meet in one of the 32 banks of shared memory, possibly
after letting every other group of lanes work on another tile (staggering).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from ...domain.finding import JaxError
from ...domain.layout import WARP_SIZE, LayoutDim, Replicated, Tiled, canonical_layout
from ...domain.tiling import NestedTiling, Shape, tile_nested
from .behaviour import Behaviour

SMEM_BANKS = 32
BANK_BYTES = 4
PLAN_ERROR = "TransferPlanDerivationError"
NO_SWIZZLE = 16


@dataclass(frozen=True, slots=True)
class SmemRef:
    """A ref in shared memory after one level of tiling: counts of tiles first, the tile's dimensions last.

    Attributes:
      shape, strides: of the tiled ref, in elements; both have `tiling_rank` trailing dimensions for the tile.
      bits: width of an element.
    """

    shape: Shape
    strides: Shape
    tiling_rank: int
    bits: int

    def nested(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Logical dimensions as (count of tiles, size in tile) pairs, and their strides; tiles of 1 are left out."""
        rank = len(self.shape) - self.tiling_rank
        first = rank - self.tiling_rank
        pairs = [
            (i, i + self.tiling_rank) if i >= first and self.shape[i + self.tiling_rank] != 1 else (i,)
            for i in range(rank)
        ]
        sizes = tuple(tuple(self.shape[i] for i in pair) for pair in pairs)
        return sizes, tuple(tuple(self.strides[i] for i in pair) for pair in pairs)


@dataclass(frozen=True, slots=True)
class Plan:
    """A transfer that works; staggered where lanes take turns on two tiles to avoid bank conflicts."""

    staggered: bool = False


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A transfer that JAX's algorithm treats in a way that is not mirrored here (odd vector widths)."""

    reason: str


PlanResult = Plan | JaxError | Unmodelled


@lru_cache(maxsize=4096)
def plan_transfer(ref: SmemRef, layout: Tiled, swizzle: int | None, optimized: bool, rules: Behaviour) -> PlanResult:
    """The plan of the transfer that a store makes, or the first error that JAX raises.

    `swizzle` in bytes; 16 is a transfer that is not swizzled; None is refused by JAX.
    """
    rank = len(ref.shape) - ref.tiling_rank
    if ref.tiling_rank > rank:
        limit = len(ref.shape) // 2
        return JaxError("ValueError", f"Tiling rank for reference of shape {list(ref.shape)} must be at most {limit}")
    sizes, strides = ref.nested()
    tiled = tile_nested(layout.tiles, sizes, strides)
    if tiled is None:
        return JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {sizes}")
    refused = check_strides(tiled, layout, layout.vector_dim, rules) or check_width(ref, layout, swizzle)
    if refused is not None:
        return refused
    if not optimized or swizzle is None:
        return Plan()
    return plan_without_conflicts(tiled, layout, ref.bits, swizzle)


def check_strides(tiled: NestedTiling, layout: Tiled, vector_dim: int, rules: Behaviour) -> JaxError | None:
    """The refusal of a transfer whose vectors, along `vector_dim`, do not lie together in memory."""
    length = layout.vector_length
    rank = len(tiled.shape)
    for i, (strides, sizes) in enumerate(zip(tiled.strides, tiled.shape, strict=True)):
        if i - rank == vector_dim:
            continue
        if any(stride % length and size != 1 for stride, size in zip(strides, sizes, strict=True)):
            return rules.stride_error
    return None if tiled.strides[vector_dim] == (1,) else rules.vector_error


def check_width(ref: SmemRef, layout: Tiled, swizzle: int | None) -> JaxError | None:
    """The refusal of vectors that are no whole bytes, or of a swizzle that there is not."""
    vector_bits = layout.register_bits(ref.bits)
    if vector_bits % 8:
        text = f"Vector length ({layout.vector_length}) must be a multiple of bytes, but has {vector_bits} bits"
        return JaxError("ValueError", text)
    if swizzle not in {NO_SWIZZLE, 32, 64, 128}:
        return JaxError("ValueError", "Only swizzled transfers supported")
    return None


@dataclass(frozen=True, slots=True)
class Axes:
    """Flat sizes and strides of the dimensions that one kind of index runs over."""

    sizes: Shape
    strides: Shape


def axes_of(tiled: NestedTiling, dims: tuple[LayoutDim, ...]) -> Axes:
    """The dimensions of a tiled array that warps or lanes run over; replicated ones stand still."""
    sizes = chain.from_iterable((d.times,) if isinstance(d, Replicated) else tiled.shape[d] for d in dims)
    strides = chain.from_iterable((0,) if isinstance(d, Replicated) else tiled.strides[d] for d in dims)
    return Axes(tuple(sizes), tuple(strides))


def tile_axes(tiled: NestedTiling, layout: Tiled) -> Axes:
    """The dimensions that one thread runs over, register by register; those of warp, lane and vector count as 1."""
    sizes, strides = list(tiled.shape), list(tiled.strides)
    for dim in layout.partitioned_dims:
        strides[dim] = (0,) * len(sizes[dim])
        sizes[dim] = (1,) * len(sizes[dim])
    return Axes(tuple(chain.from_iterable(sizes)), tuple(chain.from_iterable(strides)))


def plan_without_conflicts(tiled: NestedTiling, layout: Tiled, bits: int, swizzle: int) -> PlanResult:
    """A plan free of bank conflicts, or the error of JAX's `plan_tiled_transfer`."""
    tiles = tile_axes(tiled, layout)
    lanes = axes_of(tiled, layout.lane_dims)
    axes = (tiles, axes_of(tiled, layout.warp_dims), lanes)
    steps = [s for a in axes for size, s in zip(a.sizes, a.strides, strict=True) if size > 1]
    alignment = math.gcd(*steps)
    swizzle_tile = 16 * 8 // bits
    if not alignment:
        return JaxError("ZeroDivisionError", "integer modulo by zero")
    if swizzle_tile % alignment and layout.vector_length <= alignment:
        return plan_error(
            "Failed to prove that vector transfers don't cross swizzle tile boundaries. This check is incomplete, and "
            f"does not guarantee that this is a user error, but it might be. transfer_alignment={alignment}"
        )
    transfer_bytes = layout.register_bits(bits) // 8
    if transfer_bytes > 4 * BANK_BYTES:
        return plan_error(f"{transfer_bytes=} > {4 * BANK_BYTES} not implemented")
    if bits > 8 * BANK_BYTES:
        return plan_error(f"element_bits={bits} > {8 * BANK_BYTES} not implemented")
    if transfer_bytes.bit_count() != 1:
        return Unmodelled(f"registers of {transfer_bytes} bytes")
    banks = _Banks.of(lanes, bits, transfer_bytes, swizzle)
    return _avoid_conflicts(tiles, banks)


def plan_error(text: str) -> JaxError:
    """JAX's refusal to plan a transfer."""
    return JaxError(PLAN_ERROR, text)


@dataclass(frozen=True, slots=True)
class _Banks:
    """Which bank each lane meets, in elements of `bits` bits. All depends on offsets modulo `period` only."""

    lane_offsets: Shape
    wavefronts: tuple[tuple[int, ...], ...]
    period: int
    group: int
    swizzle_tile: int
    swizzle_groups: int
    per_bank: int
    count: int

    @staticmethod
    def of(lanes: Axes, bits: int, transfer_bytes: int, swizzle: int) -> _Banks:
        bank_bytes = min(BANK_BYTES, transfer_bytes)
        group = 128 * 8 // bits
        return _Banks(
            lane_offsets=tuple(
                sum(i * s for i, s in zip(idx, lanes.strides, strict=True)) for idx in ndindex(lanes.sizes)
            ),
            wavefronts=_wavefronts(lanes, max(transfer_bytes // bank_bytes, 1)),
            period=group * (swizzle // 16),
            group=group,
            swizzle_tile=16 * 8 // bits,
            swizzle_groups=swizzle // 16,
            per_bank=bank_bytes * 8 // bits,
            count=SMEM_BANKS * (BANK_BYTES // bank_bytes),
        )

    def met(self, tile_offset: int) -> tuple[int, ...]:
        """The bank that each lane meets in the tile at an offset."""
        banks: list[int] = []
        for lane_offset in self.lane_offsets:
            offset = tile_offset + lane_offset
            swizzled = offset ^ (offset // self.group % self.swizzle_groups * self.swizzle_tile)
            banks.append(swizzled // self.per_bank % self.count)
        return tuple(banks)

    def conflict(self, banks: Sequence[int]) -> bool:
        """Whether two lanes of a wavefront meet, given the bank of each lane."""
        return any(len({banks[lane] for lane in lanes}) < len(lanes) for lanes in self.wavefronts)


def _wavefronts(lanes: Axes, count: int) -> tuple[tuple[int, ...], ...]:
    """The lanes that access memory together; of lanes that hold the same data only the first counts."""
    leads = [all(not i or s for i, s in zip(idx, lanes.strides, strict=True)) for idx in ndindex(lanes.sizes)]
    width = WARP_SIZE // count
    return tuple(
        tuple(lane for lane in range(start, start + width) if leads[lane]) for start in range(0, WARP_SIZE, width)
    )


def ndindex(sizes: Shape) -> Iterator[Shape]:
    """All indices of an array, the last dimension fastest."""
    if not sizes:
        yield ()
        return
    for head in range(sizes[0]):
        for tail in ndindex(sizes[1:]):
            yield (head, *tail)


def _offsets(sizes: Shape, strides: Shape, period: int) -> set[int]:
    """The offsets of all tiles, modulo the period of the banks and the swizzle."""
    found = {0}
    for size, stride in zip(sizes, strides, strict=True):
        steps = {i * stride % period for i in range(size)}
        found = {(offset + step) % period for offset in found for step in steps}
    return found


def _avoid_conflicts(tiles: Axes, banks: _Banks) -> PlanResult:
    if not any(banks.conflict(banks.met(offset)) for offset in _offsets(tiles.sizes, tiles.strides, banks.period)):
        return Plan()
    for dim, (size, stride) in enumerate(zip(tiles.sizes, tiles.strides, strict=True)):
        if size > 1 and stride % (SMEM_BANKS * banks.per_bank) and _stagger(tiles, dim, banks):
            return Plan(staggered=True)
    return plan_error("Failed to synthesize a transfer pattern that avoids bank conflicts")


def _stagger(tiles: Axes, dim: int, banks: _Banks) -> bool:
    """Whether two groups of lanes, a constant number of tiles apart along `dim`, never meet."""
    size, stride = tiles.sizes[dim], tiles.strides[dim]
    others = _offsets(
        tiles.sizes[:dim] + tiles.sizes[dim + 1 :], tiles.strides[:dim] + tiles.strides[dim + 1 :], banks.period
    )
    met = lru_cache(maxsize=None)(lambda offset: banks.met(offset % banks.period))
    for lanes_a_turn in (1, 2, 4, 8, 16):
        turns = [lane // lanes_a_turn % 2 for lane in range(WARP_SIZE)]
        for apart in range(1, size):
            pairs = {(i * stride % banks.period, (i + apart) % size * stride % banks.period) for i in range(size)}
            if not any(banks.conflict(_taking_turns(met(a + o), met(b + o), turns)) for a, b in pairs for o in others):
                return True
    return False


def _taking_turns(first: Sequence[int], second: Sequence[int], turns: Sequence[int]) -> list[int]:
    return [b if turn else a for a, b, turn in zip(first, second, turns, strict=True)]


def transfers_by_matrix(
    ref: SmemRef, layout: Tiled, swizzle: int, optimized: bool, rules: Behaviour
) -> bool | JaxError | Unmodelled:
    """Whether the column form of ldmatrix/stmatrix moves this, which only the layout solver tries (since JAX 0.11).

    The row form needs nothing here: whatever it can move, a plain transfer moves too.
    """
    if not rules.solver_checks_strides or not lies_in_columns(ref, layout):
        return False
    if ref.bits == 8:
        # JAX asks for the architecture here, of an operation that the solver has put into no module.
        return JaxError("ValueError", "Cannot retrieve the architecture: no module found")
    plan = plan_columns(ref, layout, swizzle, optimized, rules)
    return plan if isinstance(plan, Unmodelled) else plan == Plan()


def lies_in_columns(ref: SmemRef, layout: Tiled) -> bool:
    """Whether the 8x4 vectors that a warp moves lie in memory column by column, as ldmatrix.trans wants them."""
    tiled = tile_nested(layout.tiles, *ref.nested())
    if tiled is None or len(layout.lane_dims) != 2 or layout.register_bits(ref.bits) != 32:
        return False
    major, minor = layout.lane_dims
    if not isinstance(major, int) or not isinstance(minor, int) or ref.bits not in (8, 16):
        return False
    return math.prod(tiled.shape[minor]) % 4 == 0 and tiled.shape[major] == (8,) and tiled.strides[major] == (1,)


def lies_in_rows(ref: SmemRef, layout: Tiled) -> bool:
    """Whether they lie row by row: what four neighbouring lanes hold is 16 bytes in memory."""
    tiled = tile_nested(layout.tiles, *ref.nested())
    minor = layout.lane_dims[-1]
    if tiled is None or not isinstance(minor, int) or layout.register_bits(ref.bits) != 32:
        return False
    sizes, strides = tiled.shape[minor], tiled.strides[minor]
    return math.prod(sizes) % 4 == 0 and sizes[-1] % 4 == 0 and strides[-1] == layout.vector_length


def plan_columns(ref: SmemRef, layout: Tiled, swizzle: int, optimized: bool, rules: Behaviour) -> PlanResult:
    """The plan of a transfer by columns of 16-bit elements, where `lies_in_columns`."""
    sizes, strides = ref.nested()
    tiled = tile_nested(layout.tiles, sizes, strides)
    major = layout.lane_dims[0]
    if tiled is None or not isinstance(major, int):
        return Unmodelled("a transfer by transposing matrix instructions")
    refused = check_strides(tiled, layout, major, rules)
    if refused is not None or not optimized:
        return refused or Plan()
    columns = column_layout(layout, major)
    retiled = None if columns is None else tile_nested(columns.tiles, sizes, strides)
    if columns is None or retiled is None:
        return Unmodelled("a transfer by transposing matrix instructions")
    return plan_without_conflicts(retiled, columns, ref.bits, swizzle)


def column_layout(layout: Tiled, major: int) -> Tiled | None:
    """How a transposing matrix instruction of 16-bit elements touches memory; None for layouts unlike WGMMA's.

    The 8 rows of `major` are split into 4 x 2: lanes then run over columns, and pairs of rows form the vector.
    """
    split = _subdivided(layout, major, layout.vector_length)
    if split is None or len(split.lane_dims) != 3:
        return None
    row_major, row_minor, col_major = split.lane_dims
    if not isinstance(row_minor, int):
        return None
    return Tiled(split.tiles, split.warp_dims, (col_major, split.vector_dim, row_major), row_minor, layout.name)


def _subdivided(layout: Tiled, dim: int, size: int) -> Tiled | None:
    """The layout with `dim` of one of its tiles cut into parts of `size` by a further tile right behind it."""
    tiles = list(layout.tiles)
    end = 0
    for at in range(len(tiles) - 1, -1, -1):
        start = end - len(tiles[at])
        if dim >= start:
            break
        end = start
    else:
        return None
    rank = len(tiles[at])
    if layout.vector_dim < end:
        return None
    cut = list(tiles[at])
    cut[dim - start] = size
    tiles.insert(at + 1, tuple(cut))

    def moved(dims: tuple[LayoutDim, ...]) -> Iterator[LayoutDim]:
        for d in dims:
            if not isinstance(d, int) or d >= end:
                yield d
            else:
                yield d - rank
                if d >= start:
                    yield d

    lanes = tuple(moved(layout.lane_dims))
    return canonical_layout(Tiled(tuple(tiles), tuple(moved(layout.warp_dims)), lanes, layout.vector_dim))
