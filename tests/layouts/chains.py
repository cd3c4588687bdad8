"""Random kernels that load a buffer, compute on the values and store what comes out: chains of register layouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

LAYOUTS = ("WGMMA", "WGMMA", "WGMMA", "TCGEN05", "WGMMA_TRANSPOSED", "TCGEN05_TMEM_NATIVE", "WGMMA_8BIT")
KERNEL = """import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(o, s, t):
{body}

f = plgpu.kernel(
    body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM(({rows}, {cols}), jnp.{dtype}{transforms}), plgpu.SMEM({shape}, jnp.{dtype})],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.{semantics}))

if __name__ == "__main__":
    jax.jit(f).trace().lower(lowering_platforms=("cuda",))
"""


@dataclass
class Chain:
    """A kernel body under construction.

    Attributes:
      values: shapes by name, in the order of the program.
    """

    random: Random
    rows: int
    cols: int
    dtype: str
    lines: list[str] = field(default_factory=list)
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def add(self, expression: str, shape: tuple[int, ...]) -> None:
        """One more value."""
        name = f"v{len(self.values)}"
        self.lines.append(f"    {name} = {expression}")
        self.values[name] = shape

    def layout(self) -> str:
        return f"plgpu.Layout.{self.random.choice(LAYOUTS)}"

    def source(self) -> None:
        """A value to begin with: loaded, cast, or a constant."""
        shape = (self.rows, self.cols)
        full = f"jnp.full({shape}, 2, jnp.{self.dtype})"
        cast = f"plgpu.layout_cast(s[...], {self.layout()})"
        self.add(self.random.choice(("s[...]", cast, cast, full)), shape)

    def step(self) -> None:
        """A value computed from an earlier one."""
        name = self.random.choice(list(self.values))
        shape = self.values[name]
        kind = self.random.choice(("scalar", "pair", "pair", "reduce", "slice", "cast"))
        if kind == "scalar":
            self.add(f"{name} {self.random.choice('+-*')} 2", shape)
        elif kind == "pair":
            same = [other for other, s in self.values.items() if s == shape]
            self.add(f"{name} + {self.random.choice(same)}", shape)
        elif kind == "reduce" and len(shape) == 2:
            axis = self.random.choice((0, 1))
            self.add(f"jnp.{self.random.choice(('sum', 'max'))}({name}, axis={axis})", (shape[1 - axis],))
        elif kind == "slice":
            start, size = self.random.choice((0, 0, 8, 32, 64)), self.random.choice((8, 32, 64, 128))
            if start + size <= shape[0]:
                self.add(f"{name}[{start}:{start + size}]", (size, *shape[1:]))
        elif kind == "cast":
            reduced = "" if len(shape) == 2 else f".reduce({self.random.choice((0, 1))})"
            self.add(f"plgpu.layout_cast({name}, {self.layout()}{reduced})", shape)


def kernel(seed: int) -> str:
    """The text of a kernel file."""
    random = Random(seed)
    dtype = random.choice(("float32", "float32", "float16", "bfloat16"))
    chain = Chain(random, random.choice((32, 64, 64, 128, 192)), random.choice((8, 32, 64, 64, 128)), dtype)
    for _ in range(random.randint(1, 2)):
        chain.source()
    for _ in range(random.randint(0, 3)):
        chain.step()
    name, shape = list(chain.values.items())[-1]
    if random.random() < 0.9:
        chain.lines.append(f"    t[...] = {name}.astype(jnp.{dtype})")
    row = 32 if dtype == "float32" else 64
    tiled = chain.cols % row == 0 and random.random() < 0.6
    return KERNEL.format(
        body="\n".join(chain.lines),
        rows=chain.rows,
        cols=chain.cols,
        dtype=dtype,
        shape=shape,
        transforms=f", transforms=(plgpu.TilingTransform((8, {row})), plgpu.SwizzleTransform(128))" if tiled else "",
        semantics=random.choice(("Lane", "Warpgroup", "Warpgroup", "Warpgroup")),
    )
