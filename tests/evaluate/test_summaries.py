"""Calls answered by putting numbers into an evaluation over symbols leave behind what their own evaluation would."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pallas_ls.answers.session import Session
from pallas_ls.domain.python import Int
from pallas_ls.domain.target import Target
from pallas_ls.evaluate.agreement import difference
from pallas_ls.evaluate.memo import Memo
from pallas_ls.evaluate.program import Program

from .generate import bindings, programs, seeded
from .workbench import Texts, program

EXAMPLES = int(os.environ.get("PALLAS_LS_EXAMPLES", "1"))


def analysed(text: str, summaries: bool) -> tuple[Program, list[Memo]]:
    """The units of a module, with summaries for the smallest of functions, or without any."""
    p, _ = program({"main": text})
    p.summaries.enabled = summaries
    p.summaries.least_steps, p.summaries.least_rows = 0, 2
    return p, p.analyse("main.py")


def left_behind(memos: Iterable[Memo]) -> list[Any]:
    """What must be the same with and without summaries (but for what was read: all paths may read more)."""
    return [
        (m.facts, m.raises, m.host_calls, m.notes, m.stopped, sorted(m.divisions, key=repr), sorted(m.failed))
        for m in memos
    ]


def with_calls(text: str, rows: Iterable[Iterable[int]]) -> str:
    """The program with a function for each row, which calls `main`, and one that tries them all."""
    listed = [f"({', '.join(map(str, row))},)" for row in rows]
    single = "".join(f"\n\ndef use{i}():\n    return probe(main(*{row}), {i})\n" for i, row in enumerate(listed))
    return (
        f"{text}{single}\n\ndef all_of_them():\n    for row in [{', '.join(listed)}]:\n"
        "        try:\n            probe(main(*row), row)\n        except ValueError:\n            continue\n"
    )


@settings(
    max_examples=20 * EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(st.data())
def test_random_programs(data: st.DataObject) -> None:
    """The same facts, raises, calls and divisions, in the same order."""
    text, parameters = data.draw(programs())
    rows = [data.draw(bindings(parameters)) for _ in range(4)]
    whole = with_calls(text, ([row[n] for n in parameters] for row in rows))
    found = difference(left_behind(analysed(whole, True)[1]), left_behind(analysed(whole, False)[1]))
    assert not found, f"{found}\n{whole}"


def test_seeded_programs_use_summaries_and_agree() -> None:
    """A good part of the calls is answered by summaries, or nothing above is tested."""
    used = 0
    for seed in range(15):
        text, parameters, _ = seeded(seed)
        whole = with_calls(text, [[3 + (7 * i + j) % 11 for j in range(len(parameters))] for i in range(6)])
        p, memos = analysed(whole, True)
        used += p.summaries.used
        assert not difference(left_behind(memos), left_behind(analysed(whole, False)[1])), whole
    assert used > 15 * 4


# -- kernels ---------------------------------------------------------------------------------------

HEAD = """
import dataclasses, functools, itertools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu


@dataclasses.dataclass(frozen=True)
class Config:
    tile_m: int
    tile_n: int
    steps: int
    store: bool = True

"""
LOOP = """
def main():
    x = jnp.zeros((4096, 4096), jnp.float16)
    for tile_m, tile_n, steps in itertools.product((64, 96, 128), (64, 128), (2, 3, 4)):
        config = Config(tile_m, tile_n, steps)
        try:
            out = scale(x, config)
        except ValueError:
            continue
"""
#: A pipeline by hand; stores through a barrier of another block, which refuses some tiles.
BY_HAND = """
def scale(x, config):
    m, n = x.shape
    tm, tn = config.tile_m, config.tile_n
    if m % tm or n % tn:
        raise ValueError("tiles")
    transforms = (plgpu.TilingTransform((8, 128)), plgpu.SwizzleTransform(128))

    def body(x_gmem, o_gmem, x_smem, o_smem, barrier):
        i = jax.lax.axis_index("i")

        @pl.loop(0, n // tn)
        def _(j):
            rows, cols = pl.ds(i * tm, tm), pl.ds(j * tn, tn)
            slot = jax.lax.rem(j, config.steps)
            plgpu.copy_gmem_to_smem(x_gmem.at[rows, cols], x_smem.at[slot], barrier.at[slot])
            plgpu.barrier_wait(barrier.at[slot])
            if config.store:
                plgpu.async_store_smem(x_smem[slot] * 2, o_smem, barrier.at[slot], cluster_idx=0, cluster_dim="c")

            @pl.when(j == n // tn - 1)
            def _():
                plgpu.copy_smem_to_gmem(o_smem, o_gmem.at[rows, cols])

    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=(m // tm,),
        grid_names=("i",),
        cluster=(2,),
        cluster_names=("c",),
        scratch_types=[
            plgpu.SMEM((config.steps, tm, tn), x.dtype),
            plgpu.SMEM((tm, tn), x.dtype, transforms=transforms),
            plgpu.Barrier(num_barriers=config.steps),
        ],
    )(x)
"""
#: Rows of registers stored in an unrolled loop: how often depends on a tile.
UNROLLED = BY_HAND.replace(
    "            if config.store:\n",
    "            for k in range(tm // 32):\n"
    "                o_smem[pl.ds(k * 32, 32)] = x_smem[slot, pl.ds(k * 32, 32)]\n"
    "            if config.store:\n",
)
#: Scratch by name, made and used under the same flag; a loop carry; a helper that is called on the host.
BRANCHING = """
def scratch(config, dtype):
    shapes = {"x_smem": plgpu.SMEM((config.tile_m, config.tile_n), dtype)}
    if config.tile_m > 64:
        shapes["extra"] = plgpu.SMEM((config.tile_m // 2, config.tile_n), dtype)
    return shapes


def scale(x, config):
    m, n = x.shape
    big = config.tile_m > 64

    def body(x_gmem, o_gmem, x_smem, extra=None):
        def step(j, acc):
            if big:
                acc = acc + extra[...].sum()
            return acc + x_smem[0, 0]

        total = jax.lax.fori_loop(0, pl.cdiv(n, config.tile_n), step, jnp.float16(0))
        x_smem[...] = jnp.full((config.tile_m, config.tile_n), total)

    f = plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((m // config.steps, n), x.dtype), scratch_types=scratch(config, x.dtype)
    )
    return f(x)
"""
KERNELS = {"by hand": BY_HAND, "unrolled": UNROLLED, "branching": BRANCHING}


def session(text: str, summaries: bool) -> Session:
    """A session over one file, with summaries from the second row on."""
    s = Session(Texts({"k": text}), Target())
    s.program.summaries.enabled = summaries
    s.program.summaries.least_steps, s.program.summaries.least_rows = 0, 2
    return s


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    """The same facts in the same order, the same findings, the same kernels to confirm, hovers and explanations."""
    text = HEAD + KERNELS[name] + LOOP
    on, off = session(text, True), session(text, False)
    found = on.check("k.py"), off.check("k.py")
    assert not difference(left_behind(on.program.analyse("k.py")), left_behind(off.program.analyse("k.py")))
    assert on.program.summaries.used >= (6 if name == "unrolled" else 8)
    assert found[0] == found[1]
    assert on.facts("k.py") == off.facts("k.py")
    assert on.kernels("k.py") == off.kernels("k.py")
    for offset in range(0, len(text), 41):
        assert on.hover("k.py", offset) == off.hover("k.py", offset)


def test_something_is_found_in_them() -> None:
    """Or equal findings would say nothing."""
    report = session(HEAD + BY_HAND + LOOP, True).check("k.py")
    assert {f.code for f in report.findings} >= {"tiling-divides"}


# -- what a summary is not made of -------------------------------------------------------------------

USES = """
def use():
    for n in (4, 6, 8, 10, 12, 14):
        probe(f(n), n)
"""


def refusals(text: str) -> tuple[int, set[str]]:
    """How often summaries were used, and why they were refused."""
    whole = f"from kit import probe\n{text}\n{USES}"
    p, memos = analysed(whole, True)
    assert not difference(left_behind(memos), left_behind(analysed(whole, False)[1])), whole
    return p.summaries.used, {s.refused for k in p.summaries.functions.values() for s in k.shapes.values()} - {""}


def test_a_plain_function_is_evaluated_twice_and_then_not_again() -> None:
    assert refusals("def f(n):\n    return probe(n * 2 if n > 7 else n, n % 3)") == (4, set())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "SEEN = []\n\ndef f(n):\n    SEEN.append(n)\n    return probe(len(SEEN), n)",
            "it changes objects that were there before",
        ),
        ("N = 0\n\ndef f(n):\n    global N\n    N = n\n    return n", "it writes global names"),
        ("def f(n):\n    def g():\n        return n\n    return g", "it returns a function"),
        (
            "def f(n):\n    def g(m):\n        return probe(n, m)\n    return n",
            "it makes functions that it does not call",
        ),
    ],
)
def test_effects_are_refused(text: str, why: str) -> None:
    assert refusals(text) == (0, {why})


def test_a_number_that_decides_how_often_a_loop_runs_is_structure() -> None:
    p, memos = analysed(
        "from kit import probe\n\ndef f(n, scale):\n    total = 0\n    for i in range(n):\n"
        "        total += probe(i * scale, n)\n    return total\n\ndef use():\n"
        "    for n in (2, 3):\n        for scale in (10, 20, 30, 40):\n            f(n, scale)\n",
        True,
    )
    (known,) = p.summaries.functions.values()
    assert known.fixed == {"n"}
    assert p.summaries.used >= 4
    (use,) = [m for m in memos if any(f.chain for f in m.facts)]
    assert [f.operands["x"] for f in use.facts if f.row == 8] == [Int(0), Int(40), Int(80)]


def test_what_a_cache_keeps_in_one_unit_is_not_there_in_another() -> None:
    """A call that the cache answers leaves nothing behind, the first of each unit does."""
    cached = (
        "from functools import cache\n\n@cache\ndef g(n):\n    return probe(n, 0)\n\ndef f(n):\n    return g(3) + n\n"
    )
    refusals(f"{cached}\ndef early():\n    f(9)\n    f(10)\n    f(11)\n\ndef again():\n    f(20)\n    f(21)\n")


def test_a_global_that_has_changed_is_read_again() -> None:
    """What a summary read is looked at before each use."""
    text = "BOX = [1]\n\ndef f(n):\n    return probe(n * BOX[0], n)\n\ndef use():\n"
    text += "".join(f"    f({n})\n" + (f"    BOX[0] = {n}\n" if n == 7 else "") for n in range(4, 12))
    whole = f"from kit import probe\n{text}"
    p, memos = analysed(whole, True)
    assert p.summaries.used > 0
    assert not difference(left_behind(memos), left_behind(analysed(whole, False)[1]))


def test_an_edit_of_the_function_costs_few_evaluations_however_many_rows() -> None:
    """One over symbols for the function itself, and for its rows one more over symbols beside the first of them."""
    text = (
        "from kit import probe\n\ndef f(n):\n    probe(n, 1)\n    return n + 1\n\ndef use():\n"
        f"    for n in {tuple(range(5, 45))}:\n        probe(f(n), n)\n"
    )
    p, files = program({"main": text})
    p.summaries.least_steps = 0
    p.analyse("main.py")
    files.put("main", text.replace("n + 1", "n + 2"))
    p.refresh()
    p.reset_count()
    p.analyse("main.py")
    rows = p.summaries.least_rows - 1
    assert p.evaluated["main.py", "def f"] == 1 + 2 * (1 + rows + 1)  # the def, then its two statements


def test_an_edit_of_the_caller_puts_its_rows_into_what_is_there() -> None:
    text = (
        "from kit import probe\n\ndef f(n):\n    probe(n, 1)\n    return n + 1\n\ndef use():\n"
        f"    for n in {tuple(range(5, 25))}:\n        probe(f(n), n)\n"
    )
    p, files = program({"main": text})
    p.summaries.least_steps = 0
    p.analyse("main.py")
    files.put("main", text.replace("(5, 6,", "(50, 6,"))
    p.refresh()
    p.reset_count()
    p.analyse("main.py")
    assert ("main.py", "def f") not in p.evaluated
