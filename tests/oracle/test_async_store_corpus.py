"""Every kernel of the corpus about `async_store_smem`: what JAX refuses we refuse with its words, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pallas_ls.domain.finding import Severity
from pallas_ls.domain.target import MEASURED, JaxVersion

from .answers import findings_of, line_of
from .verdict import quotes, read, show

FOLDER = Path(__file__).parent.parent / "kernels" / "async_store"
KERNELS = sorted(FOLDER.glob("ass_*.py"))
RECORDED = read(FOLDER / "results.tsv")

#: The line that a person would change, by its beginning; everywhere else it is the line of the call.
BLAMED = {
    "ass_01": "scratch_types=",
    "ass_02": "scratch_types=",
    "ass_03": "scratch_types=",
    "ass_04": "plgpu.Barrier(num_arrivals=0)",
    "ass_35": 'i = jax.lax.axis_index("c")',
}


def test_the_corpus_is_whole() -> None:
    assert len(KERNELS) == 64
    assert {name for name, _ in RECORDED} == {k.name for k in KERNELS}


@pytest.mark.parametrize("version", MEASURED, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.stem)
def test_we_say_what_jax_says(kernel: Path, version: JaxVersion) -> None:
    errors = [f for f in findings_of(kernel, version) if f.severity is Severity.ERROR]
    theirs = RECORDED[kernel.name, version]
    if theirs is None:
        assert errors == []
        return
    first = errors[0]
    assert first.jax is not None
    assert quotes(first.jax, theirs), f"{show(first.jax)!r} is not {show(theirs)!r}"


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.stem)
def test_the_blamed_line_is_the_one_to_change(kernel: Path) -> None:
    text = kernel.read_text("utf-8")
    found = findings_of(kernel, MEASURED[-1])
    if not found:
        assert RECORDED[kernel.name, MEASURED[-1]] is None
        return
    line = text.splitlines()[line_of(found[0], text) - 1].strip()
    assert line.startswith(BLAMED.get(kernel.name[:6], "plgpu.async_store_smem("))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.stem)
def test_the_installed_jax_still_says_so(kernel: Path) -> None:
    live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)
    if live.VERSION not in MEASURED:
        pytest.skip(f"JAX {live.VERSION} has no record")
    theirs, recorded = live.verdict(kernel), RECORDED[kernel.name, live.VERSION]
    assert _without_names(show(theirs)) == _without_names(show(recorded))


def _without_names(text: str) -> str:
    """Numbers of MLIR values change with any operation before them."""
    return text.partition("OpResult(")[0]
