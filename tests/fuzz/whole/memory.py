"""Buffers in shared memory and the copies between them and global memory."""

from __future__ import annotations

import math

from .kernel import BITS, Kernel, Shape, Tile, jnp_dtype, shape_text, size_in_bytes

_SHAPES: tuple[Shape, ...] = (
    (64, 64),
    (128, 64),
    (64, 128),
    (128, 128),
    (8, 128),
    (32, 32),
    (64, 32),
    (256, 64),
    (2, 64, 64),
)
_FLAT: tuple[Shape, ...] = ((128,), (256,), (512,), (1024,))
_DTYPES = ("float32", "bfloat16", "float16", "float16", "bfloat16", "int32", "uint32", "int8", "float8_e4m3fn")


def swizzles(shape: Shape, dtype: str) -> list[int]:
    """Swizzles with which a buffer can be tiled (8, 8 * swizzle // bits)."""
    if len(shape) < 2 or shape[-2] % 8 or BITS[dtype] < 8:
        return []
    return [s for s in (128, 64, 32) if shape[-1] % (8 * s // BITS[dtype]) == 0]


def transforms(k: Kernel, shape: Shape, dtype: str, swizzle: int) -> str:
    """Keyword of a tiling with its swizzle."""
    d, columns = k.d, 8 * swizzle // BITS[dtype]
    tiling = d.odd(
        (8, columns),
        (8, columns // 2),
        (8, columns * 2),
        (16, columns),
        (64, columns),
        (columns,),
        (7, columns),
        (1, 8, columns),
    )
    number = d.odd(swizzle, 16, 256, 32, 64, 128)
    tile, swizzled = f"plgpu.TilingTransform({shape_text(tiling)})", f"plgpu.SwizzleTransform({number})"
    return ", transforms=" + d.odd(
        f"({tile}, {swizzled})", f"({tile},)", f"({swizzled},)", f"({swizzled}, {tile})", f"[{tile}, {swizzled}]"
    )


def smem(k: Kernel, shape: Shape, dtype: str, tiled: bool | None = None, stages: int = 0) -> tuple[str, int | None]:
    """The type of a buffer, and its swizzle."""
    d = k.d
    fit = swizzles(shape, dtype)
    if tiled is None:
        tiled = d.chance(60)
    swizzle = d.pick(fit) if tiled and fit else None
    keywords = transforms(k, shape, dtype, swizzle) if swizzle else ""
    keywords += d.rarely("", ", packed=True", ", collective=True", ", layout=plgpu.TMEMLayout.SCALES_LAYOUT")
    whole = (stages, *shape) if stages else shape
    whole = d.rarely(whole, (64, *whole), (*whole[:-1], whole[-1] + 4), (*whole[:-1], whole[-1] // 2))
    return f"plgpu.SMEM({shape_text(whole)}, {jnp_dtype(dtype)}{keywords})", swizzle


def buffer(k: Kernel, shape: Shape, dtype: str, tiled: bool | None = None) -> Tile:
    """A new buffer, known to what follows."""
    kind, swizzle = smem(k, shape, dtype, tiled)
    made = Tile(k.allocate("s", kind), shape, dtype, swizzle)
    k.tiles.append(made)
    return made


def any_tile(k: Kernel) -> Tile:
    """A buffer that is there, or a new one."""
    d = k.d
    return d.pick(k.tiles) if k.tiles and d.chance(70) else draw_buffer(k)


def draw_buffer(k: Kernel) -> Tile:
    """A new buffer of a random shape."""
    d = k.d
    return buffer(k, d.pick(_FLAT if d.chance(25) else _SHAPES), d.pick(_DTYPES))


def barrier(k: Kernel, arrivals: int = 1, number: int = 0, tensor: bool = False) -> str:
    """A new barrier; the text of one of them where there are several."""
    d = k.d
    words = []
    if arrivals != 1 or d.odd(False, True):
        words.append(f"num_arrivals={d.odd(arrivals, 0, -1, arrivals + 1)}")
    if number:
        words.append(f"num_barriers={d.odd(number, number + 40, number)}")
    if d.odd(tensor, not tensor):
        words.append("orders_tensor_core=True")
    kind = f"plgpu.Barrier({', '.join(words)})"
    if k.cluster:
        kind = d.odd(kind, f"plgpu.ClusterBarrier(collective_axes=({next(iter(k.cluster))!r},))")
    name = k.allocate("b", kind)
    return d.odd(f"{name}.at[{d.below(number)}]", name, f"{name}.at[0:1]", f"{name}.at[::2]") if number else name


def _source(k: Kernel, shape: Shape, dtype: str) -> str:
    """An operand of which a part has the shape: the expression of the part."""
    d = k.d
    whole: list[int] = []
    index: list[str] = []
    for at, n in enumerate(shape):
        how = d.pick(("all", "all", "grid", "static", "slice") if at == 0 else ("all", "all", "static", "slice"))
        times = 1 if how == "all" else d.pick((2, 4))
        whole.append(d.odd(n * times, n * times + 1, max(1, n * times // 2), n * times + 4))
        start = n * d.below(times)
        if how == "grid" and k.grid:
            index.append(f"pl.ds(lax.axis_index({d.pick(list(k.grid))!r}) * {n}, {n})")
        elif how == "slice":
            index.append(d.odd(f"{start}:{start + n}", f"{start}:{start + 2 * n}:2", f"{start}:{start + n // 2}"))
        elif how == "all":
            index.append(":")
        else:
            index.append(
                d.odd(f"pl.ds({start}, {n})", f"pl.ds({whole[-1]}, {n})", f"pl.ds({start}, {n}, 2)", f"{start}")
            )
    if d.chance(15):
        whole.insert(0, 4)
        index.insert(0, d.odd("1", ":", "pl.ds(1, 1)"))
    name = k.operand(tuple(whole), d.odd(dtype, "int8", "float32", "bool"))
    return name if all(i == ":" for i in index) and d.chance(70) else f"{name}.at[{', '.join(index)}]"


def _fit(shape: Shape, dtype: str) -> bool:
    """Whether TMA takes it: boxes of at most 256, lines of at least 16 bytes."""
    return max(shape) <= 256 and shape[-1] * BITS[dtype] % 128 == 0 and size_in_bytes(shape, dtype) <= 64 * 1024


def copy_in(k: Kernel) -> None:
    """Copies a part of an operand into a buffer, perhaps one of several stages, and waits for it."""
    d = k.d
    shape, dtype = d.pick(_FLAT[:2] if d.chance(20) else _SHAPES), d.pick(_DTYPES)
    if not _fit(shape, dtype):
        shape = (64, 64)
    stages = d.pick((0, 0, 2, 3)) if size_in_bytes(shape, dtype) <= 16384 else 0
    kind, swizzle = smem(k, shape, dtype, stages=stages)
    name = k.allocate("s", kind)
    slot = d.below(stages) if stages else 0
    there = d.odd(f"{name}.at[{slot}]", name) if stages else name
    bar = barrier(k, number=stages)
    source = _source(k, shape, dtype)
    words = ""
    if k.cluster and d.chance(40) and shape[0] % 8 == 0 and len(shape) > 1:
        axis = d.odd(next(iter(k.cluster)), "elsewhere", "gx")
        words += f", collective_axes={axis!r}"
        if d.odd(False, True):
            words += ", leader_tracked=plgpu.CopyPartition.PARTITIONED(0)"
    words += d.odd(
        "", ", leader_tracked=plgpu.CopyPartition.REPLICATED", ", oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS"
    )
    first, second = d.odd((source, there), (there, source), (source, source))
    k.say(f"plgpu.copy_gmem_to_smem({first}, {second}{d.odd(f', {bar}', '', ', ' + first)}{words})")
    k.say(f"plgpu.barrier_wait({bar})")
    k.tiles.append(Tile(f"{name}.at[{slot}]" if stages else name, shape, dtype, swizzle))


def copy_out(k: Kernel) -> None:
    """Copies a buffer to a result."""
    d = k.d
    tile = any_tile(k)
    if not _fit(tile.shape, tile.dtype):
        tile = buffer(k, (64, 64), "bfloat16")
    times = d.pick((1, 1, 2, 4))
    name = k.result((tile.shape[0] * times, *tile.shape[1:]), d.odd(tile.dtype, "int8", "float32"))
    there = name
    if times > 1:
        n = d.odd(tile.shape[0], tile.shape[0] // 2)
        start = (
            f"lax.axis_index({d.pick(list(k.grid))!r}) * {n}" if k.grid and d.chance(50) else str(n * d.below(times))
        )
        there = f"{name}.at[pl.ds({start}, {n})]"
    words = ""
    if d.chance(25):
        sound = {"float32": "add", "bfloat16": "max", "float16": "min", "int32": "smax", "uint32": "umax"}.get(
            tile.dtype
        )
        if sound:
            words = f', reduction_op="{d.odd(sound, "max", "umin", "inc", "xor", "mul")}"'
    grouped = d.chance(80)
    words += "" if grouped else ", commit_group=False"
    if d.chance(15):
        words += f", predicate=lax.axis_index({d.pick(k.axes())!r}) == 0" if k.axes() else ""
    k.say("plgpu.commit_smem()")
    first, second = d.odd((tile.name, there), (there, tile.name), (tile.name, tile.name))
    k.say(f"plgpu.copy_smem_to_gmem({first}, {second}{words})")
    if not grouped:
        k.say("plgpu.commit_smem_to_gmem_group()")
    k.say(f"plgpu.wait_smem_to_gmem({d.odd(0, -1, 2)}{', wait_read_only=True' if d.chance(30) else ''})")


def prefetch(k: Kernel) -> None:
    """Prefetches a part of an operand."""
    d = k.d
    words = f", collective_axes={d.odd(next(iter(k.cluster)), 'wg', 'gx')!r}" if k.cluster and d.chance(50) else ""
    source = d.odd(_source(k, d.pick(((64, 64), (32, 128), (128, 64))), "bfloat16"), any_tile(k).name)
    k.say(f"plgpu.async_prefetch({source}{words})")


def gather(k: Kernel) -> None:
    """Copies rows that an index array names."""
    d = k.d
    columns = d.odd(64, 512, 8, 100)
    layout = d.odd("TMA_INDICES", "TMA_INDICES", "WG_STRIDED", "WGMMA")
    layout += "(1)" if layout == "WG_STRIDED" else ""
    index = f"lax.full((64,), 1, {jnp_dtype(d.odd('uint32', 'int32', 'int8'))})"
    made = k.fresh("i")
    k.say(f"{made} = plgpu.layout_cast({index}, plgpu.Layout.{layout})")
    kind, swizzle = smem(k, (64, columns), "bfloat16", tiled=columns == 64)
    name, bar = k.allocate("s", kind), barrier(k)
    source = k.operand((256, columns), "bfloat16")
    rows = d.odd(f"{source}.at[{made}]", f"{source}.at[:, {made}]", f"{source}.at[{made}, 0:64]")
    k.say(f"plgpu.copy_gmem_to_smem({rows}, {name}, {bar})", f"plgpu.barrier_wait({bar})")
    if columns == 64:
        k.tiles.append(Tile(name, (64, 64), "bfloat16", swizzle))


def views(k: Kernel) -> None:
    """A view of a buffer becomes a buffer of its own."""
    d = k.d
    tile = any_tile(k)
    shape, dtype = tile.shape, tile.dtype
    how = d.pick(("rows", "rows", "columns", "reshape", "transpose", "bitcast", "squeeze", "again", "name"))
    if how == "rows":
        n = 64 if shape[0] % 64 == 0 else shape[0]
        start = d.odd(n * d.below(shape[0] // n), 4, shape[0])
        size = d.odd(n, n // 2, n - 1)
        index = d.pick((f"pl.ds({start}, {size})", f"{start}:{start + size}"))
        index = d.odd(index, f"pl.ds({start}, {size}, 2)", "0", "jnp.int32(0)")
        _see(k, tile, f"{tile.name}.at[{index}]", (n, *shape[1:]))
    elif how == "columns" and len(shape) == 2:
        step = 8 * tile.swizzle // BITS[dtype] if tile.swizzle else max(8, shape[1] // 2)
        start = d.odd(step * d.below(max(1, shape[1] // step)), 8, 1, shape[1])
        _see(k, tile, f"{tile.name}.at[:, pl.ds({start}, {d.odd(step, step // 2, 3)})]", (shape[0], step))
    elif how == "reshape":
        target = _reshaped(k, tile)
        _see(k, tile, f"{tile.name}.reshape{shape_text(target)}", target)
    elif how == "transpose" and len(shape) >= 2:
        turned = (*shape[:-2], shape[-1], shape[-2])
        ways = [
            f"{tile.name}.transpose({', '.join(map(str, (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)))})"
        ]
        if len(shape) == 2:
            ways.append(f"{tile.name}.T")
        k.say(f"{k.fresh('t')} = {d.pick(ways)}")
        if not tile.tiled or not k.lane:
            k.value(f"{ways[0]}[...]", turned, dtype, "turned") if d.odd(False, True) else None
    elif how == "bitcast":
        other = d.odd(
            {32: "float32", 16: "bfloat16", 8: "uint8"}.get(BITS[dtype], dtype), "int8", "float32", "bfloat16", "bool"
        )
        _see(k, tile, f"{tile.name}.bitcast({jnp_dtype(other)})", shape, other)
    elif how == "squeeze" and len(shape) == 3:
        _see(k, tile, f"{tile.name}.at[{d.odd('1', '2', ':')}]", shape[1:])
    else:
        _see(k, tile, d.pick((f"{tile.name}.at[...]", f"{tile.name}.at[:]", tile.name)), shape)


def _reshaped(k: Kernel, tile: Tile) -> Shape:
    d, shape = k.d, tile.shape
    if len(shape) == 3:
        return d.odd(
            (shape[0] * shape[1], shape[2]), (shape[0], shape[1] * shape[2]), (shape[0] + 1, shape[1], shape[2])
        )
    if tile.tiled and len(shape) == 2:
        return d.odd((1, *shape), (math.prod(shape),), (shape[0] // 2, 2, shape[1]), (shape[0], 2, shape[1] // 2))
    if len(shape) == 2:
        return d.odd(
            (math.prod(shape),), (shape[0] // 8, 8, shape[1]), (shape[0], shape[1], 1), (shape[0], shape[1] + 1), (-1,)
        )
    return d.odd((shape[0] // 64, 64), (64, shape[0] // 64 + 1), (shape[0], 1))


def _see(k: Kernel, tile: Tile, expression: str, shape: Shape, dtype: str = "") -> None:
    name = k.fresh("v")
    k.say(f"{name} = {expression}")
    k.tiles.append(Tile(name, shape, dtype or tile.dtype, tile.swizzle))
