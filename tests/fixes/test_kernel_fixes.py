"""Fixes of kernels, allocations and pipelines, on the bad kernels of their rules: JAX lowers what they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from pallas_ls.rules.registry import rule_named

from .offered import offers

#: What is offered first for each rule's bad kernel.
FIRST = {
    "renamed-keyword": "Rename out_shape to out_type",
    "kernel-keyword": "Rename name to kernel_name",
    "compiler-params-keyword": "Remove delay_release",
    "dimension-semantics": "Remove dimension_semantics",
    "grid-names": 'Use grid_names=("rows", "axis0")',
    "cluster-names": 'Use cluster_names=("axis0",)',
    "thread-name": 'Add thread_name="wg"',
    "thread-count": "Use num_threads=1",
    "scratch-type": "Use plgpu.SMEM",
    "scoped-axes": 'Add collective_axes="wg"',
    "accumulator-scope": "Remove collective_axes",
    "barrier-axis": 'Use collective_axes=("x",)',
    "tmem-packing": "Add packed=True, as for an operand of tcgen05_mma",
    "tmem-argument": "Remove packed",
    "tmem-mixed": "Add collective=True",
    "smem-capacity": "Use 1 stage",
    "pipeline-depth": "Use max_concurrent_steps=2",
    "pipeline-mode": "Remove pipeline_mode",
    "pipeline-axes": "Remove collective_axes",
    "pipeline-memory-thread": "Remove memory_thread_idx",
}
#: A type that stands in no list, and a body that misses it.
BARE = """\
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def ones(o_gmem, buf):
    buf[...] = jnp.ones((128,), jnp.float32)
    o_gmem[...] = buf[...]


kernel = plgpu.kernel(
    ones,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=plgpu.SMEM((128,), jnp.float32),
)

if __name__ == "__main__":
    jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
"""


def lowers(text: str, folder: Path) -> None:
    live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)
    path = folder / "fixed.py"
    path.write_text(text)
    assert live.verdict(path) is None


@pytest.mark.parametrize("id", FIRST)
def test_what_is_offered_lowers(id: str, tmp_path: Path) -> None:
    rule = rule_named(id)
    assert rule is not None
    found = offers({"k.py": rule.example("bad")}, "k.py")
    assert found[0].fix.title == FIRST[id]
    for offered in found:
        lowers(offered.texts["k.py"], tmp_path)


def test_a_bare_scratch_type_is_put_in_a_list(tmp_path: Path) -> None:
    [offered] = offers({"k.py": BARE}, "k.py")
    assert (offered.code, offered.fix.title, offered.fix.safe) == (
        "body-parameters",
        "Put the scratch type in a list",
        True,
    )
    lowers(offered.texts["k.py"], tmp_path)
