"""Pipelines over blocks of operands."""

from __future__ import annotations

from .control import Compose
from .kernel import BITS, Kernel, Tile
from .memory import swizzles, transforms

_BLOCKS = ((64, 64), (128, 64), (64, 128), (64, 32))


def _spec(k: Kernel, block: tuple[int, int], dtype: str, words: str = "", swizzle: int | None = None) -> str:
    d = k.d
    if swizzle:
        words += transforms(k, block, dtype, swizzle)
    index = d.odd(
        "lambda i: (i, 0)",
        "lambda i: (i, 0, 0)",
        "lambda i: i",
        "lambda i, j: (i, j)",
        f"lambda i: (i * {block[0]}, 0)",
        "lambda i: (0, 0)",
    )
    rows = d.odd(str(block[0]), "None", str(block[0] // 3), "pl.Squeezed()", "pl.Element(64)")
    words += d.odd("", ', collective_axes=("wg",)', ", pipeline_mode=pl.Buffered(2)", ", memory_space=plgpu.GMEM")
    return f"{d.odd('plgpu', 'plgpu', 'pl')}.BlockSpec(({rows}, {block[1]}), {index}{words})"


def pipeline(k: Kernel, inner: Compose) -> None:
    """`emit_pipeline` over the rows of an operand, perhaps with a result."""
    d = k.d
    block, dtype, steps = d.pick(_BLOCKS), d.pick(("bfloat16", "float32", "float16")), d.pick((2, 4, 8))
    fit = swizzles(block, dtype)
    swizzle = d.pick(fit) if fit and d.chance(70) else None
    depth = d.pick((1, 2, 2, 3, 4))
    delay = d.odd(min(d.below(3), depth - 1), depth, depth + 1)
    words = f", delay_release={delay}" if delay else ""
    ins = [_spec(k, block, dtype, words, swizzle)]
    source = k.operand((d.odd(block[0] * steps, block[0] * steps - 8), block[1]), dtype)
    names, arguments = [k.fresh("s")], [source]
    if d.chance(30):
        names.append(k.fresh("s"))
        arguments.append(k.operand((block[0] * steps, block[1]), dtype))
        ins.append(_spec(k, block, dtype, words, swizzle))
    outs: list[str] = []
    out = k.fresh("s") if d.chance(40) else ""
    if out:
        outs.append(_spec(k, block, dtype, "", swizzle))
        arguments.append(k.result((block[0] * steps, block[1]), dtype))
    made, step = k.fresh("step"), k.fresh("i")
    parameters = [step, *names, *([out] if out else [])]
    with k.under(f"def {made}({', '.join(d.odd(parameters, parameters[:-1], [*parameters, 'more']))}):"):
        k.tiles = [Tile(n, block, dtype, swizzle) for n in names]
        _work(k, names[0], out, block, dtype, swizzle)
        inner(k, 1)
    grid = d.odd(f"({steps},)", "(0,)", f"({steps}, 1)", "(-1,)", f"({steps - 1},)")
    keywords = [f"grid={grid}", f"in_specs=[{', '.join(d.odd(ins, ins[:-1]))}]"]
    if outs:
        keywords.append(f"out_specs=[{', '.join(outs)}]")
    if depth > 1 or d.chance(30):
        keywords.append(f"max_concurrent_steps={d.odd(depth, 40, 0)}")
    if d.odd(False, True):
        keywords.append("init_carry=0")
    k.say(f"plgpu.emit_pipeline({made}, {', '.join(keywords)})({', '.join(d.odd(arguments, arguments[:-1]))})")


def _work(k: Kernel, source: str, out: str, block: tuple[int, int], dtype: str, swizzle: int | None) -> None:
    """What a step does with its blocks."""
    sound = swizzle is None or (BITS[dtype] in (16, 32) and block[0] % 64 == 0)
    if out and sound:
        k.say(f"{out}[...] = {source}[...] {k.d.odd('* 2', '+ jnp.zeros((8, 8))', '* 1.5')}")


def specialized(k: Kernel, inner: Compose) -> None:
    """`emit_pipeline_warp_specialized`: the last thread copies, the others compute."""
    d = k.d
    if k.settled or k.threads or k.cluster:
        return
    block, dtype, steps = d.pick(_BLOCKS), d.pick(("bfloat16", "float32", "float16")), d.pick((2, 4, 8))
    fit = swizzles(block, dtype)
    swizzle = d.pick(fit) if fit and d.chance(70) else None
    groups = d.pick((1, 2))
    k.threads, k.settled = groups + 1, True
    depth = d.pick((2, 2, 3, 4))
    delay = d.odd(min(d.below(2), depth - 1), depth)
    words = f", delay_release={delay}" if delay else ""
    source = k.operand((block[0] * steps, block[1]), dtype)
    name, step, made = k.fresh("s"), k.fresh("i"), k.fresh("step")
    arguments = [source]
    keywords = [
        f"grid=({d.odd(steps, 0, 1, 'lax.axis_index(' + repr(k.axes()[0]) + ')')},)",
        f"in_specs=[{_spec(k, block, dtype, words, swizzle)}]",
        f"memory_registers={d.odd(40, 41, -8)}",
        f'wg_axis="{d.odd("wg", "nowhere")}"',
        f"num_compute_wgs={d.odd(groups, groups + 1)}",
    ]
    if groups == 1 and d.chance(30):
        arguments.append(k.result((block[0] * steps, block[1]), dtype))
        keywords.append(f"out_specs=[{_spec(k, block, dtype, '', swizzle)}]")
    keywords += [
        d.odd(
            f"max_concurrent_steps={depth}",
            "max_concurrent_steps=1",
            "memory_thread_idx=0",
            "manual_consumed_barriers=True",
        )
    ]
    parameters = [step, name, *([k.fresh("s")] if len(arguments) > 1 else [])]
    context = d.pick((0, 0, 1))
    with k.under(f"def {made}({', '.join([*parameters, *(['carry'] if context else [])])}):"):
        k.tiles = [Tile(name, block, dtype, swizzle)]
        inner(k, 1)
        if context:
            k.say("return carry")
    if context:
        run = k.fresh("run")
        with k.under(f"def {run}(pipeline):"):
            k.say(d.odd("pipeline(jnp.int32(0))", "pipeline(jnp.int32(0)); pipeline(jnp.int32(0))", "pass"))
        keywords.append(f"compute_context={run}")
    arguments = d.odd(arguments, [*arguments, source])
    k.say(f"plgpu.emit_pipeline_warp_specialized({made}, {', '.join(keywords)})({', '.join(arguments)})")
