"""Literate kernels: what kernel authors write, and beside the line what is known there.

    # kernel: index-by-name
    # traced: main(bf16(256, 128), tile_m=64)
    def main(x, tile_m):
        ...
            rows = pl.ds(i * tile_m, tile_m)
            view = x_gmem.at[rows]    #: view = bfloat16[tile_m, x.shape[1]] gmem
            plgpu.copy_gmem_to_smem(view, smem, done)    #: copy_gmem_to_smem.dst = bfloat16[tile_m, 128] smem

A file of `kernels/` holds several, each under its heading. `#: NAME = FACT` speaks of a variable, `#: API.OPERAND =
FACT` of an operand (or the `result`) of the last call of that function at or above the line; several are parted by
"; ". A line may hold expectations alone: they belong to the statement above.

A FACT is an element type, a shape, and where they apply a space, a tiling, a swizzle and bytes; or the value itself.
Its numbers are expressions over names that the source has there, as `pallas-ls facts` prints them. Evaluated in the
frames that run when JAX traces the `# traced:` calls, they must be what JAX sees (`traced.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from .harness import modules

FOLDER = Path(__file__).parent / "kernels"
HEAD = """\
import collections, dataclasses, enum, functools, itertools, math
from functools import partial
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from kit import probe
def bf16(*shape): return jnp.zeros(shape, jnp.bfloat16)
def f16(*shape): return jnp.zeros(shape, jnp.float16)
def f32(*shape): return jnp.zeros(shape, jnp.float32)
def i32(*shape): return jnp.zeros(shape, jnp.int32)
def i8(*shape): return jnp.zeros(shape, jnp.int8)
def f8(*shape): return jnp.zeros(shape, jnp.float8_e4m3fn)
"""

_HEADING = re.compile(r"^# kernel: ([\w-]+)$", re.MULTILINE)
_TRACED = re.compile(r"^# traced: (.+)$", re.MULTILINE)
_NEEDS = re.compile(r"^# (python|jax): ([\d.]+)$", re.MULTILINE)
_TARGET = re.compile(r"^# pallas: target sm_(\d+)(\d)a$", re.MULTILINE)
_EXPECTED = re.compile(r"^(.*?)\s*#: (.+)$")
_PART = re.compile(r"^(?:(?P<api>[\w.]+)\.)?(?P<name>\w+(?:\[[^\]]+\])*) = (?P<fact>.+)$")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is known of a variable, or of an operand of a call (`api`), on a line counted from 1."""

    line: int
    api: str
    name: str
    fact: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """One literate kernel.

    Attributes:
      text: its module, with the head, and with a probe of each variable that is spoken of, on that line.
      helpers: modules that it imports.
      calls: expressions that make its kernels run.
      needs: the least release of "python" or "jax".
      target: the GPU's compute capability.
    """

    name: str
    text: str
    helpers: dict[str, str]
    calls: tuple[str, ...]
    expected: tuple[Expectation, ...]
    needs: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    target: tuple[int, int] = (9, 0)

    def line(self, number: int) -> str:
        """The text of a line."""
        return self.text.split("\n")[number - 1].strip()

    def call_line(self, e: Expectation) -> int:
        """The line that an expectation of a call speaks of: the last one at or above it that names the function."""
        named = re.compile(rf"\b{re.escape(e.api)}\b")
        lines = self.text.split("\n")[: e.line]
        return max(i for i, line in enumerate(lines, 1) if named.search(line.split("#: ")[0]))


def snippets() -> dict[str, Snippet]:
    """All literate kernels by heading."""
    out: dict[str, Snippet] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        _, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            assert name not in out, f"two kernels named {name}"
            out[name] = _read(name, text.strip("\n") + "\n")
    return out


def _read(name: str, text: str) -> Snippet:
    main, *others = modules(text).items()
    lines = (HEAD + main[1]).split("\n")
    expected = [e for i, line in enumerate(lines, 1) for e in _expectations(i, line)]
    needs = {what: tuple(map(int, release.split("."))) for what, release in _NEEDS.findall(text)}
    target = _TARGET.search(text)
    return Snippet(
        name,
        "\n".join(_probed(line) for line in lines),
        dict(others),
        tuple(_TRACED.findall(text)),
        tuple(expected),
        needs,
        (int(target[1]), int(target[2])) if target else (9, 0),
    )


def _expectations(number: int, line: str) -> list[Expectation]:
    found = _EXPECTED.match(line)
    out: list[Expectation] = []
    for part in found[2].split("; ") if found else ():
        e = _PART.match(part)
        assert e is not None, f"no expectation: {part}"
        out.append(Expectation(number, e["api"] or "", e["name"], e["fact"]))
    return out


def _probed(line: str) -> str:
    """The line with a probe of each variable that its expectations speak of."""
    found = _EXPECTED.match(line)
    if found is None:
        return line
    names = [e.name for e in _expectations(0, line) if not e.api]
    code = line[: line.index("#:")].rstrip(" ") or line[: line.index("#:")]
    probes = "; ".join(f"probe({n}, {n!r})" for n in names)
    if code.strip():
        return "; ".join(x for x in (code, probes) if x)
    return code + probes if probes else line
