"""A whole kernel of a seed: random blocks, one after the other and inside each other, with at most two faults."""

from __future__ import annotations

import random
from collections.abc import Callable

from . import control, memory, pipelines, registers, tensor
from .drawing import Draw
from .kernel import Kernel, text

Block = Callable[[Kernel], object]

_PLAIN: tuple[Block, ...] = (
    *(memory.copy_in,) * 3,
    *(memory.copy_out,) * 2,
    memory.prefetch,
    memory.gather,
    *(memory.views,) * 3,
    *(registers.load,) * 2,
    *(registers.unary,) * 2,
    *(registers.binary,) * 2,
    registers.choose,
    registers.cast,
    *(registers.reduction,) * 2,
    registers.relayout,
    registers.reshape,
    registers.iota,
    *(registers.store,) * 2,
    registers.atomics,
    registers.store_async,
    registers.shown,
    *(tensor.wgmma,) * 3,
    *(tensor.tcgen05,) * 3,
    *(tensor.tensor_memory,) * 2,
    tensor.mma,
)
_NESTED = (
    control.when,
    control.loop,
    control.carried,
    control.branches,
    control.scoped,
    control.union,
    control.threads,
    control.semaphores,
    control.small,
    control.swizzle_found,
    control.warps,
    control.nd,
    control.inline,
    control.cancel,
    control.peers,
    *(pipelines.pipeline,) * 2,
    *(pipelines.specialized,) * 2,
)


def generate(seed: int) -> str:
    """The kernel of a seed: sound in two cases of five, else with one fault or two."""
    lots = random.Random(seed ^ 0x5EED)
    count = lots.choice((0, 0, 1, 1, 1, 1, 2))
    first = Draw(seed)
    made = _drawn(first)
    if count:
        made = _drawn(Draw(seed, lots.sample(range(first.points), min(count, first.points))))
    return made


def _drawn(d: Draw) -> str:
    k = Kernel(d, lane=d.chance(45), blackwell=d.chance(35))
    if d.chance(60):
        k.grid = {"gx": 4, **({"gy": 2} if d.chance(40) else {})}
    if d.chance(30):
        k.cluster = {"c": 2}
    elif d.chance(20):
        k.threads = 2
    _compose(k, 2 + d.below(5), 0)
    return text(k)


def _compose(k: Kernel, most: int, depth: int) -> None:
    for _ in range(1 + k.d.below(most)):
        if depth < 2 and k.d.chance(30):
            k.d.pick(_NESTED)(k, lambda k, most: _compose(k, most, depth + 1))
        else:
            k.d.pick(_PLAIN)(k)
