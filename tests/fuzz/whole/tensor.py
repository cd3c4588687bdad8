"""Matrix multiplication: wgmma on Hopper, tcgen05 with tensor memory on Blackwell, mma anywhere."""

from __future__ import annotations

from .kernel import BITS, Kernel, Tile, jnp_dtype, shape_text, zeros
from .memory import barrier, transforms

_OPERANDS = ("bfloat16", "float16", "float16", "bfloat16", "int8", "float8_e4m3fn", "float32", "float8_e5m2")


def _operand(k: Kernel, rows: int, columns: int, dtype: str, swizzle: int) -> Tile:
    d = k.d
    words = transforms(k, (rows, columns), dtype, swizzle) if k.lane or d.chance(60) else ""
    element = jnp_dtype(d.odd(dtype, "float32", "float16", "int8", "uint8"))
    kind = f"plgpu.SMEM({shape_text((rows, columns))}, {element}{d.odd(words, '')})"
    return Tile(k.allocate("s", kind), (rows, columns), dtype, swizzle)


def _operands(k: Kernel, m: int, n: int, depth: int, dtype: str, swizzle: int) -> tuple[str, str]:
    """Both operands: their expressions, of shapes (m, depth) and (depth, n)."""
    d = k.d
    a = _operand(k, d.odd(m, m * 2, m + 8), d.odd(depth, depth * 2, depth // 2), dtype, swizzle)
    left = a.name
    if BITS[dtype] == 16 and d.chance(30) and m % (8 * swizzle // BITS[dtype]) == 0:
        a = _operand(k, depth, m, dtype, swizzle)
        left = f"{a.name}.T"
    other = d.odd(swizzle, 32, 64, 128)
    plain = BITS[dtype] == 16 and n % (8 * swizzle // BITS[dtype]) == 0
    if d.odd(plain and d.chance(60), True):
        b = _operand(k, depth, d.odd(n, n * 2, n + 4), dtype, other if depth % 8 == 0 else swizzle)
        return left, b.name
    b = _operand(k, d.odd(n, n * 2, n + 4), depth, dtype, other)
    return left, d.odd(f"{b.name}.T", b.name, f"{b.name}.transpose(1, 0)")


def _depth(k: Kernel, dtype: str) -> tuple[int, int]:
    """A contracted extent and a swizzle that fits it."""
    swizzle = k.d.pick((128, 128, 64, 32))
    return 8 * swizzle // BITS[dtype] * k.d.pick((1, 2)), swizzle


def _accumulated(dtype: str) -> str:
    return "int32" if dtype == "int8" else "float32"


def wgmma(k: Kernel) -> None:
    """A product of two buffers, or of registers and a buffer."""
    d = k.d
    if k.blackwell:
        return
    dtype = d.pick(_OPERANDS)
    depth, swizzle = _depth(k, dtype)
    m, n = d.odd(d.pick((64, 64, 128)), 96, 32), d.odd(d.pick((64, 128, 128, 256)), 12, 264, 512)
    left, right = _operands(k, m, n, depth, dtype, swizzle)
    if d.chance(20) and dtype in ("bfloat16", "float16"):
        layout = d.odd("WGMMA", "WG_SPLAT", "WGMMA_UPCAST_2X")
        start = f"plgpu.layout_cast({zeros((m, depth), dtype)}, plgpu.Layout.{layout})"
        left = k.value(start, (m, depth), dtype, "WGMMA").name
    out = d.odd(_accumulated(dtype), "float16", "bfloat16", "int32", "float32", "uint32")
    kind = f"plgpu.ACC({shape_text(d.odd((m, n), (m, n // 2), (m * 2, n), (m, n, 1)))}, {jnp_dtype(out)})"
    made = k.fresh("acc")
    if k.threads or d.chance(60):
        body = k.fresh("dot")
        with k.under(f"def {body}({made}):"):
            _multiply(k, made, left, right)
            k.say(f"return {made}[{d.odd('...', '0:64', ':, 0:8')}]")
        words = d.odd("", ', collective_axes="wg"') if k.threads else ""
        k.value(f"pl.run_scoped({body}, {kind}{words})", (m, n), out, "WGMMA")
        return
    if d.chance(25):
        layout = d.odd("WGMMA", "WG_SPLAT")
        start = k.value(f"plgpu.layout_cast({zeros((m, n), out)}, plgpu.Layout.{layout})", (m, n), out, "WGMMA")
        body = k.fresh("dot")
        with k.under(f"def {body}({made}):"):
            _multiply(k, made, left, right)
        k.value(f"pl.run_state({body})({d.odd('plgpu.ACC.init', '')}({start.name}))", (m, n), out, "WGMMA")
        return
    k.scratch[made] = kind
    _multiply(k, made, left, right)
    k.value(
        d.pick((f"{made}[...]", f"plgpu.wgmma_accumulator_load({made}{d.odd('', ', wait_n=-1', ', wait_n=1')})"))
        if d.odd(True, False)
        else f"{made}[0:64]",
        (m, n),
        out,
        "WGMMA",
    )


def _multiply(k: Kernel, acc: str, left: str, right: str) -> None:
    d = k.d
    if d.odd(False, True):
        k.say(d.pick((f"{acc}[...] = jnp.zeros((64, 64), jnp.float32)", f"{acc}[0:64] = jnp.float32(0)")))
    there = d.odd(acc, f"{acc}.at[0:64]", f"{acc}.at[0]", left)
    k.say(
        f"plgpu.wgmma({there}, {d.odd(left, right, '1.0')}, {d.odd(right, left)})",
        f"plgpu.wgmma_wait({d.odd(0, -1, 1)})",
    )


def mma(k: Kernel) -> None:
    """A product in registers."""
    d = k.d
    made = []
    dtype = d.odd(d.pick(("bfloat16", "float16")), "int8", "float32", "float8_e5m2", "bool")
    shapes = ((64, 64), (64, 64), (64, 64))
    for shape, layout, kind in zip(shapes, ("MMA_ACC", "MMA_LHS", "MMA_RHS"), ("float32", dtype, dtype), strict=True):
        shape = d.odd(shape, (shape[0], 32), (32, shape[1]))
        kind = d.odd(kind, "float16", "int32", "bfloat16")
        element = jnp_dtype(dtype)
        layout = d.odd(f"{layout}({element})", "WGMMA", layout, f"{layout}({element}, m_warps={d.pick((2, 3))})")
        made.append(k.fresh("x"))
        k.say(f"{made[-1]} = plgpu.layout_cast({zeros(shape, kind)}, plgpu.Layout.{layout})")
    k.say(f"{k.fresh('x')} = plgpu.mma({', '.join(made)})")


def _tensor_memory(k: Kernel, rows: int, columns: int, dtype: str, words: str = "") -> str:
    d = k.d
    shape = d.odd((rows, columns), (rows // 4, columns), (columns,), (rows, 520), (rows, columns + 4))
    words = d.odd(
        words,
        ", packed=True",
        ", packed=False",
        "",
        ", collective=True",
        ", transforms=(plgpu.TilingTransform((8, 64)),)",
        ", packed=True, layout=plgpu.TMEMLayout.SCALES_LAYOUT",
        ", layout=plgpu.TMEMLayout.SCALES_LAYOUT",
    )
    return k.allocate("t", f"plgpu.TMEM({shape_text(shape)}, {jnp_dtype(dtype)}{words})")


def tcgen05(k: Kernel) -> None:
    """A product into tensor memory, committed to a barrier, and read back."""
    d = k.d
    if not k.blackwell or len(k.scratch) > 8:
        return
    dtype = d.pick(_OPERANDS[:6])
    depth, swizzle = _depth(k, dtype)
    m, n = d.odd(128, 64, 256, 32), d.odd(d.pick((64, 128, 256)), 12, 384, 1024)
    pair = bool(k.cluster) and list(k.cluster.values())[-1] == 2 and n <= 128 and dtype != "int8" and d.chance(50)
    words = ", collective=True" if pair else ""
    left, right = _operands(k, m, n // 2 if pair else n, depth, dtype, 32 if pair else swizzle)
    if d.chance(20) and BITS[dtype] == 16:
        left = _tensor_memory(k, m, depth, dtype, ", packed=True" + words)
    out = d.odd(_accumulated(dtype), "float16", "int32", "float32")
    acc = _tensor_memory(k, m, n, out, words + (", packed=False" if BITS[out] == 16 else ""))
    bar = barrier(k, tensor=True)
    axis = f", collective_axis={d.odd('c', 'elsewhere', 'gx')!r}" if d.odd(pair, not pair) else ""
    fused = d.chance(50)
    a, b, c = d.odd((acc, left, right), (left, acc, right), (acc, right, left), (acc, left, acc))
    words = f"{f', {bar}' if fused else ''}, accumulate={d.odd('False', 'True')}{axis}{_scales(k)}"
    k.say(f"plgpu.tcgen05_mma({a}, {b}, {c}{words})")
    if not fused:
        k.say(f"plgpu.tcgen05_commit_arrive({bar}{axis})")
    k.say(f"plgpu.barrier_wait({bar})")
    read(k, acc, m, n, out)


def _scales(k: Kernel) -> str:
    d = k.d
    if not d.odd(False, True):
        return ""
    element = d.pick(("float8_e8m0fnu", "float8_e4m3fn"))
    kind = f"plgpu.TMEM((128, 4), jnp.{element}, layout=plgpu.TMEMLayout.SCALES_LAYOUT)"
    first, second = k.allocate("t", kind), k.allocate("t", kind)
    return d.pick((f", a_scale={first}, b_scale={second}", f", a_scale={first}"))


def read(k: Kernel, acc: str, m: int, n: int, out: str) -> None:
    """Tensor memory, whole or some of its columns, into registers."""
    d = k.d
    index = d.odd("", ".at[0]", ".at[0:64]", ".at[:, 0:3]", ".T", f".at[:, {n}:{2 * n}]")
    if not index and d.chance(40):
        index, n = f".at[:, {n // 2}:{n}]", n // 2
    layout = d.odd(
        d.pick(("", ", layout=plgpu.Layout.TCGEN05", ", layout=plgpu.Layout.TCGEN05_TMEM_NATIVE")),
        ", layout=plgpu.Layout.WGMMA",
        ", layout=plgpu.Layout.WG_STRIDED(1)",
        ', reduce="max"',
    )
    kind = "TCGEN05_TMEM_NATIVE" if "NATIVE" in layout else "TCGEN05"
    k.value(d.odd(f"plgpu.async_load_tmem({acc}{index}{layout})", f"{acc}[...]"), (m, n), out, kind)
    k.say("plgpu.wait_load_tmem()")


def tensor_memory(k: Kernel) -> None:
    """Tensor memory filled from registers or from a buffer."""
    d = k.d
    if not k.blackwell or len(k.scratch) > 8:
        return
    dtype, columns = d.pick(("float32", "bfloat16", "float16")), d.pick((64, 128))
    packed = ", packed=True" if dtype != "float32" else ""
    there = _tensor_memory(k, 128, columns, dtype, packed)
    if d.chance(50):
        layout = d.odd(d.pick(("TCGEN05", "TCGEN05_TMEM_NATIVE")), "WGMMA", "WG_SPLAT")
        shape = d.odd((128, columns), (64, columns), (128, columns // 2))
        x = f"plgpu.layout_cast({zeros(shape, d.odd(dtype, 'int8', 'float32'))}, plgpu.Layout.{layout})"
        k.say(d.odd(f"plgpu.async_store_tmem({there}, {x})", f"{there}[...] = {x}"), "plgpu.commit_tmem()")
    else:
        tile = _operand(k, d.odd(128, 64), columns, dtype, 128 if columns * BITS[dtype] >= 1024 else 64)
        first, second = d.odd((tile.name, there), (there, tile.name), (tile.name, tile.name))
        call = d.odd(
            "async_copy_smem_to_tmem",
            "async_copy_scales_to_tmem",
            "async_copy_sparse_metadata_to_tmem",
            "async_store_tmem",
        )
        k.say(f"plgpu.{call}({first}, {second})")
    if dtype == "float32" or d.odd(False, True):
        read(k, there, 128, columns, dtype)
