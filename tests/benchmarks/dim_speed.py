"""How long symbolic integers and facts take, in microseconds of CPU time a call.

Run with `PYTHONPATH=server python tests/benchmarks/dim_speed.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.facts import Facts

m, n, k = (dims.symbol(f"{x}.shape[0]", low=0) for x in "mnk")
tile_m, tile_n = dims.symbol("config.tile_m"), dims.symbol("config.tile_n")
m_iters = dims.floordiv(m, tile_m)
rows = dims.add(dims.mul(m, tile_n), 64)


def kernel_facts() -> Facts:
    """What a matrix product usually asserts of its shapes and tiles."""
    facts = Facts()
    for c in (
        conds.less(0, tile_m),
        conds.less(0, tile_n),
        conds.divides(tile_m, m),
        conds.divides(tile_n, n),
        conds.divides(64, k),
        conds.divides(64, tile_m),
        conds.at_most(tile_m, 256),
    ):
        facts = facts.learn(c)
    return facts


FACTS = kernel_facts()
BENCHMARKS: dict[str, Callable[[], object]] = {
    "add: 3 + 4": lambda: dims.add(3, 4),
    "add: m + 1": lambda: dims.add(m, 1),
    "add: m + n": lambda: dims.add(m, n),
    "add: (m*t + 64) + n": lambda: dims.add(rows, n),
    "mul: 3 * 4": lambda: dims.mul(3, 4),
    "mul: m * 64": lambda: dims.mul(m, 64),
    "mul: m * n": lambda: dims.mul(m, n),
    "mul: (m*t + 64) * n": lambda: dims.mul(rows, n),
    "floordiv: m // 128": lambda: dims.floordiv(m, 128),
    "floordiv: m // tile_m": lambda: dims.floordiv(m, tile_m),
    "floordiv: (m*t + 64) // 64": lambda: dims.floordiv(rows, 64),
    "mod: m % 128": lambda: dims.mod(m, 128),
    "mod: m % tile_m": lambda: dims.mod(m, tile_m),
    "min: min(m, 128)": lambda: dims.minimum(m, 128),
    "cond: m % 128 == 0": lambda: conds.divides(128, m),
    "cond: m <= n": lambda: conds.at_most(m, n),
    "learn: seven facts of a kernel": kernel_facts,
    "decide: m % 64 == 0, always": lambda: FACTS.decide(conds.divides(64, m)),
    "decide: m % 128 == 0, cannot tell": lambda: FACTS.decide(conds.divides(128, m)),
    "decide: tile_m <= 256, always": lambda: FACTS.decide(conds.at_most(tile_m, 256)),
    "decide: m <= n, cannot tell": lambda: FACTS.decide(conds.at_most(m, n)),
    "decide: m//tile_m*tile_m == m, always": lambda: FACTS.decide(conds.equal(dims.mul(m_iters, tile_m), m)),
    "simplify: m//tile_m*tile_m": lambda: FACTS.simplify(dims.mul(m_iters, tile_m)),
    "span: tile_m": lambda: FACTS.span(tile_m),
}


def microseconds(call: Callable[[], object]) -> float:
    """The least of several rounds, each long enough for the clock."""
    count = 1
    while _round(call, count) < 0.02:
        count *= 2
    return min(_round(call, count) for _ in range(5)) / count * 1e6


def _round(call: Callable[[], object], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - start


def main() -> None:
    for name, call in BENCHMARKS.items():
        print(f"{microseconds(call):9.2f} us  {name}")


if __name__ == "__main__":
    main()
