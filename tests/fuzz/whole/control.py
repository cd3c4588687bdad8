"""Control flow, scoped memory, synchronisation and what else a kernel's thread can do."""

from __future__ import annotations

from collections.abc import Callable

from .kernel import Kernel, Tile, jnp_dtype, shape_text
from .memory import any_tile, barrier, buffer, smem, swizzles
from .registers import any_value, load

Compose = Callable[[Kernel, int], None]


def _index(k: Kernel) -> str:
    """A scalar that is known on the GPU alone."""
    return f"lax.axis_index({k.d.odd(k.d.pick(k.axes()), 'nowhere')!r})" if k.axes() else "jnp.int32(0)"


def when(k: Kernel, inner: Compose) -> None:
    """Something under a condition."""
    d = k.d
    test = d.odd(f"{_index(k)} == {d.below(3)}", "jnp.zeros((2,)) == 0", "1.5")
    with k.under(f"@pl.when({test})", "def _():"):
        inner(k, 2)


def loop(k: Kernel, inner: Compose) -> None:
    """A loop without a carry."""
    d = k.d
    i = k.fresh("i")
    words = d.odd(d.pick(("", ", unroll=2", ", step=2")), ", unroll=3", ", unroll=True")
    with k.under(f"@pl.loop(0, {d.odd(4, _index(k), 5)}{words})", f"def _({i}):"):
        stages = [t for t in k.tiles if len(t.shape) == 3]
        if stages and d.chance(50):
            tile = d.pick(stages)
            name = k.fresh("v")
            k.say(f"{name} = {tile.name}.at[{d.odd(f'lax.rem({i}, {tile.shape[0]})', i, f'jnp.float32({i})')}]")
            k.tiles.append(Tile(name, tile.shape[1:], tile.dtype, tile.swizzle))
        inner(k, 2)


def carried(k: Kernel, inner: Compose) -> None:
    """A loop that carries a value, or a number."""
    d = k.d
    x = any_value(k, floating=True) if d.chance(60) else None
    if x is not None and not x.shape:
        x = None
    start, step = (x.name, "* 2.0") if x else ("jnp.int32(0)", "+ 1")
    how = d.pick(("fori", "fori", "while", "scan"))
    made, i = k.fresh("step"), k.fresh("i")
    if how == "fori":
        with k.under(f"def {made}({i}, carry):"):
            inner(k, 1)
            k.say(f"return {d.odd('carry ' + step, '(carry, 1)', 'carry.astype(jnp.int8)', '2.0')}")
        words = d.odd("", ", unroll=2", ", unroll=3")
        expression = f"lax.fori_loop(0, {d.odd(4, _index(k))}, {made}, {start}{words})"
    elif how == "while":
        test, following = f"lambda c: c[0] < {d.odd('4', 'c[1]')}", f"lambda c: (c[0] + 1, c[1] {step})"
        expression = f"lax.while_loop({test}, {following}, (jnp.int32(0), {start}))[1]"
    else:
        over, words = d.odd("None", "jnp.arange(4)"), d.odd("", ", reverse=True", ", unroll=2")
        body = f"lambda c, {i}: (c {step}, {d.odd('None', 'c')})"
        expression = f"lax.scan({body}, {start}, {over}, length=4{words})[0]"
    if x:
        k.value(expression, x.shape, x.dtype, x.layout)
    else:
        k.say(f"{k.fresh('n')} = {expression}")


def branches(k: Kernel, inner: Compose) -> None:
    """One of two values, chosen on the GPU."""
    d = k.d
    x = any_value(k, floating=True)
    if x is None:
        return
    test = f"{_index(k)} {d.pick(('>', '=='))} 0"
    first, second = (
        f"lambda: {x.name} * 2.0",
        f"lambda: {d.odd(f'{x.name} + 1.0', f'{x.name}.astype(jnp.int32)', '0.0')}",
    )
    ways = (
        f"lax.cond({test}, {first}, {second})",
        f"lax.switch({_index(k)}, [{first}, {second}, {first}])",
        f"jax.lax.platform_dependent(cuda={first}, default={second})",
    )
    k.value(d.odd(d.pick(ways[:2]), ways[2]), x.shape, x.dtype, x.layout)


def scoped(k: Kernel, inner: Compose) -> None:
    """Memory for a part of the body."""
    d = k.d
    shape, dtype = d.pick(((64, 64), (128, 64), (128,), (2, 64, 64))), d.pick(("float32", "bfloat16", "int32"))
    kind, swizzle = smem(k, shape, dtype)
    name = k.fresh("s")
    words = ', collective_axes="wg"' if d.odd(bool(k.threads), not k.threads) else ""
    extra = d.pick(("", ", plgpu.Barrier()")) + d.odd(
        "", ", plgpu.SemaphoreType.REGULAR(())", ", jax.ShapeDtypeStruct((8,), jnp.float32)"
    )
    parameters = [name, *(k.fresh("r") for _ in range(extra.count("plgpu.") + extra.count("jax.")))]
    if d.chance(40):
        with k.under(f"@functools.partial(pl.run_scoped, {name}={kind}{words})", f"def _({name}):"):
            k.tiles.append(Tile(name, shape, dtype, swizzle))
            inner(k, 2)
        return
    made = k.fresh("scope")
    with k.under(f"def {made}({', '.join(d.odd(parameters, parameters[:-1]))}):"):
        k.tiles.append(Tile(name, shape, dtype, swizzle))
        inner(k, 2)
    k.say(f"pl.run_scoped({made}, {kind}{extra}{words})")


def union(k: Kernel, inner: Compose) -> None:
    """Buffers that share their memory."""
    d = k.d
    first, second = smem(k, (64, 64), "float32"), smem(k, (128, 64), "bfloat16")
    other = d.odd(second[0], "plgpu.TMEM((128, 64), jnp.float32)", "plgpu.SMEM((33,), jnp.int4)", "plgpu.Barrier()")
    name = k.allocate("u", f"plgpu.RefUnion({first[0]}, {other})")
    a, b = k.fresh("s"), k.fresh("s")
    k.say(d.odd(f"{a}, {b} = {name}", f"{name}[...] = jnp.zeros((64, 64), jnp.float32)", f"{a} = {name}[...]"))
    k.tiles += [Tile(a, (64, 64), "float32", first[1]), Tile(b, (128, 64), "bfloat16", second[1])]


def threads(k: Kernel, inner: Compose) -> None:
    """Barriers between the threads or the blocks."""
    d = k.d
    many = d.pick((0, 0, 2))
    if k.cluster and d.chance(60):
        axis = d.odd(next(iter(k.cluster)), "elsewhere", "gx")
        words = f", num_barriers={d.odd(many, 40)}" if many else ""
        words += d.odd("", ", num_arrivals=0", ", leader_tracked=True", ", orders_tensor_core=True")
        kind = f"plgpu.ClusterBarrier(collective_axes=({d.odd(repr(axis), repr((axis,)))},){words})"
        name = k.allocate("b", kind)
        name = d.odd(f"{name}.at[1]", name) if many else name
    else:
        name = barrier(k, arrivals=k.threads or 1, number=many)
    ways = ((f"plgpu.barrier_arrive({name})", f"plgpu.barrier_wait({name})"), (f"plgpu.barrier_wait({name})",))
    k.say(*d.pick(ways))
    odd = any_tile(k).name
    more = d.odd(
        "",
        f"plgpu.barrier_arrive({odd})",
        f"plgpu.barrier_wait({odd})",
        f"plgpu.barrier_arrive_and_wait({name})",
        f"plgpu.barrier_test({name})",
    )
    if more:
        k.say(more)


def semaphores(k: Kernel, inner: Compose) -> None:
    """Signals and waits on a semaphore."""
    d = k.d
    count = d.pick((0, 2))
    shape = f"({count},)" if count else d.odd("()", "(2,)")
    name = k.allocate("m", f"plgpu.SemaphoreType.{d.odd('REGULAR', 'BARRIER')}({shape})")
    there = d.odd(f"{name}.at[1]", name) if count else name
    words = d.odd("", ", core_index=0", ", device_id=1", ', device_id={"x": 1}')
    signal = d.odd(
        f"pl.semaphore_signal({there}, {d.odd(1, 'jnp.float32(1)')}{words})",
        f"plgpu.semaphore_signal_multicast({there}, 1, collective_axes='x')",
        f"plgpu.semaphore_signal_parallel(plgpu.SemaphoreSignal({there}, device_id=0))",
    )
    wait = d.odd(
        f"pl.semaphore_wait({there}, 1)",
        f"pl.semaphore_wait({any_tile(k).name}, 1)",
        f"pl.semaphore_read({there})",
        f"pl.semaphore_wait({there}, decrement=False)",
    )
    k.say(signal, wait)


def small(k: Kernel, inner: Compose) -> None:
    """One of the small calls that stand alone."""
    d = k.d
    if d.chance(40):
        n = d.odd(d.pick((24, 40, 160, 232)), 100, 0, -8, 31)
        k.say(f'plgpu.set_max_registers({n}, action="{d.odd(d.pick(("increase", "decrease")), "set")}")')
        return
    sound = d.pick(
        (
            "plgpu.commit_smem()",
            "plgpu.wgmma_wait(0)",
            "plgpu.wait_smem_to_gmem(0)",
            "plgpu.commit_smem_to_gmem_group()",
        )
    )
    more = (
        "plgpu.wgmma_wait(-1)",
        "plgpu.wait_gmem_to_smem(0)",
        "plgpu.wait_smem_to_gmem(1.5)",
        'lax.axis_index("nowhere")',
        "pl.program_id(0)",
        "pl.num_programs(0)",
        "plgpu.griddepcontrol_wait()",
        "pl.delay(10)",
        "pl.multiple_of(jnp.zeros((128,), jnp.int32), 8)",
        "jax.random.key(0)",
        'pl.debug_check(True, "x")',
        "plgpu.find_swizzle(100)",
        "plgpu.planar_snake(jnp.int32(1), (4, 4), 0, 2)",
        "plgpu.Layout.WGMMA(3)",
        'lax.axis_size("wg")',
    )
    k.say(d.odd(sound, *more))


def swizzle_found(k: Kernel, inner: Compose) -> None:
    """A buffer whose transforms follow from its width."""
    d = k.d
    dtype, columns = d.pick(("bfloat16", "float32", "float16")), d.pick((32, 64, 128))
    bits = {"bfloat16": 16, "float16": 16, "float32": 32}[dtype]
    made = k.fresh("w")
    name = k.fresh("s")
    k.say(f"{made} = plgpu.find_swizzle({d.odd(columns, 3, columns // 8)} * {bits})")
    tiling = f"plgpu.TilingTransform((8, {d.odd('8', '4', '16')} * {made} // {bits}))"
    kind = f"plgpu.SMEM((64, {columns}), {jnp_dtype(dtype)}, transforms=({tiling}, plgpu.SwizzleTransform({made})))"
    words = ', collective_axes="wg"' if k.threads else ""
    with k.under(f"@functools.partial(pl.run_scoped, {name}={kind}{words})", f"def _({name}):"):
        k.tiles.append(Tile(name, (64, columns), dtype, swizzles((64, columns), dtype)[0]))
        inner(k, 2)


def warps(k: Kernel, inner: Compose) -> None:
    """What each warp does by itself."""
    d = k.d
    tile = any_tile(k)
    x = any_value(k) if d.odd(False, True) else None
    with k.under(d.odd('@pl.core_map(plgpu.WarpMesh(axis_name="warp"))', "@pl.core_map(plgpu.WarpMesh)"), "def _():"):
        w = k.fresh("w")
        k.say(f'{w} = lax.axis_index("{d.odd("warp", "warps")}")')
        inside = d.odd(
            f"{w} * 2",
            f"{tile.name}[...]",
            f"jnp.sign({w})",
            f"{w}.astype(jnp.float32)",
            "jnp.zeros((128,)) + 1",
            "jnp.where(jnp.zeros((128,), jnp.bool_), 1, 2)",
            "jnp.exp(jnp.zeros((128,)))",
            x.name + " + 1" if x else "plgpu.commit_smem()",
        )
        k.say(f"{k.fresh('n')} = {inside}")
        if d.chance(40):
            with k.under(f"@pl.when({w} == 0)", "def _():"):
                source = k.operand(tile.shape, tile.dtype)
                ok = max(tile.shape) <= 256 and not tile.name.startswith("v")
                k.say(
                    f"plgpu.copy_gmem_to_smem({source}, {tile.name}, {barrier(k)})"
                    if ok
                    else f"{k.fresh('n')} = {w} + 1"
                )
        if d.odd(False, True):
            k.say(f"{tile.name}[...] = jnp.zeros({shape_text(tile.shape)}, {jnp_dtype(tile.dtype)})")


def nd(k: Kernel, inner: Compose) -> None:
    """A loop over blocks, shared among the grid."""
    d = k.d
    if not k.grid:
        return
    axes = d.odd(next(iter(k.grid)), "nowhere")
    info = k.fresh("loop")
    tiling = d.odd(d.pick(("", ", tiling=(2, 2)")), ", tiling=(3, 3)", ", tiling=(2,)")
    with k.under(f"@plgpu.nd_loop({d.odd('(4, 8)', '(4, 7)')}, collective_axes={axes!r}{tiling})", f"def _({info}):"):
        k.say(f"{k.fresh('m')}, {k.fresh('n')} = {info}.index" + d.odd("", "[0]"))
        inner(k, 2)


def inline(k: Kernel, inner: Compose) -> None:
    """A function of Mosaic GPU's own."""
    d = k.d
    x = load(k)
    if x is None or (k.lane and x.layout not in ("WGMMA", "")) or len(x.shape) != 2:
        return
    layout = "WG_STRIDED(1)" if x.layout == "" else "WGMMA"
    if x.layout == "" and not k.lane:
        layout = "WGMMA"
    argument = d.odd(f"plgpu.Layout.{layout}", "1", "plgpu.RefType()", "plgpu.Layout.TCGEN05")
    shape, dtype = shape_text(d.odd(x.shape, (64, 8))), jnp_dtype(d.odd(x.dtype, "int8"))
    result = f"plgpu.ShapeDtypeStruct({shape}, {dtype}, plgpu.Layout.{layout})"
    result = d.odd(result, "jax.ShapeDtypeStruct((64, 64), jnp.float32)", "None")
    made = k.fresh("f")
    with k.under(f"@plgpu.inline_mgpu(arg_types=({argument},), return_type={result})", f"def {made}(ctx, x):"):
        k.say(f"return {d.odd('x', '(x, x)', 'None')}")
    k.value(
        f"{made}({d.odd(x.name, f'{x.name}, {x.name}', any_tile(k).name)})",
        x.shape,
        x.dtype,
        "WGMMA" if layout == "WGMMA" else "",
    )


def cancel(k: Kernel, inner: Compose) -> None:
    """Work that a block takes over from one that has not been launched yet."""
    d = k.d
    if not k.grid:
        return
    if d.chance(50):
        names = "(" + "".join(f"{n!r}," for n in d.odd(list(k.grid), ["nowhere"])) + ")"
        made = k.allocate(
            "r",
            d.odd("plgpu.TryClusterCancelResult()", "plgpu.SMEM((8,), jnp.int8)", "plgpu.TryClusterCancelResult(2)"),
        )
        bar = barrier(k)
        k.say(
            f"plgpu.try_cluster_cancel({made}, {bar})",
            f"plgpu.barrier_wait({bar})",
            f"{k.fresh('n')} = plgpu.query_cluster_cancel({made}, {names})",
        )
        return
    cluster = f", cluster_axes=({next(iter(k.cluster))!r},)" if k.cluster else ""
    thread = ', thread_axis="wg"' if d.odd(bool(k.threads), not k.threads) else ""
    names = "(" + "".join(f"{n!r}," for n in k.grid) + ")"
    with k.under(f"@plgpu.dynamic_scheduling_loop({names}{thread}{cluster})", "def _(info):"):
        inner(k, 2)


def peers(k: Kernel, inner: Compose) -> None:
    """Buffers of other blocks and other devices."""
    d = k.d
    tile = buffer(k, (128,), "float32", tiled=False)
    x = k.value(f"{tile.name}[...]", (128,), "float32")
    if k.cluster and k.lane:
        axis = d.odd(next(iter(k.cluster)), "elsewhere")
        there = f"plgpu.cluster_ref({tile.name}, {{{axis!r}: {d.odd('0', 'jnp.int32(1)')}}})"
        k.say(d.pick((f"plgpu.store({there}, {x.name})", f"{there}[...] = {x.name}")))
        return
    name = k.result((128,), "float32")
    ways = (
        f"plgpu.remote_ref({name}, 1)[...] = {x.name}",
        f'plgpu.multicast_ref({name}, "x")[...] = {x.name}',
        f"plgpu.remote_ref(plgpu.multicast_ref({name}, 'x'), 1)[...] = {x.name}",
        f"plgpu.multimem_store({x.name}, {name}, 'x')",
        f"plgpu.remote_ref({x.name}, 1)",
        f"plgpu.multicast_ref({x.name}, 'x')",
        f"plgpu.cluster_ref({x.name}, {{'c': 0}})",
        f'plgpu.multimem_load_reduce({name}, collective_axes="x", reduction_op="add")',
        f'plgpu.multimem_store({x.name}, {name}.at[0:64], "x")',
    )
    k.say(d.odd(f"{name}[...] = {x.name}", *ways))
