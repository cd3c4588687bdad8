"""The table of functions that a kernel cannot be lowered with, and what is said of kernels that call them."""

from __future__ import annotations

import random

import pytest

from pallas_ls.domain.finding import Severity
from pallas_ls.domain.target import MEASURED, NEWEST, JaxVersion, Semantics
from pallas_ls.rules.primitives.table import functions, rows, unlowered
from tests.oracle.answers import findings

KERNEL = """\
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, x, m):
    {statement}


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32), plgpu.SMEM((64, 64), jnp.float32)],
)
"""


def said(statement: str, version: JaxVersion = NEWEST) -> list[str]:
    """The errors' codes."""
    found = findings("kernel.py", KERNEL.format(statement=statement), version)
    return [f.code for f in found if f.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "statement",
    [
        "x[...] = jnp.sort(x[...])",
        "x[...] = jnp.cumsum(x[...], axis=0)",
        "m[...] = m[...] @ m[...]",
        "m[...] = jnp.dot(m[...], m[...])",
        "m[...] = jnp.transpose(m[...])",
        "x[...] = jnp.floor(x[...])",
        "x[...] = x[...] ** x[...]",
        "i = jnp.argmax(x[...])",
        "x[...] = jax.lax.cumsum(x[...])",
        "m[...] = jax.lax.rev(m[...], (0, 1))",
        "x[...] = jnp.array(x[...])",
    ],
)
@pytest.mark.parametrize("version", MEASURED, ids=str)
def test_what_has_no_lowering_is_refused(statement: str, version: JaxVersion) -> None:
    assert said(statement, version) == ["unlowered-primitive"]


@pytest.mark.parametrize(
    "statement",
    [
        "x[...] = jnp.exp(x[...])",
        "x[...] = x[...] ** 2",
        "m[...] = jnp.transpose(m[...], (0, 1))",
        "x[...] = jnp.maximum(x[...], 0.0)",
        "x[...] = jnp.where(x[...] > 0, x[...], 1.0)",
        "s = jnp.sum(m[...], axis=1)",
        "x[...] = jnp.array(x[...], copy=False)",
        "x[...] = jax.lax.exp(x[...])",
    ],
)
@pytest.mark.parametrize("version", MEASURED, ids=str)
def test_what_lowers_is_not(statement: str, version: JaxVersion) -> None:
    assert "unlowered-primitive" not in said(statement, version)


def test_what_the_host_computes_is_not() -> None:
    text = KERNEL.format(statement="x[...] = x[...] + 1") + "\n\ndef host(a):\n    return jnp.sort(a @ a)\n"
    assert findings("kernel.py", text, NEWEST) == ()


def test_every_measured_release_has_its_rows() -> None:
    for version in MEASURED:
        for semantics in Semantics:
            assert unlowered(version, semantics)["jax.numpy.sort", 1, 1, "float", "any"] == "sort"
    assert unlowered(JaxVersion(0, 13), Semantics.LANE) == unlowered(NEWEST, Semantics.LANE)
    assert len(functions()) > 40


def test_the_installed_jax_stops_where_the_table_says() -> None:
    live = pytest.importorskip("tests.primitives.live", reason="JAX is not installed", exc_type=ImportError)
    mine = [r for r in rows() if r.version == live.VERSION]
    for r in random.Random(3).sample(mine, min(len(mine), 40)):
        cell = (r.function, r.arrays, r.rank, r.family, r.others)
        assert live.confirmed(cell, r.semantics, r.primitive), r
