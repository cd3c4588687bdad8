"""The installed JAX lowers every kernel that a fix made."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from .offered import HERE, STYLES, in_semantics, kernels, offers, texts_of

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")


def installed() -> str:
    """The installed version of JAX."""
    from importlib.metadata import version  # noqa: PLC0415 - where JAX is not installed there is none

    return version("jax")


def lowered(files: list[Path]) -> dict[str, str | None]:
    """What JAX says of each file: None where it lowers."""
    command = [sys.executable, str(HERE / "lower_all.py"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(rows) == len(files), done.stderr[-2000:]
    return {row["file"]: row["error"] for row in rows}


def refusals(texts: dict[Path, dict[str, str]], folder: Path) -> tuple[int, dict[tuple[str, str], str]]:
    """How many fixes these kernels are offered, and what JAX refuses of what they make."""
    titles: dict[str, str] = {}
    for kernel, files in texts.items():
        for i, o in enumerate(offers(files, kernel.name, installed())):
            place = folder / f"{kernel.stem}-{i}"
            place.mkdir()
            for path, text in o.texts.items():
                (place / path).write_text(text)
            titles[str(place / kernel.name)] = o.fix.title
    verdicts = lowered([Path(f) for f in titles])
    return len(titles), {(Path(f).stem, titles[f]): e for f, e in verdicts.items() if e is not None}


def test_jax_lowers_what_every_fix_makes(tmp_path: Path) -> None:
    offered, refused = refusals({k: texts_of(k) for k in kernels()}, tmp_path)
    assert refused == {}
    assert offered > 100


@pytest.mark.parametrize("semantics", ["Lane", "Warpgroup"])
def test_jax_lowers_it_under_both_semantics(semantics: str, tmp_path: Path) -> None:
    texts: dict[Path, dict[str, str]] = {}
    for kernel in kernels():
        files = texts_of(kernel)
        changed = in_semantics(files[kernel.name], semantics)
        if kernel.parent == STYLES and changed is not None:
            texts[kernel] = {**files, kernel.name: changed}
    offered, refused = refusals(texts, tmp_path)
    assert refused == {}
    assert offered > 30


def test_jax_refuses_what_is_to_be_fixed(tmp_path: Path) -> None:
    refused: list[Path] = []
    for kernel in kernels():
        if not offers(texts_of(kernel), kernel.name, installed()):
            continue
        folder = tmp_path / kernel.stem
        folder.mkdir()
        for path, text in texts_of(kernel).items():
            (folder / path).write_text(text)
        refused.append(folder / kernel.name)
    assert [file for file, error in lowered(refused).items() if error is None] == []
