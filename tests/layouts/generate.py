"""Random StoreCases whose kernels JAX can trace: transforms divide, views can be taken, layouts apply."""

from __future__ import annotations

import random
from dataclasses import replace

from pallas_ls.domain import layout_table as table
from pallas_ls.domain.layout import RegisterLayout, Splat, Strided, Tiled
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.domain.tiling import Shape
from pallas_ls.rules.transfer.case import BarrierKind, Sliced, StoreCase, View
from pallas_ls.rules.transfer.lane import Access

BITS = {
    "int4": 4,
    "uint4": 4,
    "int8": 8,
    "uint8": 8,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "int16": 16,
    "float16": 16,
    "bfloat16": 16,
    "int32": 32,
    "uint32": 32,
    "float32": 32,
}
ATOMICS = ("add", "max", "xor", "mul")


def random_case(rng: random.Random, version: JaxVersion) -> StoreCase:
    """One case; about half are stores that one would write, the others odd in one way or several."""
    while True:
        case = _try_case(rng, version)
        if case is not None:
            return case


def _try_case(rng: random.Random, version: JaxVersion) -> StoreCase | None:
    dtype = rng.choice(list(BITS))
    bits = BITS[dtype]
    semantics = rng.choice(list(Semantics))
    swizzle = rng.choice((32, 64, 128))
    tiling, shape = _tiling_and_shape(rng, 8 * swizzle // bits)
    if _bytes(shape, bits) > 65536:
        return None
    kept_tiling, kept_swizzle = _some_transforms(rng, shape, tiling, swizzle, bits)
    layout = _source(rng, shape, bits, version)
    if not _castable(shape, layout, semantics, version):
        return None
    case = StoreCase(shape, bits, dtype, layout, kept_tiling, kept_swizzle, semantics, version)
    if semantics is Semantics.WARPGROUP and rng.random() < 0.1:
        case = replace(case, source=None)
    case = replace(case, optimized=rng.random() < 0.7)
    if rng.random() < 0.15:
        case = replace(case, atomic=rng.choice(ATOMICS))
    if rng.random() < 0.05:
        case = replace(case, barrier=rng.choice(list(BarrierKind)))
    if rng.random() < 0.05:
        case = replace(case, barrier_orders_tensor_core=True)
    if rng.random() < 0.2:
        viewed = _random_view(rng, case)
        if viewed is None or _bytes(viewed.allocated, bits) > 65536:
            return None
        case = viewed
    return case


def _castable(shape: Shape, layout: RegisterLayout, semantics: Semantics, version: JaxVersion) -> bool:
    """Whether the kernel can cast a constant: JAX 0.10 compares the wrong dimensions under Warpgroup."""
    if version >= JaxVersion(0, 11) or semantics is Semantics.LANE or not isinstance(layout, Tiled):
        return True
    return not any(size % tile for size, tile in zip(shape, layout.base_tile, strict=False))


def _bytes(shape: Shape, bits: int) -> int:
    total = bits
    for size in shape:
        total *= size
    return total // 8


def _tiling_and_shape(rng: random.Random, columns: int) -> tuple[Shape, Shape]:
    """A tiling as wide as the swizzle and a shape that it divides."""
    rank = rng.choice((1, 2, 2, 2, 2, 2, 3))
    rows = rng.choice((8, 8, 8, 64, 1, 2, 4, 16, 3))
    tile: Shape = (rows, columns) if rng.random() < 0.85 else (columns,)
    if rank == 1:
        tile = (columns,)
    if rank == 3 and rng.random() < 0.15:
        tile = (rng.choice((1, 2)), *tile) if len(tile) == 2 else tile
    width = columns * rng.choice((1, 1, 1, 2, 2, 3, 4))
    height = rng.choice((64, 64, 128, 128, 192, 8, 32, 48, 16, 1, 3, 256))
    shape = {1: (width,), 2: (height, width), 3: (rng.choice((1, 2, 3, 4)), height, width)}[rank]
    if any(size % t for size, t in zip(reversed(shape), reversed(tile), strict=False)):
        shape = (*shape[:-2], rows * rng.choice((1, 2, 3, 8, 16)), width) if rank > 1 else shape
    if len(tile) == 3 and shape[0] % tile[0]:
        shape = (2, *shape[1:])
    return tile, shape


def _some_transforms(
    rng: random.Random, shape: Shape, tiling: Shape, swizzle: int, bits: int
) -> tuple[Shape | None, int | None]:
    """Mostly both transforms; sometimes none, a tiling alone (of any width), or a swizzle alone where it can be."""
    chance = rng.random()
    if chance < 0.75:
        return tiling, swizzle
    if chance < 0.85:
        return None, None
    if chance < 0.95 or shape[-1] * bits != 8 * swizzle:
        widths = [w for w in (4, 8, 16, 32, 64, 128, 256) if shape[-1] % w == 0 and w * bits % 8 == 0]
        return ((*tiling[:-1], rng.choice(widths)) if widths and rng.random() < 0.6 else tiling), None
    return None, swizzle


def _source(rng: random.Random, shape: Shape, bits: int, version: JaxVersion) -> RegisterLayout:
    """Any layout that applies to the shape; where none does, a constant."""
    chance = rng.random()
    if chance < 0.1:
        return Splat(shape)
    if chance < 0.2:
        strided = table.strided_for(shape, bits, version)
        if strided is not None:
            return strided if rng.random() < 0.7 else Strided(shape, 1)
    layouts = table.applicable(shape, bits, version)
    storable = tuple(layout for layout in layouts if layout.register_bits(bits) in (32, 64) and not layout.replicated)
    if storable and rng.random() < 0.6:
        layouts = storable
    return rng.choice(layouts) if layouts else Splat(shape)


def _random_view(rng: random.Random, case: StoreCase) -> StoreCase | None:
    """The same store through a slice of a larger ref, an integer index, or (Warpgroup) a transposition."""
    shape, tiling = case.shape, case.tiling or ()
    chance = rng.random()
    if chance < 0.25 and case.semantics is Semantics.WARPGROUP and len(shape) == 2 and len(tiling) in (0, 2):
        view = View(shape[::-1], tuple(Sliced(size) for size in shape[::-1]), (1, 0))
        if case.swizzle is not None and case.bits * shape[-1] % (8 * case.swizzle):
            return None
        parent_tiling = tiling if _divides(tiling, view.parent) else None
        keeps = parent_tiling is not None and case.tiling is not None
        tiling_kept = parent_tiling if keeps else None
        return replace(case, view=view, tiling=tiling_kept, swizzle=case.swizzle if keeps else None)
    if case.tiling is None and case.swizzle is not None and len(shape) == 1:
        return None  # refused before the store: the last two dimensions of a swizzled ref take slices only
    if chance < 0.6:
        view = View((rng.choice((2, 3)), *shape), (None, *(Sliced(size) for size in shape)))
        return replace(case, view=view)
    dim = rng.randrange(len(shape))
    tile = dict(zip(range(len(shape) - 1, -1, -1), reversed(tiling), strict=False)).get(dim, 1)
    dynamic = rng.random() < 0.5
    offset = tile * rng.choice((1, 2)) if dynamic else 0
    index = tuple(Sliced(size, offset if i == dim else 0) for i, size in enumerate(shape))
    parent = tuple(size * 2 if i == dim else size for i, size in enumerate(shape))
    if case.tiling is None and case.swizzle is not None and dim == len(shape) - 1:
        return None
    return replace(case, view=View(parent, index))


def _divides(tiling: Shape, shape: Shape) -> bool:
    return not any(size % tile for size, tile in zip(reversed(shape), reversed(tiling), strict=False))


def random_access(rng: random.Random, version: JaxVersion) -> Access:
    """A load or store of a whole buffer, of a slice, of one of several, or of a transposed one, as Lane takes it."""
    while True:
        access = _try_access(rng, version)
        if access is not None:
            return access


def _try_access(rng: random.Random, version: JaxVersion) -> Access | None:
    dtype = rng.choice([name for name, bits in BITS.items() if bits > 4])
    bits = BITS[dtype]
    swizzle = rng.choice((32, 64, 128))
    tiling, shape = _tiling_and_shape(rng, 8 * swizzle // bits)
    if rng.random() < 0.2:
        shape = rng.choice(((48,), (256,), (96,), (64, 8), (64, 20), (128, 2), (8, 128), (3, 128), (64, 256)))
    elsewhere = rng.random() < 0.25
    plain = elsewhere or not _divides(tiling, shape) or rng.random() < 0.3
    kept = (None, None) if plain else _some_transforms(rng, shape, tiling, swizzle, bits)
    case = StoreCase(shape, bits, dtype, None, *kept, Semantics.LANE, version, rng.random() < 0.7)
    chance = rng.random()
    if chance < 0.15 and len(shape) == 2 and _divides(case.tiling or (), shape[::-1]):
        view = View(shape[::-1], tuple(Sliced(size) for size in shape[::-1]), (1, 0))
        if case.tiling is None and case.swizzle is not None:
            return None
        case = replace(case, view=view)
    elif chance < 0.4:
        case = _random_view(rng, case)
    if case is None or _bytes(case.allocated, bits) > 65536:
        return None
    return Access(case, elsewhere)
