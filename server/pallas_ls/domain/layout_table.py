"""The register layouts that `plgpu.Layout` names, and how JAX prints them. The tests compare each with live JAX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from .finding import JaxError
from .layout import RegisterLayout, Replicated, Splat, Strided, Tiled, canonical_layout
from .target import NEWEST, JaxVersion
from .tiling import Shape, tile_shape

FOUR_TIMES = Replicated(4)

#: Members without arguments.
CONSTANT: dict[str, Tiled] = {
    layout.name: layout
    for layout in (
        Tiled(((64, 8), (16, 8), (8, 8), (2,)), (-7,), (-3, -2), -1, "WGMMA"),
        Tiled(((64, 16), (16, 16), (8, 16), (4,)), (-7,), (-3, -2), -1, "WGMMA_8BIT"),
        Tiled(((64, 16), (16, 16), (8, 16), (8,), (4,)), (-8,), (-4, -2, -3), -1, "WGMMA_UPCAST_2X"),
        Tiled(((64, 32), (16, 32), (8, 32), (8,)), (-7,), (-3, -2), -1, "WGMMA_UPCAST_4X"),
        Tiled(((64, 8), (16, 8), (8, 8), (2, 2), (2, 1)), (-10,), (-6, -3, -5), -2, "WGMMA_TRANSPOSED"),
        Tiled(((64, 8), (16, 8), (8, 8), (2,), (1,)), (-8,), (-4, -3), -1, "_WGMMA_ACC_32BIT"),
        Tiled(((128, 8), (32, 8), (8, 8), (2,)), (-7,), (-3, -2), -1, "TCGEN05"),
        Tiled(((128, 8), (32, 8), (8, 8), (2, 2), (2, 1)), (-10,), (-6, -3, -5), -2, "TCGEN05_TRANSPOSED"),
        Tiled(((16,), (4,)), (-2,), (Replicated(32),), -1, "TMA_INDICES"),
        Tiled(((4,),), (FOUR_TIMES,), (Replicated(32),), -1, "TMA_INDICES_4"),
    )
}

WGMMA = CONSTANT["WGMMA"]
WGMMA_8BIT = CONSTANT["WGMMA_8BIT"]
WGMMA_UPCAST_2X = CONSTANT["WGMMA_UPCAST_2X"]
WGMMA_UPCAST_4X = CONSTANT["WGMMA_UPCAST_4X"]
WGMMA_TRANSPOSED = CONSTANT["WGMMA_TRANSPOSED"]
TCGEN05 = CONSTANT["TCGEN05"]
TCGEN05_TRANSPOSED = CONSTANT["TCGEN05_TRANSPOSED"]
TMA_INDICES = CONSTANT["TMA_INDICES"]
TMA_INDICES_4 = CONSTANT["TMA_INDICES_4"]


def tmem_native(vector_length: int = 2, *, name: str | None = None) -> Tiled:
    """`TCGEN05_TMEM_NATIVE(vector_length)`: the 128 rows of a tile are the 128 lanes."""
    shown = name or ("TCGEN05_TMEM_NATIVE" if vector_length == 2 else f"TCGEN05_TMEM_NATIVE({vector_length})")
    return canonical_layout(Tiled(((128, vector_length), (32, vector_length)), (-4,), (-2,), -1, shown))


def m64_collective(columns: int, version: JaxVersion = NEWEST) -> Tiled | JaxError:
    """`TCGEN05_M64_COLLECTIVE(columns)`."""
    if columns % 16:
        return JaxError("ValueError", f"Columns must be a multiple of 16, got: {columns}")
    tiles = ((64, columns), (32, columns // 2), (8, 8), (2,))
    name = f"TCGEN05_M64_COLLECTIVE({columns})"
    return _canonical_or_error(Tiled(tiles, (-6, -7), (-3, -2), -1, name), "TiledLayout", version)


def m64_collective_native(columns: int, packing: int = 1, version: JaxVersion = NEWEST) -> Tiled | JaxError:
    """`TCGEN05_M64_COLLECTIVE_NATIVE(columns, packing)`."""
    if packing > 8 or packing.bit_count() != 1:
        return JaxError("ValueError", f"Packing must be <= 8 and a power of 2, got: {packing}")
    if columns % 16:
        return JaxError("ValueError", f"Columns must be a multiple of 16, got: {columns}")
    tiles = ((64, columns), (32, columns // 2), (packing,))
    name = f"TCGEN05_M64_COLLECTIVE_NATIVE({columns}, {packing})"
    return _canonical_or_error(Tiled(tiles, (-4, -5), (-3,), -1, name), "TMEMLayout", version)


def smem_gmem_copy(shape: Shape, bits: int, swizzle: int) -> Tiled | JaxError:
    """`SMEM_GMEM_COPY(shape, dtype, swizzle)`: conflict-free copies between shared and global memory.

    `bits`: width of an element; `swizzle` in bytes. Mirrors `tiled_copy_smem_gmem_layout`.
    """
    columns = 8 * swizzle // bits
    if len(shape) != 2 or not columns or shape[0] % 8 or shape[1] % columns:
        return JaxError("ValueError", f"('Non-divisible tiling:', {shape}, {(8, columns)})")
    split = _split_over_warps(shape[0] // 8, shape[1] // columns)
    if split is None:
        return JaxError("NotImplementedError", "Number of tiles is not a multiple of 4")
    (warp_rows, warp_cols), (rows, cols) = split
    lane_rows, lane_cols, thread_bytes = _split_over_lanes(rows, cols, swizzle)
    if 8 * thread_bytes < bits:
        return JaxError("NotImplementedError", "Element types with bitwidth so large aren't supported")
    vector = thread_bytes * 8 // bits
    steps = max(1, 8 * columns // (vector * 32))
    tiles = (
        (warp_rows * lane_rows * 8, warp_cols * lane_cols * columns),
        (lane_rows * 8, lane_cols * columns),
        (8, columns),
        (8 // steps, columns),
        (vector,),
    )
    name = f"SMEM_GMEM_COPY({shape}, {bits} bits, {swizzle})"
    return canonical_layout(Tiled(tiles, (-9, -8), (-7, -6, -3, -2), -1, name))


def _split_over_warps(rows: int, cols: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Tiles each warp takes, as ((warp rows, warp columns), (rows left, columns left))."""
    for warp_rows, warp_cols in ((4, 1), (2, 2), (1, 4)):
        if rows % warp_rows == 0:
            return None if cols % warp_cols else ((warp_rows, warp_cols), (rows // warp_rows, cols // warp_cols))
    return None


def _split_over_lanes(rows: int, cols: int, swizzle: int) -> tuple[int, int, int]:
    """Spreads a warp over several tiles until a thread moves 16 bytes: (lane rows, lane columns, bytes a thread)."""
    thread_bytes = min(16, 8 * swizzle // 32)
    lane_rows = lane_cols = 1
    left = 16 // thread_bytes
    while left > 1 and cols % 2 == 0:
        left, lane_cols, cols = left // 2, lane_cols * 2, cols // 2
    while left > 1 and rows % 2 == 0:
        left, lane_rows, rows = left // 2, lane_rows * 2, rows // 2
    return lane_rows, lane_cols, thread_bytes * lane_rows * lane_cols


def mma_operand(role: str, bits: int, m_warps: int = 4) -> Tiled | JaxError:
    """`MMA_LHS`, `MMA_RHS`, `MMA_ACC` (role "LHS", "RHS", "ACC") for elements of `bits` bits, since JAX 0.11."""
    if m_warps not in (1, 2, 4):
        return JaxError("ValueError", f"m_warps must be 1, 2, or 4, but got {m_warps=}")
    n_warps = 4 // m_warps
    vector = max(32 // bits, 1)
    k, sub_k = 8 * vector, 4 * vector
    name = f"MMA_{role}({bits} bits, m_warps={m_warps})"
    if role == "LHS":
        tiles = ((m_warps * 16, k), (16, sub_k), (8, sub_k), (vector,))
        return canonical_layout(Tiled(tiles, (-7, Replicated(n_warps)), (-3, -2), -1, name))
    if role == "RHS":
        tiles = ((k, n_warps * 8), (sub_k, 8), (vector, 1))
        return canonical_layout(Tiled(tiles, (Replicated(m_warps), -5), (-3, -4), -2, name))
    tiles = ((m_warps * 16, n_warps * 8), (16, 8), (8, 8), (2,))
    return canonical_layout(Tiled(tiles, (-7, -6), (-3, -2), -1, name))


def applicable(shape: Shape, bits: int, version: JaxVersion) -> tuple[Tiled, ...]:
    """Every named tiled layout, reduced ones too, that an array of `shape` and elements of `bits` bits can have."""
    found: list[Tiled | JaxError] = [*CONSTANT.values(), *map(tmem_native, (2, 1, 4, 8, 16))]
    if len(shape) > 1:
        found.append(m64_collective(shape[-1]))
        found += [m64_collective_native(shape[-1], packing) for packing in (1, 2, 4, 8)]
        found += _copies(shape[-2:], bits)
    if version >= JaxVersion(0, 11):
        found += [mma_operand(role, bits, warps) for role in ("ACC", "LHS", "RHS") for warps in (4, 2, 1)]
    layouts = [layout for layout in found if isinstance(layout, Tiled)]
    reduced = [layout.reduce(axis) for layout in layouts if len(layout.base_tile) == 2 for axis in (0, 1)]
    return tuple(layout for layout in layouts + reduced if layout.applies_to(shape))


def _copies(shape: Shape, bits: int) -> list[Tiled | JaxError]:
    """Copy layouts made for the shape itself, and for the smallest shapes of each split over the four warps."""
    made: list[Tiled | JaxError] = []
    for swizzle in (128, 64, 32):
        columns = 8 * swizzle // bits
        for of in (shape, (32, columns), (16, 2 * columns), (8, 4 * columns)):
            made.append(smem_gmem_copy(of, bits, swizzle))
    return made


def strided_for(shape: Shape, bits: int, version: JaxVersion) -> Strided | None:
    """The strided layout that JAX picks by itself, or None where it has none (elements % 128, narrow types)."""
    size = 1
    for dim in shape:
        size *= dim
    if size % 128 or (bits % 8 and version < JaxVersion(0, 11)):
        return None
    vec = min(64 // bits, size // 128)
    while vec and size % (vec * 128):
        vec //= 2
    if not vec or vec * bits % 8:
        return None
    return Strided(shape, vec)


def _canonical_or_error(layout: Tiled, jax_class: str, version: JaxVersion) -> Tiled | JaxError:
    """JAX refuses to construct these layouts where their tiling is not canonical already."""
    if tile_shape(layout.tiles, layout.base_tile) is None:
        return JaxError("ValueError", f"Tiling {layout.tiles} does not apply to shape {layout.base_tile}")
    if canonical_layout(layout) != layout:
        text = jax_repr(layout, version).replace("TiledLayout", jax_class)
        return JaxError("ValueError", f"{text} is not canonical.")
    return layout


FIRST = JaxVersion(0, 10)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of `plgpu.Layout`: its parameters in order (with defaults), and the first JAX version that has it."""

    parameters: tuple[str, ...] = ()
    defaults: tuple[object, ...] = ()
    since: JaxVersion = FIRST


#: Every public member. A parameter "bits" is a dtype in the user's code; the caller passes its width.
MEMBERS: dict[str, Member] = {
    **{name: Member() for name in CONSTANT},
    "WG_SPLAT": Member(("shape",)),
    "WG_STRIDED": Member(("shape", "vec_size")),
    "TILED": Member(("tiling", "warp_dims", "lane_dims", "vector_dim")),
    "TCGEN05_TMEM_NATIVE": Member(("vector_length",), (2,)),
    "TCGEN05_M64_COLLECTIVE": Member(("columns",)),
    "TCGEN05_M64_COLLECTIVE_NATIVE": Member(("columns", "packing"), (1,)),
    "SMEM_GMEM_COPY": Member(("shape", "bits", "swizzle")),
    "MMA_LHS": Member(("bits", "m_warps"), (4,), JaxVersion(0, 11)),
    "MMA_RHS": Member(("bits", "m_warps"), (4,), JaxVersion(0, 11)),
    "MMA_ACC": Member(("bits", "m_warps"), (4,), JaxVersion(0, 11)),
}


def names(version: JaxVersion) -> tuple[str, ...]:
    """The members that `plgpu.Layout` of this JAX version has."""
    return tuple(name for name, member in MEMBERS.items() if member.since <= version)


def instantiate(
    name: str, version: JaxVersion, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
) -> RegisterLayout | JaxError | None:
    """The layout `plgpu.Layout.NAME(*args, **kwargs)`; a dtype argument is passed as its width in bits.

    None where the arguments are not concrete integers and tuples, or are not understood.
    """
    member = MEMBERS.get(name)
    if member is None or member.since > version:
        return JaxError("AttributeError", f"type object 'Layout' has no attribute '{name}'")
    values = _bind(member, args, kwargs or {})
    if values is None:
        return None
    if name in CONSTANT:
        return CONSTANT[name]
    return _parameterized(name, values, version)


def _bind(member: Member, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, ...] | None:
    """The member's arguments in order, or None where they do not fit its parameters."""
    aliases = {"dtype": "bits"}
    named = {aliases.get(key, key): value for key, value in kwargs.items()}
    if len(args) > len(member.parameters) or any(key not in member.parameters for key in named):
        return None
    optional = member.parameters[len(member.parameters) - len(member.defaults) :]
    bound: dict[str, object] = dict(zip(optional, member.defaults, strict=True))
    bound |= dict(zip(member.parameters, args, strict=False)) | named
    if any(parameter not in bound for parameter in member.parameters):
        return None
    return tuple(bound[parameter] for parameter in member.parameters)


def _parameterized(name: str, values: tuple[object, ...], version: JaxVersion) -> RegisterLayout | JaxError | None:
    shape = _shape(values[0]) if values else None
    match name, values:
        case "WG_SPLAT", (_,) if shape is not None:
            return Splat(shape)
        case "WG_STRIDED", (_, int() as vec) if shape is not None:
            layout = Strided(shape, vec)
            ok = vec > 0 and layout.applies_to(shape)
            return layout if ok else JaxError("ValueError", f"({jax_repr(layout)}, 128)")
        case "TCGEN05_TMEM_NATIVE", (int() as vector,):
            return tmem_native(vector)
        case "TCGEN05_M64_COLLECTIVE", (int() as columns,):
            return m64_collective(columns, version)
        case "TCGEN05_M64_COLLECTIVE_NATIVE", (int() as columns, int() as packing):
            return m64_collective_native(columns, packing, version)
        case "SMEM_GMEM_COPY", (_, int() as bits, int() as swizzle) if shape is not None:
            return smem_gmem_copy(shape, bits, swizzle)
        case (("MMA_LHS" | "MMA_RHS" | "MMA_ACC"), (int() as bits, int() as m_warps)):
            return mma_operand(name.removeprefix("MMA_"), bits, m_warps)
        case _:
            return None


def _shape(value: object) -> Shape | None:
    if not isinstance(value, tuple):
        return None
    sizes = cast("tuple[object, ...]", value)
    known = tuple(size for size in sizes if isinstance(size, int))
    return known if len(known) == len(sizes) else None


#: The layouts that JAX's messages name; all others are printed in full.
PRINTED: dict[Tiled, str] = {
    WGMMA: "WGMMA",
    WGMMA.reduce(1): "WGMMA_ROW",
    WGMMA_TRANSPOSED: "WGMMA_TRANSPOSED",
    TCGEN05: "TCGEN05",
    TCGEN05_TRANSPOSED: "TCGEN05_TRANSPOSED",
    tmem_native(): "TCGEN05_TMEM_NATIVE",
}


def jax_name(layout: RegisterLayout, version: JaxVersion) -> str:
    """The layout as JAX's messages print it (`pprint_layout`)."""
    if isinstance(layout, Tiled) and layout in PRINTED:
        return PRINTED[layout]
    return jax_repr(layout, version)


def jax_repr(layout: RegisterLayout, version: JaxVersion = NEWEST) -> str:
    """Python's repr of JAX's own layout object."""
    match layout:
        case Splat(shape):
            return f"WGSplatFragLayout(shape={shape})"
        case Strided(shape, vec):
            return f"WGStridedFragLayout(shape={shape}, vec_size={vec})"
        case Tiled():
            unreduced = ", unreduced_operation=None" if version >= JaxVersion(0, 12) else ""
            return (
                f"TiledLayout(tiling=Tiling(tiles={layout.tiles}), warp_dims={layout.warp_dims}, "
                f"lane_dims={layout.lane_dims}, vector_dim={layout.vector_dim}{unreduced})"
            )
