"""Fixes that pad keep what the program computes: JAX's interpreter runs both, and the results are the same."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from .offered import HERE, STYLES, Offered, offers, texts_of

PADDED = ("pad_tail_of_48_floats", "pad_caller_at_module_level")


def returned(files: list[Path]) -> list[object]:
    """What `main` of each file returns."""
    command = [sys.executable, str(HERE / "interpret.py"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(rows) == len(files), done.stderr[-2000:]
    assert [row["error"] for row in rows if "error" in row] == []
    return [row["values"] for row in rows]


def padding(name: str) -> list[Offered]:
    kernel = STYLES / f"{name}.py"
    return [o for o in offers(texts_of(kernel), kernel.name) if "Pad " in o.fix.title]


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_padded_kernels_compute_the_same(tmp_path: Path) -> None:
    if not hasattr(importlib.import_module("jax.experimental.pallas.mosaic_gpu"), "InterpretGPUParams"):
        pytest.skip("this JAX has no interpreter for GPU kernels")
    files: list[Path] = []
    for name in PADDED:
        (fix,) = padding(name)
        file = tmp_path / f"{name}.py"
        file.write_text(fix.texts[f"{name}.py"])
        files += [STYLES / f"{name}.py", file]
    values = returned(files)
    assert values[0::2] == values[1::2]
    assert all(isinstance(v, list) and v for v in values)


def test_a_function_pads_for_all_of_its_callers() -> None:
    (fix,) = padding("pad_in_a_wrapper")
    added = set(fix.texts["pad_in_a_wrapper.py"].splitlines())
    assert {"    x = jnp.pad(x, ((0, -rows % 128), (0, 0)))", "    return kernel(x)[:rows]"} <= added
    assert not fix.fix.safe


@pytest.mark.parametrize("name", ["pad_not_a_reduction", "pad_not_a_divisor", "pad_not_a_factor"])
def test_nothing_is_padded_where_the_padding_would_count(name: str) -> None:
    assert padding(name) == []


@pytest.mark.parametrize("name", ["pad_not_a_reduction", "pad_not_a_divisor", "pad_not_a_factor"])
def test_what_a_program_works_on_is_never_resized(name: str) -> None:
    kernel = STYLES / f"{name}.py"
    assert offers(texts_of(kernel), kernel.name) == []
