"""Random kernels that allocate, as source and as JAX builds them: what they ask for is compared."""

from __future__ import annotations

from random import Random

HEAD = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

"""
DTYPES = ("float32", "bfloat16", "int8", "float8_e4m3fn", "int4", "bool_")


def buffer(r: Random) -> str:
    """A type in shared memory."""
    dtype = r.choice(DTYPES)
    shape = tuple(r.choice((1, 2, 3, 8, 24, 64, 100)) for _ in range(r.randint(1, 3)))
    if dtype == "int4":
        shape = (*shape[:-1], 2 * shape[-1])
    return f"plgpu.SMEM({shape}, jnp.{dtype})"


def entry(r: Random) -> str:
    """Something that a scope allocates."""
    match r.randrange(8):
        case 0:
            return f"plgpu.Barrier(num_arrivals={r.randint(1, 2)}, num_barriers={r.randint(1, 4)})"
        case 1:
            return "plgpu.Barrier()"
        case 2:
            return f"plgpu.RefUnion([{whole(r)}, {whole(r)}], {whole(r)})"
        case 3:
            return "plgpu.SemaphoreType.REGULAR"
        case 4:
            return "plgpu.ACC((64, 64))"
        case _:
            return buffer(r)


def whole(r: Random) -> str:
    """A member of a union."""
    return f"plgpu.SMEM(({r.choice((8, 100, 1024))}, {r.choice((2, 24, 64))}), jnp.{r.choice(DTYPES[:4])})"


def statements(r: Random, depth: int, indent: str) -> list[str]:
    """The body of a scope: further scopes one after the other, reductions, pipelines."""
    out: list[str] = []
    for _ in range(r.randint(0, 2) if depth else 0):
        match r.randrange(5):
            case 0:
                out.append(f"{indent}jnp.sum(jnp.ones((128,), jnp.float32))")
            case 1:
                out += pipeline(r, indent)
            case 2:
                out += [f"{indent}@pl.when(jax.lax.axis_index('i') == 0)", f"{indent}def _():"]
                out += statements(r, depth - 1, indent + "    ") or [f"{indent}    pass"]
            case _:
                types = ", ".join(entry(r) for _ in range(r.randint(1, 3)))
                out.append(f"{indent}def scoped(*refs):")
                out += statements(r, depth - 1, indent + "    ") or [f"{indent}    pass"]
                out.append(f"{indent}pl.run_scoped(scoped, {types})")
    return out


def pipeline(r: Random, indent: str) -> list[str]:
    """A pipeline over the operand."""
    rows = r.choice((8, 64))
    return [
        f"{indent}plgpu.emit_pipeline(",
        f"{indent}    lambda i, x_smem: None,",
        f"{indent}    grid=({r.choice((1, 4))},),",
        f"{indent}    in_specs=[plgpu.BlockSpec(({rows}, 64), lambda i: (i, 0))],",
        f"{indent}    max_concurrent_steps={r.randint(1, 5)},",
        f"{indent})(x)",
    ]


def kernel(seed: int) -> str:
    """The source of a kernel that allocates this and that."""
    r = Random(seed)
    types = ", ".join(entry(r) for _ in range(r.randint(0, 4)))
    body = statements(r, 3, "    ") or ["    pass"]
    return "\n".join(
        [
            HEAD,
            "def body(x, o, *scratch):",
            *body,
            "",
            "",
            "kernel = plgpu.kernel(",
            "    body,",
            "    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),",
            f"    scratch_types=[{types}],",
            "    grid=(2,),",
            '    grid_names=("i",),',
            ")",
            "OUT = kernel(jax.ShapeDtypeStruct((256, 64), jnp.bfloat16))",
            "",
        ]
    )
