"""Values in registers: loads, arithmetic, reductions, layouts, stores."""

from __future__ import annotations

import math

from .kernel import BITS, FLOATS, Kernel, Shape, Tile, Value, jnp_dtype, shape_text, zeros
from .memory import any_tile, barrier, buffer

_UNARY = (
    "jnp.exp2",
    "jnp.tanh",
    "lax.rsqrt",
    "jnp.sqrt",
    "jnp.log2",
    "jnp.abs",
    "-",
    "jnp.sin",
    "jnp.cos",
    "jnp.exp",
    "jnp.log",
    "lax.logistic",
)
_BINARY = ("+", "-", "*", "/")
_COMPARE = ("<", "<=", "==", "!=", ">")
_WITHOUT_RULE = (
    "lax.cumsum({})",
    "lax.rev({}, (0,))",
    "lax.sort({})",
    "jnp.argmax({}, axis=0)",
    "lax.erf({})",
    "jnp.floor({})",
    "lax.expand_dims({}, (0,))",
    "lax.clamp({}, {}, {})",
    "jnp.cbrt({})",
    "lax.concatenate([{}, {}], 0)",
    "jnp.sign({})",
    "jnp.round({})",
    "{}.at[0].set(0)",
    "lax.select_n({}, {}, {}, {})",
    "lax.pad({}, 0.0, ((1, 1, 0),) * 2)",
    "lax.exp2({}, accuracy=lax.AccuracyMode.HIGHEST)",
    "lax.tanh({}, accuracy=lax.AccuracyMode.HIGHEST)",
    "lax.dot_general({}, {}, (((1,), (0,)), ((), ())))",
    "lax.stop_gradient({})",
    "lax.integer_pow({}, 2)",
    "lax.square({})",
    "lax.integer_pow({}, -2)",
    "lax.is_finite({})",
)


def _layout(k: Kernel, shape: Shape, dtype: str) -> str:
    """A layout that such an array can have."""
    d = k.d
    fit = []
    if len(shape) == 2 and shape[0] % 64 == 0 and shape[1] % 8 == 0:
        fit = ["WGMMA"] if BITS[dtype] in (16, 32) else []
        if BITS[dtype] == 8 and shape[1] % 16 == 0:
            fit = ["WGMMA_8BIT"]
        if shape[0] % 128 == 0 and k.blackwell and BITS[dtype] in (16, 32):
            fit += ["TCGEN05", "TCGEN05_TMEM_NATIVE"]
    return d.pick(fit) if fit else ""


def _odd_layout(k: Kernel, sound: str) -> str:
    return k.d.odd(
        f"plgpu.Layout.{sound}",
        "plgpu.Layout.WGMMA.reduce(1)",
        "plgpu.Layout.WG_SPLAT",
        "plgpu.Layout.WG_STRIDED(1)",
        "plgpu.Layout.TCGEN05",
        "plgpu.Layout.WGMMA",
        "plgpu.Layout.WGMMA(1)",
        "plgpu.Layout.WGMMA_UPCAST_4X",
        "plgpu.Layout.WG_SPLAT.reduce(0)",
        "plgpu.Layout.MMA_ACC(3)",
        "plgpu.Layout.WGMMA_TRANSPOSED",
    )


def load(k: Kernel) -> Value | None:
    """A buffer, or a part of it, read into registers."""
    d = k.d
    tile = any_tile(k)
    if math.prod(tile.shape) % 128 and not d.odd(False, True):
        return None
    if math.prod(tile.shape) > 128 * 128:
        return None
    if len(tile.shape) != 2 and tile.tiled and k.lane:
        return None
    sound = _layout(k, tile.shape, tile.dtype) if tile.tiled else ""
    index = d.odd("...", "...", ":", "0", "pl.ds(0, 64)", "pl.ds(1, 64)", "0:8")
    if sound and d.chance(50):
        optimized = "" if d.chance(70) else f", optimized={d.odd('False', 'True')}"
        return k.value(
            f"plgpu.load({tile.name}, layout={_odd_layout(k, sound)}{optimized})", tile.shape, tile.dtype, sound
        )
    if tile.tiled and k.lane:
        sound = "WGMMA" if BITS[tile.dtype] in (16, 32) and tile.shape[0] % 64 == 0 else "none"
        if sound == "none":
            return None
    return k.value(f"{tile.name}[{index}]", tile.shape, tile.dtype, sound if k.lane else "")


def any_value(k: Kernel, floating: bool = False) -> Value | None:
    """A value that is there, or one that is loaded now."""
    d = k.d
    fit = [v for v in k.values if not floating or v.dtype in FLOATS]
    if fit and d.chance(75):
        return d.pick(fit)
    made = load(k)
    return made if made is not None and (not floating or made.dtype in FLOATS) else _constant(k)


def _constant(k: Kernel) -> Value | None:
    """A tile that needs no buffer; in the default layout under Lane semantics a splat."""
    d = k.d
    shape = d.pick(((64, 64), (128, 64), (128,)))
    how = d.pick((f"jnp.zeros({shape_text(shape)}, jnp.float32)", f"jnp.full({shape_text(shape)}, 2.0, jnp.float32)"))
    if d.chance(40) and len(shape) == 2:
        layout = _odd_layout(k, "WGMMA")
        return k.value(f"plgpu.layout_cast({how}, {layout})", shape, "float32", "WGMMA")
    return k.value(how, shape, "float32", "splat" if k.lane else "")


def iota(k: Kernel) -> None:
    """Indices along a dimension."""
    d = k.d
    dimension = d.odd(d.below(2), 2, -1)
    dtype = d.odd(d.pick(("int32", "float32")), "bfloat16", "bool", "int8")
    if k.lane or d.chance(60):
        words = f", layout={_odd_layout(k, 'WGMMA')}"
        k.value(
            f"plgpu.broadcasted_iota({jnp_dtype(dtype)}, (64, 64), {dimension}{d.odd(words, '')})",
            (64, 64),
            dtype,
            "WGMMA",
        )
    else:
        k.value(f"lax.broadcasted_iota({jnp_dtype(dtype)}, (64, 64), {dimension})", (64, 64), dtype)


def unary(k: Kernel) -> None:
    """An elementwise operation of one operand."""
    d = k.d
    x = any_value(k, floating=True)
    if x is None:
        return
    op = d.pick(_UNARY)
    wrong = [v.name for v in k.values if v.dtype not in FLOATS]
    odd = d.odd("", *(w.replace("{}", x.name) for w in _WITHOUT_RULE), *(f"{op}({w})" for w in wrong))
    k.value(odd or (f"{op}({x.name})" if op != "-" else f"-{x.name}"), x.shape, x.dtype, x.layout)


def binary(k: Kernel) -> None:
    """Arithmetic with another value of the same kind, or a number."""
    d = k.d
    x = any_value(k)
    if x is None or BITS[x.dtype] < 16:
        return
    peers = [
        v
        for v in k.values
        if (v.shape, v.dtype) == (x.shape, x.dtype) and (not k.lane or v.layout in (x.layout, "splat"))
    ]
    number = d.pick(("2", "1", "-1")) if x.dtype not in FLOATS else d.pick(("2.0", "0.5", "1e-6"))
    sound = d.pick(peers).name if peers and d.chance(60) else number
    other = d.odd(sound, *[v.name for v in k.values], "jnp.zeros((3, 64))")
    op = d.pick(_BINARY[: 3 if x.dtype not in FLOATS else 4])
    ways = [f"{x.name} {op} {other}", f"jnp.maximum({x.name}, {other})", f"jnp.minimum({x.name}, {other})"]
    k.value(d.pick(ways), x.shape, x.dtype, x.layout)


def choose(k: Kernel) -> None:
    """A comparison and what it selects."""
    d = k.d
    x = any_value(k)
    if x is None or BITS[x.dtype] < 16:
        return
    number = "0.0" if x.dtype in FLOATS else "0"
    test = f"{x.name} {d.pick(_COMPARE)} {number}"
    other = d.odd(number, *[v.name for v in k.values])
    k.value(f"jnp.where({test}, {x.name}, {other})", x.shape, x.dtype, x.layout)


def cast(k: Kernel) -> None:
    """Another element type."""
    d = k.d
    x = any_value(k)
    if x is None:
        return
    sound = {
        "float32": ("bfloat16", "float16", "int32"),
        "bfloat16": ("float32",),
        "float16": ("float32",),
        "int32": ("float32",),
        "uint32": ("int32",),
    }.get(x.dtype, ())
    if not sound:
        return
    target = d.odd(d.pick(sound), "int8", "float8_e4m3fn", "bool", "int4", "uint32", "int16", "float8_e5m2")
    if d.odd(False, True):
        k.value(f"lax.bitcast_convert_type({x.name}, {jnp_dtype(target)})", x.shape, target, x.layout)
    else:
        k.value(f"{x.name}.astype({jnp_dtype(target)})", x.shape, target, x.layout)


def reduction(k: Kernel) -> None:
    """A reduction of rows or columns, and what it is broadcast back to."""
    d = k.d
    x = any_value(k)
    if (
        x is None
        or x.dtype not in ("float32", "int32")
        or len(x.shape) != 2
        or (k.lane and x.layout not in ("WGMMA", "TCGEN05"))
    ):
        return
    op = d.pick(("jnp.sum", "jnp.max", "jnp.min"))
    axis = d.odd(d.pick((0, 1, 1)), 2, "(0, 1)", None)
    words = d.odd("", ", keepdims=True")
    kept = 0 if axis == 1 else 1
    if not isinstance(axis, int) or axis == 2:
        k.value(f"{op}({x.name}, axis={axis}{words})", (), x.dtype, "scalar")
        return
    made = k.value(
        f"{op}({x.name}, axis={axis}{words})", (x.shape[kept],), x.dtype, f"{x.layout}.{axis}" if k.lane else ""
    )
    if d.chance(70):
        kept = d.odd(kept, 1 - kept)
        back = k.fresh("x")
        k.say(
            f"{back} = lax.broadcast_in_dim({made.name}, {shape_text(x.shape)}, {d.odd(f'({kept},)', '(0, 1)', '()')})"
        )
        k.value(f"{x.name} - {back}", x.shape, x.dtype, x.layout)


def relayout(k: Kernel) -> None:
    """A layout that is asked for."""
    x = any_value(k)
    if x is None or len(x.shape) != 2:
        return
    sound = _layout(k, x.shape, x.dtype)
    if k.lane and x.layout not in ("splat", sound):
        return
    if sound:
        k.value(f"plgpu.layout_cast({x.name}, {_odd_layout(k, sound)})", x.shape, x.dtype, sound)


def reshape(k: Kernel) -> None:
    """Shapes of values: slices, reshapes, transposes."""
    d = k.d
    x = any_value(k)
    if x is None or len(x.shape) != 2:
        return
    ways = (
        f"{x.name}.reshape({x.shape[0] * x.shape[1]})",
        f"{x.name}.T",
        f"{x.name}[:8]",
        f"{x.name}[0]",
        f"{x.name}[:, :8]",
        f"{x.name}[::2]",
        f"jnp.broadcast_to({x.name}, (2, *{x.name}.shape))",
        f"lax.slice({x.name}, (0, 0), (64, 32), (1, 2))",
        f"jnp.split({x.name}, 2)[0]",
    )
    other = d.odd("", *ways)
    if other:
        k.value(other, x.shape, x.dtype, x.layout)
    elif x.shape[0] == 128 and not k.lane and d.chance(50):
        k.value(f"{x.name}[:64]", (64, x.shape[1]), x.dtype)


def store(k: Kernel) -> None:
    """A value written to a buffer of its kind."""
    d = k.d
    x = any_value(k)
    if x is None or not x.shape or math.prod(x.shape) > 128 * 128:
        return
    fit = [
        t
        for t in k.tiles
        if (t.shape, t.dtype) == (x.shape, x.dtype) and (not k.lane or t.tiled == (x.layout == "WGMMA"))
    ]
    tile = d.pick(fit) if fit and d.chance(70) else _buffer_for(k, x)
    if tile is None:
        return
    name = d.odd(tile.name, *[t.name for t in k.tiles])
    ways = [f"{name}[{d.odd('...', '0', 'pl.ds(0, 64)', 'pl.ds(0, 8)', ':, 0:8')}] = {x.name}"]
    if "1" not in x.layout and d.chance(30):
        ways.append(f"plgpu.store({name}, {x.name}{d.odd('', ', optimized=False')})")
    k.say(d.pick(ways))


def _buffer_for(k: Kernel, x: Value) -> Tile | None:
    if x.layout.endswith((".0", ".1", "scalar", "turned")) or BITS[x.dtype] < 8 or x.dtype == "bool":
        return buffer(k, x.shape, x.dtype, tiled=False) if x.layout.endswith((".0", ".1")) else None
    tiled = x.layout in ("WGMMA", "WGMMA_8BIT", "TCGEN05") if k.lane else None
    return buffer(k, x.shape, x.dtype, tiled)


def atomics(k: Kernel) -> None:
    """An atomic update of a result in global memory, or of a buffer."""
    d = k.d
    x = any_value(k)
    if x is None or x.dtype not in ("float32", "int32") or not x.shape:
        return
    name = k.result(d.odd(x.shape, (*x.shape, 2), (64, 32)), d.odd(x.dtype, "int8", "bfloat16"))
    sound = "add" if x.dtype == "float32" else d.pick(("add", "max", "min", "and", "or", "xor"))
    k.say(f"plgpu.atomic_{d.odd(sound, 'xor', 'max', 'and')}({name}, {x.name}{d.odd('', ', optimized=False')})")


def store_async(k: Kernel) -> None:
    """A value sent to the shared memory of a block of the cluster."""
    d = k.d
    if not k.cluster:
        return
    shape, dtype = d.pick(((64, 64), (128, 64), (64, 32))), d.pick(("float32", "bfloat16", "int32"))
    tile = buffer(k, shape, dtype, tiled=True)
    start = zeros(d.odd(shape, (64, 8), (shape[0], shape[1] * 2)), d.odd(dtype, "int8", "float16"))
    x = k.value(f"plgpu.layout_cast({start}, {_odd_layout(k, 'WGMMA')})", shape, dtype, "WGMMA")
    axis = d.odd(repr(next(iter(k.cluster))), "'elsewhere'", "'gx'")
    bar = barrier(k)
    words = f"cluster_idx={d.odd('0', 'jnp.int32(1)', '7')}, cluster_dim={axis}"
    words += d.odd("", ", optimized=False", ", atomic='add'", ", atomic='mul'")
    k.say(f"plgpu.async_store_smem({x.name}, {tile.name}, {bar}, {words})", f"plgpu.barrier_wait({bar})")


def shown(k: Kernel) -> None:
    """Printing: a layout, a scalar, an array."""
    d = k.d
    x = any_value(k)
    if x is None:
        return
    scalar = f'pl.debug_print("i = {{}}", {"lax.axis_index(" + repr(d.pick(k.axes())) + ")" if k.axes() else "1"})'
    odd = (
        f'pl.debug_print("x", {x.name})',
        f'pl.debug_print("x = {{}} {{}}", {x.name}, {x.name})',
        f'jax.debug.print("x = {{v}}", v={x.name})',
    )
    k.say(d.odd(d.pick((f'plgpu.print_layout("x", {x.name})', scalar, f'pl.debug_print("x = {{}}", {x.name})')), *odd))
