"""Random kernels that load buffers, compute on the values and store what comes out: chains of register layouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from pallas_ls.domain.target import JaxVersion

LAYOUTS = ("WGMMA", "WGMMA", "WGMMA", "TCGEN05", "WGMMA_TRANSPOSED", "TCGEN05_TMEM_NATIVE", "WGMMA_8BIT")
KERNEL = """import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

def body(g, o, s, t):
{body}

f = plgpu.kernel(
    body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM(({rows}, {cols}), jnp.{dtype}{transforms}), plgpu.SMEM({shape}, jnp.{dtype}{stored})],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.{semantics}))

if __name__ == "__main__":
    g = jax.ShapeDtypeStruct(({rows}, {cols}), jnp.{dtype})
    jax.jit(f).trace(g).lower(lowering_platforms=("cuda",))
"""
#: What a step does; those that most often go on come more than once.
STEPS = (
    "scalar",
    "pair",
    "pair",
    "reduce",
    "slice",
    "cast",
    "all",
    "concatenate",
    "broadcast",
    "axis",
    "element",
    "loop",
)


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
    version: JaxVersion
    lines: list[str] = field(default_factory=list)
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def add(self, expression: str, shape: tuple[int, ...]) -> None:
        """One more value."""
        name = f"v{len(self.values)}"
        self.lines.append(f"    {name} = {expression}")
        self.values[name] = shape

    def layout(self, shape: tuple[int, ...]) -> str:
        """A layout for arrays of this rank, mostly one made of tiles."""
        if self.random.random() < 0.1:
            return f"plgpu.Layout.WG_STRIDED({shape}, {self.random.choice((1, 2))})"
        reduced = "" if len(shape) == 2 else f".reduce({self.random.choice((0, 1))})"
        return f"plgpu.Layout.{self.random.choice(LAYOUTS)}{reduced}"

    def source(self) -> None:
        """A value to begin with: loaded, cast, or a constant."""
        shape = (self.rows, self.cols)
        ref = self.random.choice(("s", "s", "s", "g"))
        whole = "" if self.version >= JaxVersion(0, 11) else ", ()"
        optimized = self.random.choice(("", ", optimized=False", ", optimized=False"))
        named = f"plgpu.load({ref}{whole}, layout={self.layout(shape)}{optimized})"
        cast = f"plgpu.layout_cast({ref}[...], {self.layout(shape)})"
        full = f"jnp.full({shape}, 2, jnp.{self.dtype})"
        self.add(self.random.choice((f"{ref}[...]", f"{ref}[...]", cast, cast, named, named, full)), shape)

    def step(self) -> None:
        """A value computed from an earlier one."""
        name = self.random.choice(list(self.values))
        shape = self.values[name]
        if shape and (make := getattr(self, self.random.choice(STEPS))) is not None:
            make(name, shape)

    def scalar(self, name: str, shape: tuple[int, ...]) -> None:
        self.add(f"{name} {self.random.choice('+-*')} 2", shape)

    def pair(self, name: str, shape: tuple[int, ...]) -> None:
        others = [n for n, s in self.values.items() if s == shape or s == shape[1:]]
        self.add(f"{name} + {self.random.choice(others)}", shape)

    def reduce(self, name: str, shape: tuple[int, ...]) -> None:
        axis = self.random.randrange(len(shape))
        kept = self.random.random() < 0.2
        left = tuple(1 if i == axis else n for i, n in enumerate(shape) if kept or i != axis)
        keepdims = ", keepdims=True" if kept else ""
        self.add(f"jnp.{self.random.choice(('sum', 'max'))}({name}, axis={axis}{keepdims})", left)

    def all(self, name: str, shape: tuple[int, ...]) -> None:
        axes = self.random.choice(("", ", axis=None", f", axis={tuple(range(len(shape)))}"))
        self.add(f"jnp.{self.random.choice(('sum', 'max', 'min'))}({name}{axes})", ())

    def slice(self, name: str, shape: tuple[int, ...]) -> None:
        start, size = self.random.choice((0, 0, 8, 32, 64)), self.random.choice((8, 32, 64, 128))
        if start + size <= shape[0]:
            self.add(f"{name}[{start}:{start + size}]", (size, *shape[1:]))

    def cast(self, name: str, shape: tuple[int, ...]) -> None:
        if len(shape) in (1, 2):
            self.add(f"plgpu.layout_cast({name}, {self.layout(shape)})", shape)

    def concatenate(self, name: str, shape: tuple[int, ...]) -> None:
        if self.version < JaxVersion(0, 11):
            return
        axis = self.random.randrange(len(shape))
        other = self.random.choice([n for n, s in self.values.items() if s == shape])
        joined = tuple(2 * n if i == axis else n for i, n in enumerate(shape))
        self.add(f"jnp.concatenate([{name}, {other}], axis={axis})", joined)

    def broadcast(self, name: str, shape: tuple[int, ...]) -> None:
        if len(shape) != 1:
            return
        kept = self.random.choice((0, 1))
        new = (shape[0], self.cols) if kept == 0 else (self.rows, shape[0])
        made = f"jax.lax.broadcast_in_dim({name}, {new}, ({kept},))"
        cast = self.random.random() < 0.3
        self.add(f"plgpu.layout_cast({made}, {self.layout(new)})" if cast else made, new)

    def axis(self, name: str, shape: tuple[int, ...]) -> None:
        if len(shape) == 1:
            self.add(f"{name}[:, None]", (*shape, 1))

    def element(self, name: str, shape: tuple[int, ...]) -> None:
        if self.random.random() < 0.5:
            self.add(f"{name}[{', '.join('0' for _ in shape)}]", ())

    def loop(self, name: str, shape: tuple[int, ...]) -> None:
        """A carry that starts as a value, or as a constant of its shape, and takes up another in each round."""
        other = self.random.choice([n for n, s in self.values.items() if s == shape])
        start = self.random.choice((name, f"jnp.zeros({shape}, {name}.dtype)"))
        into = self.random.choice((f"c + {other}", f"plgpu.layout_cast(c, {self.layout(shape)})", other))
        if len(shape) <= 2:
            self.add(f"jax.lax.fori_loop(0, 4, lambda i, c: {into}, {start})", shape)


def kernel(seed: int, version: JaxVersion) -> str:
    """The text of a kernel file."""
    random = Random(seed)
    dtype = random.choice(("float32", "float32", "float16", "bfloat16"))
    chain = Chain(random, random.choice((32, 64, 64, 128, 192)), random.choice((8, 32, 64, 64, 128)), dtype, version)
    for _ in range(random.randint(1, 2)):
        chain.source()
    for _ in range(random.randint(0, 3)):
        chain.step()
    name, shape = list(chain.values.items())[-1]
    row = 32 if dtype == "float32" else 64
    transforms = f", transforms=(plgpu.TilingTransform((8, {row})), plgpu.SwizzleTransform(128))"
    turned = len(shape) == 2 and random.random() < 0.2
    memory = (shape[::-1] if turned else shape) or (1,)
    tiled = len(memory) == 2 and memory[1] % row == 0 and memory[0] % 8 == 0 and random.random() < 0.4
    if random.random() < 0.9:
        target = "t[0]" if shape == () else "t.T[...]" if turned else "t[...]"
        chain.lines.append(f"    {target} = {name}.astype(jnp.{dtype})")
    return KERNEL.format(
        body="\n".join(chain.lines),
        rows=chain.rows,
        cols=chain.cols,
        dtype=dtype,
        shape=memory,
        transforms=transforms if chain.cols % row == 0 and random.random() < 0.6 else "",
        stored=transforms if tiled else "",
        semantics=random.choice(("Lane", "Warpgroup")),
    )
