"""What a generated kernel is to do, before anybody writes it down: its stores, buffers and mesh, sound or with faults."""

# ruff: noqa: E501 - lines of generated code stay whole

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .choices import Choices

BITS = {
    "float16": 16, "float32": 32, "bfloat16": 16, "int32": 32, "int8": 8, "uint32": 32, "float8_e4m3fn": 8, "uint8": 8, "int16": 16,
}  # fmt: skip
#: Layouts that store elements of so many bits, the usual ones first.
GOOD = {8: ("WGMMA_8BIT",), 16: ("WGMMA", "TCGEN05"), 32: ("WGMMA", "TCGEN05")}
ODD = ("TCGEN05_M64_COLLECTIVE", "TCGEN05_TMEM_NATIVE", "WGMMA_8BIT", "WGMMA_UPCAST_2X", "WGMMA_TRANSPOSED", "SPLAT", "STRIDED", "WGMMA", "TCGEN05")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer in shared memory. `lead`: extents in front of `shape` (pipeline stages)."""

    dtype: str
    shape: tuple[int, ...]
    tiling: tuple[int, ...] | None
    swizzle: int | None
    lead: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Store:
    """One call of `async_store_smem`.

    Attributes:
      shape, dtype, layout: of the stored value ("SPLAT": a constant without a layout; "" where it comes from other values).
      rows: the slice of the buffer that is stored to, as (start, size, step); None for the whole.
      view: what else is done to the buffer's reference: "", "T", "tile index", "value", "gmem", "cluster".
      drop: a required keyword that is left out.
    """

    buffer: Buffer
    shape: tuple[int, ...]
    dtype: str
    layout: str
    rows: tuple[int, int, int] | None = None
    view: str = ""
    barrier: str = "barrier"
    barriers: int = 1
    arrivals: int = 1
    slot: bool = True
    axis: str = "c"
    index: str = "1 - i"
    drop: str = ""
    extra: str = ""
    atomic: str | None = None
    optimized: bool | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A kernel."""

    semantics: str | None
    stores: tuple[Store, ...]
    spare: tuple[Buffer, ...] = ()
    axis_asked: str = "c"
    faults: tuple[str, ...] = field(default=())


def plan(c: Choices) -> Plan:
    """A kernel of one to three stores; about half of them have a fault, sometimes two."""
    stores = [sound_store(c) for _ in range(c.pick((1, 1, 1, 2, 2, 3)))]
    out = Plan(c.pick(("Warpgroup", "Lane", None)), tuple(stores))
    for _ in range(c.pick((0, 0, 1, 1, 1, 2))):
        out = _with_fault(c, out)
    if c.chance(15):
        out = replace(out, spare=(_spare(c),))
    return out


def sound_store(c: Choices) -> Store:
    """A store that JAX should take."""
    dtype = c.pick(list(BITS)[:7])
    bits = BITS[dtype]
    layout = c.pick(GOOD[bits])
    swizzle = c.pick((128, 64, 32))
    columns = 8 * swizzle // bits
    width = columns * c.pick((1, 2, 1, 3))
    if bits == 8 and width % 16:
        width = columns
    height = c.pick((64, 128, 64, 192)) if layout != "TCGEN05" else 128
    lead = c.pick(((), (), (2,), (3,), (2, 1))) if height * width * bits < 64 << 13 else ()
    buffer = Buffer(dtype, (height, width), (8, columns), swizzle, lead)
    rows = None
    if c.chance(15):
        buffer = replace(buffer, shape=(height * 2, width))
        rows = (c.pick((0, height)), height, 1)
    atomic = c.pick((None, None, None, None, "add", "max", "xor")) if dtype in ("int32", "uint32") else None
    barriers = c.pick((1, 1, 2, 4))
    optimized = c.pick((None, None, True, False))
    return Store(
        buffer, (height, width), dtype, layout, rows, barriers=barriers, atomic=atomic, optimized=optimized,
        arrivals=c.pick((1, 1, 2)), index=c.pick(("1 - i", "0", "1", "i", "lax.rem(i + 1, 2)")),
    )  # fmt: skip


def _with_fault(c: Choices, p: Plan) -> Plan:
    name = c.pick(list(FAULTS))
    at = c.below(len(p.stores))
    stores = list(p.stores)
    stores[at] = FAULTS[name](c, stores[at])
    return replace(p, stores=tuple(stores), faults=(*p.faults, name))


def _buffer(s: Store, **changes: object) -> Store:
    return replace(s, buffer=replace(s.buffer, **changes))


def _odd_layout(c: Choices, s: Store) -> Store:
    return replace(s, layout=c.pick(ODD))


def _odd_tiling(c: Choices, s: Store) -> Store:
    rows, columns = s.buffer.tiling or (8, 64)
    return _buffer(
        s,
        tiling=c.pick(
            (
                (rows, columns // 2),
                (columns,),
                (5, columns),
                (rows, columns * 2),
                (16, columns),
                (64, columns),
                (rows, 24),
            )
        ),
    )


def _small(c: Choices, s: Store) -> Store:
    columns = s.buffer.shape[-1]
    height = c.pick((8, 32, 48, 1, 16, 65, 3))
    shape = c.pick(((height, columns), (columns,), (48,), (height * columns,), ()))
    tiling = c.pick((s.buffer.tiling, (1, columns), (columns,), None))
    swizzle = c.pick((s.buffer.swizzle, None))
    return replace(_buffer(s, shape=shape, tiling=tiling, swizzle=swizzle), shape=shape, rows=None)


def _strange_rows(c: Choices, s: Store) -> Store:
    height, width = s.shape
    start, size, step = c.pick(((4, height, 1), (0, height, 2), (0, height - 4, 1), (8, height, 1)))
    s = _buffer(s, shape=(2 * height, width))
    return replace(s, shape=(size, width), rows=(start, size, step))


def _other_shape(c: Choices, s: Store) -> Store:
    height, width = s.shape
    return replace(
        s,
        shape=c.pick(
            ((height, width * 2), (height * 2, width), (1, height, width), (width, height + 64), (height * width,))
        ),
    )


def _with(**changes: object):
    return lambda c, s: replace(s, **changes)


FAULTS = {
    "layout": _odd_layout,
    "tiling": _odd_tiling,
    "swizzle": lambda c, s: _buffer(s, swizzle=c.pick((16, 256, 64, 32, 0, 100))),
    "no transforms": lambda c, s: _buffer(s, tiling=None, swizzle=None),
    "no swizzle": lambda c, s: _buffer(s, swizzle=None),
    "no tiling": lambda c, s: _buffer(s, tiling=None),
    "small": _small,
    "rows": lambda c, s: _strange_rows(c, s) if len(s.shape) == 2 else s,
    "shape": lambda c, s: _other_shape(c, s) if len(s.shape) == 2 else s,
    "dtype": lambda c, s: replace(s, dtype=c.pick(list(BITS))),
    "buffer dtype": lambda c, s: _buffer(s, dtype=c.pick(list(BITS))),
    "both dtypes": lambda c, s: replace(_buffer(s, dtype=(d := c.pick(list(BITS)))), dtype=d),
    "barriers": lambda c, s: replace(s, barriers=c.pick((2, 3)), slot=False),
    "cluster barrier": _with(barrier="cluster_barrier"),
    "data barrier": _with(barrier="data"),
    "gmem barrier": _with(barrier="gmem"),
    "value barrier": _with(barrier="value"),
    "arrivals": _with(arrivals=0),
    "axis": lambda c, s: replace(s, axis=c.pick(("x", "g", "wg", "z"))),
    "index": lambda c, s: replace(s, index=c.pick(("1.0", "5", "-1", "jnp.zeros((2,), jnp.int32)", "i * 1.0", "None"))),
    "missing keyword": lambda c, s: replace(s, drop=c.pick(("cluster_dim", "cluster_idx", "both"))),
    "unknown keyword": lambda c, s: replace(s, extra=c.pick(("predicate=None", "collective_axes='c'"))),
    "atomic": lambda c, s: replace(s, atomic=c.pick(("add", "mul", "max", "or"))),
    "view": lambda c, s: replace(s, view=c.pick(("T", "tile index", "value", "gmem", "cluster", "transpose back"))),
    "optimized": _with(optimized=False),
}  # fmt: skip


def _spare(c: Choices) -> Buffer:
    columns = c.pick((64, 32))
    return Buffer("float16", (64, columns), c.pick(((8, columns), (8, 48), None)), c.pick((None, 2 * columns, 16)))
