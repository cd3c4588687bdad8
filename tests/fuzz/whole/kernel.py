"""A kernel while it is composed, and its text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .drawing import Draw

#: Element types by their bits.
BITS = {
    "float32": 32,
    "bfloat16": 16,
    "float16": 16,
    "int32": 32,
    "uint32": 32,
    "int8": 8,
    "uint8": 8,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "int16": 16,
    "bool": 1,
    "int4": 4,
}
FLOATS = ("float32", "bfloat16", "float16")

Shape = tuple[int, ...]

_IMPORTS = """\
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

"""


@dataclass(frozen=True, slots=True)
class Tile:
    """A buffer in shared memory: how the body writes it, the shape and element type there, and whether it is tiled."""

    name: str
    shape: Shape
    dtype: str
    swizzle: int | None = None

    @property
    def tiled(self) -> bool:
        """Whether it has a tiling and a swizzle that fit."""
        return self.swizzle is not None


@dataclass(frozen=True, slots=True)
class Value:
    """A register value: its name, and the layout that it has under Lane semantics ("" where it is strided)."""

    name: str
    shape: Shape
    dtype: str
    layout: str = ""


@dataclass
class Kernel:
    """What has been written so far."""

    d: Draw
    lane: bool
    blackwell: bool
    ins: dict[str, tuple[Shape, str]] = field(default_factory=dict)
    outs: dict[str, tuple[Shape, str]] = field(default_factory=dict)
    scratch: dict[str, str] = field(default_factory=dict)
    grid: dict[str, int] = field(default_factory=dict)
    cluster: dict[str, int] = field(default_factory=dict)
    threads: int = 0
    lines: list[str] = field(default_factory=list)
    tiles: list[Tile] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    #: Whether a block has taken the mesh for itself: no other may change it.
    settled: bool = False
    _depth: int = 1
    _count: int = 0

    def fresh(self, stem: str) -> str:
        """A name that is not taken."""
        self._count += 1
        return f"{stem}{self._count}"

    def say(self, *lines: str) -> None:
        """Lines of the body, where it stands."""
        self.lines += ["    " * self._depth + line for line in lines]

    @contextmanager
    def under(self, *heads: str) -> Iterator[None]:
        """A nested block; values made in it are gone behind it."""
        self.say(*heads)
        self._depth += 1
        values, tiles = list(self.values), list(self.tiles)
        yield
        self.say("pass")
        self.values, self.tiles = values, tiles
        self._depth -= 1

    def operand(self, shape: Shape, dtype: str) -> str:
        """A new operand in global memory."""
        name = self.fresh("a")
        self.ins[name] = (shape, dtype)
        return name

    def result(self, shape: Shape, dtype: str) -> str:
        """A new result in global memory."""
        name = self.fresh("o")
        self.outs[name] = (shape, dtype)
        return name

    def allocate(self, stem: str, kind: str) -> str:
        """A new scratch entry."""
        name = self.fresh(stem)
        self.scratch[name] = kind
        return name

    def value(self, expression: str, shape: Shape, dtype: str, layout: str = "") -> Value:
        """Binds an expression."""
        made = Value(self.fresh("x"), shape, dtype, layout)
        self.say(f"{made.name} = {expression}")
        self.values.append(made)
        return made

    def axes(self) -> list[str]:
        """Names of the mesh's axes."""
        return [*self.grid, *self.cluster, *(["wg"] if self.threads else [])]


def jnp_dtype(dtype: str) -> str:
    """The expression of an element type."""
    return "jnp.bool_" if dtype == "bool" else f"jnp.{dtype}"


def shape_text(shape: Shape) -> str:
    """A shape as a tuple display."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def zeros(shape: Shape, dtype: str) -> str:
    """An array of zeros."""
    return f"jnp.zeros({shape_text(shape)}, {jnp_dtype(dtype)})"


def struct(shape: Shape, dtype: str) -> str:
    """A `jax.ShapeDtypeStruct`."""
    return f"jax.ShapeDtypeStruct({shape_text(shape)}, {jnp_dtype(dtype)})"


def size_in_bytes(shape: Shape, dtype: str) -> int:
    """Bytes of an array."""
    return math.prod(shape) * BITS[dtype] // 8


def text(k: Kernel) -> str:
    """The whole file: the body, the kernel made of it, and the call that lowers it."""
    d = k.d
    if not k.outs:
        k.result((128,), "float32")
    results = [struct(*o) for o in k.outs.values()]
    results[0] = d.rarely(results[0], results[0], "plgpu.SemaphoreType.REGULAR(())")
    named = d.chance(25) and bool(k.scratch)
    parameters = [*k.ins, *k.outs]
    scratch = list(k.scratch)
    scratch = d.rarely(scratch, scratch[:-1], [*scratch, "extra"])
    parameters += ["*", *scratch] if named and scratch else scratch
    types = (
        "dict(" + ", ".join(f"{n}={t}" for n, t in k.scratch.items()) + ")"
        if named
        else "[" + ", ".join(k.scratch.values()) + "]"
    )
    keywords = [
        f"out_type={results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}",
        *([f"scratch_types={types}"] if k.scratch else []),
        *_mesh(k),
        f"compiler_params=plgpu.CompilerParams({_params(k)})",
    ]
    body = k.lines or ["    pass"]
    out = _IMPORTS + f"\ndef body({', '.join(parameters)}):\n" + "\n".join(body) + "\n\n\n"
    joined = ",\n    ".join(keywords)
    if d.chance(30):
        out += f"@functools.partial(\n    plgpu.kernel,\n    {joined},\n)\n"
        out += "def kernel(*refs, **scratch):\n    body(*refs, **scratch)\n\n\n"
    else:
        out += f"kernel = plgpu.kernel(\n    body,\n    {joined},\n)\n"
    operands = ", ".join(struct(*a) for a in k.ins.values())
    head = "# pallas: target sm_100a\n" if k.blackwell else ""
    return head + out + f'jax.jit(kernel).trace({operands}).lower(lowering_platforms=("cuda",))\n'


def _params(k: Kernel) -> str:
    semantics = f"lowering_semantics=plgpu.LoweringSemantics.{'Lane' if k.lane else 'Warpgroup'}"
    return semantics + k.d.rarely(
        "",
        ', profile_dir="/tmp"',
        ', dimension_semantics=("parallel",)',
        ", approx_math=True",
        ", reduction_scratch_bytes=0",
    )


def _names(names: list[str]) -> str:
    return "(" + "".join(f'"{n}", ' for n in names).rstrip(" ") + ")"


def _mesh(k: Kernel) -> list[str]:
    d = k.d
    out: list[str] = []
    if k.grid:
        sizes = d.rarely(tuple(k.grid.values()), (*k.grid.values(), 2))
        out += [f"grid={shape_text(sizes)}", f"grid_names={_names(list(k.grid))}"]
    if k.cluster:
        sizes = tuple(k.cluster.values())
        sizes = d.odd(sizes, (*sizes, 1), (1, 1, 1, 2), (3,))
        names = list(k.cluster)
        out += [f"cluster={shape_text(sizes)}", f"cluster_names={_names(d.odd(names, [*names, 'more']))}"]
    if k.threads:
        number = d.odd(str(k.threads), "17", "16", "None")
        out += [f"num_threads={number}", f"thread_name={d.odd(repr('wg'), 'None')}"]
    return out
