"""The count of shared memory against JAX's own, on random kernels; and what the rules say of it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest

from pallas_ls.answers.session import Session
from pallas_ls.domain.target import NEWEST, JaxVersion, Target
from pallas_ls.rules.capacity import Footprint, footprint
from tests.oracle.answers import OneFile, findings, line_of

from . import memory_kernels

SEEDS = range(60)


def counted(text: str, version: JaxVersion) -> Footprint:
    """What we count of the only kernel of a text."""
    session = Session(OneFile("k.py", text), Target(version))
    session.check("k.py")
    facts = [f for state in session.program.states.values() for memo in state.memos() for f in memo.facts]
    [fact] = {id(f): f for f in facts if f.api == "kernel.memory"}.values()
    return footprint(fact.operands["kernel"], fact.operands["scope"], fact.facts, version)


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """JAX refuses every kernel, and says what it asks for."""
    core = pytest.importorskip("jax.experimental.mosaic.gpu.core")
    before, core._SMEM_SIZE_BOUND = core._SMEM_SIZE_BOUND, -1
    try:
        yield
    finally:
        core._SMEM_SIZE_BOUND = before


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sum_is_what_jax_asks_for(seed: int) -> None:
    live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)
    jax, jnp = pytest.importorskip("jax"), pytest.importorskip("jax.numpy")
    text = memory_kernels.kernel(seed)
    scope: dict[str, object] = {}
    exec(compile(text.replace("OUT = ", "OUT = None and "), "k.py", "exec"), scope)
    operand = jax.ShapeDtypeStruct((256, 64), jnp.bfloat16)
    with no_room(), pytest.raises(ValueError, match="smem_bytes=") as refused:
        jax.jit(scope["kernel"]).trace(operand).lower(lowering_platforms=("cuda",))
    found = re.search(r"smem_bytes=(\d+) >", str(refused.value))
    assert found is not None
    ours = counted(text, live.VERSION)
    assert (ours.total, ours.sure) == (int(found[1]), True)


PIPELINE = """\
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

STAGES = {stages}

def body(x, o, acc):
    plgpu.emit_pipeline(
        lambda i, x_smem: None,
        grid=(16,),
        in_specs=[plgpu.BlockSpec((64, 384), lambda i: (i, 0))],
        max_concurrent_steps=STAGES,
    )(x)

kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128, 64), jnp.float32)],
)
OUT = kernel(jax.ShapeDtypeStruct((1024, 384), jnp.{dtype}))
"""


def test_the_message_adds_up_and_names_the_depth_that_fits() -> None:
    text = PIPELINE.format(stages=6, dtype="bfloat16")
    [found] = findings("k.py", text, NEWEST)
    assert found.message == (
        "327,728 B of 232,448: 6 stages x 49,152 + acc 32,768 + barriers 48. max_concurrent_steps=4 fits (229,408)."
    )
    assert line_of(found, text) == 12
    assert [text.count("\n", 0, r.span.start) + 1 for r in found.related] == [18, 11]


@pytest.mark.parametrize(
    ("stages", "dtype", "fits"), [(4, "bfloat16", True), (5, "bfloat16", False), (2, "float32", True)]
)
def test_the_limit_is_227_kib(stages: int, dtype: str, fits: bool) -> None:
    assert (findings("k.py", PIPELINE.format(stages=stages, dtype=dtype), NEWEST) == ()) is fits


def test_what_stands_under_an_undecided_condition_is_not_counted() -> None:
    text = PIPELINE.format(stages=6, dtype="bfloat16").replace(
        "    plgpu.emit_pipeline(", "    if UNKNOWN:\n     plgpu.emit_pipeline("
    )
    assert (
        findings("k.py", f"import os\n{text}".replace("STAGES =", "UNKNOWN = os.environ.get('X')\nSTAGES ="), NEWEST)
        == ()
    )
