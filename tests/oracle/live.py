"""The installed JAX's verdict on a kernel file: it is run as a script, and lowers for CUDA on the CPU."""

from __future__ import annotations

import contextlib
import os
import re
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
from jax.experimental.mosaic.gpu import core as mosaic_core
from jax.experimental.mosaic.gpu import utils as mosaic_utils

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.target import JaxVersion

VERSION = JaxVersion.parse(jax.__version__)
_TARGET = re.compile(r"^# pallas: target sm_(\d+)(\d)a?$", re.MULTILINE)


def verdict(path: Path) -> JaxError | None:
    """What JAX raises when the file runs as a script, or None: it lowers."""
    text = path.read_text("utf-8")
    given = _TARGET.search(text)
    if "collective=True" in text or "collective_axis=" in text:
        jax.clear_caches()  # they do not tell tensor memory of two blocks from that of one
    arch = (int(given[1]), int(given[2])) if given else (9, 0)
    with _architecture(arch), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations of the API are no verdict
        try:
            runpy.run_path(str(path), run_name="__main__")
        except Exception as error:  # whatever JAX raises is the answer
            return JaxError(type(error).__name__, str(error).replace(f"{path.parent}{os.sep}", ""))
    return None


@contextlib.contextmanager
def _architecture(arch: tuple[int, int]) -> Iterator[None]:
    """Lowers for a GPU of this compute capability. JAX asks the device, and without one it assumes Hopper."""
    modules = [m for m in (mosaic_utils, mosaic_core) if hasattr(m, "_infer_arch")]
    before = [m._infer_arch for m in modules]
    for m in modules:
        m._infer_arch = lambda: arch
    try:
        yield
    finally:
        for m, original in zip(modules, before, strict=True):
            m._infer_arch = original
