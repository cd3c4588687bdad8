"""Where a finding stands: at the number or the declaration that a person would change, with the call beside it."""

from __future__ import annotations

import pytest

from pallas_ls.domain.finding import Finding, Severity
from pallas_ls.domain.target import JaxVersion
from tests.oracle.answers import findings

HEAD = """\
import dataclasses
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
"""
COPY = """\
def body(x_gmem, o_gmem, tile, loaded):
    plgpu.copy_gmem_to_smem(x_gmem, tile, loaded)
    plgpu.barrier_wait(loaded)
"""
KERNEL = """\
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
        scratch_types=[plgpu.SMEM((32, columns), jnp.float32), plgpu.Barrier()],
    )(x)
"""


def blamed(text: str) -> tuple[str, list[str]]:
    """(the text that the only error underlines, those of its related places)."""
    found = [f for f in findings("k.py", text, JaxVersion.parse("0.12.0")) if f.severity is Severity.ERROR]
    [error] = found
    return under(text, error), [text[r.span.start : r.span.end] for r in error.related]


def under(text: str, f: Finding) -> str:
    """The line up to the end of what a finding underlines."""
    return text[text.rfind("\n", 0, f.span.start) + 1 : f.span.end].strip()


def threads(head: str, given: str) -> str:
    return (
        f"{HEAD}{head}\n"
        "f = plgpu.kernel(lambda o: None, out_type=jax.ShapeDtypeStruct((128,), jnp.float32), "
        f'num_threads={given}, thread_name="wg")\n'
    )


@pytest.mark.parametrize(
    ("head", "given", "line"),
    [
        ("THREADS = 256", "THREADS", "THREADS = 256"),
        ("CONFIG = dict(threads=256)", 'CONFIG["threads"]', "CONFIG = dict(threads=256"),
        (
            "@dataclasses.dataclass\nclass C:\n    threads: int = 256\n\n\nC0 = C()",
            "C0.threads",
            "threads: int = 256",
        ),
    ],
)
def test_a_number_is_blamed_where_it_is_written(head: str, given: str, line: str) -> None:
    where, related = blamed(threads(head, given))
    assert where == line
    assert given in related


@pytest.mark.parametrize("given", ["256", "2 * 128", "WARPS * LANES"])
def test_a_number_at_the_call_or_of_several_others_is_blamed_at_the_call(given: str) -> None:
    where, _ = blamed(threads("WARPS, LANES = 2, 128", given))
    assert where.endswith(f"num_threads={given}")


@pytest.mark.parametrize(("argument", "line"), [("Config(512)", "f(X, Config(512))"), ("C", "C = Config(512")])
def test_a_number_that_a_caller_gives_is_blamed_at_the_caller(argument: str, line: str) -> None:
    text = (
        f"{HEAD}\n\n@dataclasses.dataclass\nclass Config:\n    columns: int = 64\n\n\n{COPY}\n\n"
        f"def f(x, config):\n    columns = config.columns\n{KERNEL}\n\nX = jnp.zeros((32, 512), jnp.float32)\n"
        f"C = Config(512)\nf(X, {argument})\n"
    )
    where, related = blamed(text)
    assert where == line
    assert "tile" in related


def test_what_a_barrier_lacks_is_blamed_at_its_declaration() -> None:
    text = f"""{HEAD}
T = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def body(o_gmem, a, b, acc, done):
    plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)
    plgpu.barrier_wait(done)


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((128, 64), jnp.float16, transforms=T),
        plgpu.SMEM((64, 128), jnp.float16, transforms=T),
        plgpu.TMEM((128, 128), jnp.float32),
        plgpu.Barrier(num_arrivals=1),
    ],
)
"""
    assert blamed(text) == ("plgpu.Barrier(num_arrivals=1)", ["plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)"])


def test_one_number_that_two_calls_are_refused_for_is_one_finding() -> None:
    text = f"""{HEAD}
N = 8


def body(o_gmem, a, b):
    o_gmem[...] = a[...] + b[...]


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((N,), jnp.float32),
    scratch_types=[plgpu.SMEM((N,), jnp.float32), plgpu.SMEM((N,), jnp.float32)],
    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
)
"""
    where, related = blamed(text)
    assert where == "N = 8"
    assert {"a[...]", "b[...]"} <= set(related)
