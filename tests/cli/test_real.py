"""The command line over the real analysis, and beside it the JAX that is installed here."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from .running import run

ENTRY = Path(__file__).with_name("entry.py")
KERNEL = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS = {rows}


def body(o_gmem, smem):
    smem[...] = jnp.zeros((ROWS, 64), jnp.float16)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(smem, o_gmem)
    plgpu.wait_smem_to_gmem(0)


def build():
    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((ROWS, 64), jnp.float16),
        scratch_types=[plgpu.SMEM((ROWS, 64), jnp.float16, transforms=transforms)],
    )()
"""
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="asks JAX itself")


@pytest.fixture
def kernels(project: Path) -> Path:
    (project / "good.py").write_text(KERNEL.format(rows=64))
    (project / "bad.py").write_text(KERNEL.format(rows=60))
    return project


def test_a_kernel_that_lowers_and_one_that_does_not(kernels: Path) -> None:
    good = run(kernels, "check", "good.py", script=ENTRY)
    assert good.returncode == 0, good.stdout
    bad = run(kernels, "check", "--format", "json", "bad.py", script=ENTRY)
    assert bad.returncode == 1
    (found,) = json.loads(bad.stdout)["diagnostics"]
    assert (found["code"], found["jax"]["type"]) == ("tiling-divides", "AssertionError")
    assert "60" in found["message"]


def test_facts(kernels: Path) -> None:
    done = run(kernels, "facts", "good.py", script=ENTRY)
    assert done.returncode == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    (source,) = {(*row["shape"], row["dtype"], row["bytes"], row["swizzle"]) for row in rows if row["operand"] == "src"}
    assert source == (64, 64, "float16", 8192, 128)
    assert {row["file"] for row in rows} == {"good.py"}


def test_explain(kernels: Path) -> None:
    out = run(kernels, "explain", "good.py:12", script=ENTRY).stdout
    assert out.startswith("good.py:12: plgpu.copy_smem_to_gmem(smem, o_gmem)\n")
    assert "float16[64, 64]" in out
    assert "[good.py:6: ROWS = 64]" in out


def test_the_real_rules_are_listed(kernels: Path) -> None:
    assert "tiling-divides " in run(kernels, "rule", script=ENTRY).stdout


@needs_jax
def test_jax_agrees(kernels: Path) -> None:
    good = run(kernels, "confirm", "good.py", script=ENTRY)
    assert good.returncode == 0, good.stderr
    assert good.stdout.startswith("build: lowers (")
    bad = run(kernels, "confirm", "bad.py::build", script=ENTRY)
    assert bad.returncode == 1, bad.stderr
    assert bad.stdout.startswith("build: JAX raises AssertionError: (no message)")
    assert "  at bad.py:" in bad.stdout


def test_a_python_without_jax_is_told(kernels: Path) -> None:
    empty = kernels / "bin" / "python"
    done = run(kernels, "confirm", "good.py", "--python", str(empty), script=ENTRY)
    assert done.returncode == 2
    assert "no verdict: this machine cannot be started" in done.stdout
