"""An axis that the kernel does not declare is refused only where nobody can have bound it around the kernel."""

from __future__ import annotations

import pytest

from tests.fixes.offered import session

LIBRARY = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(x, out):
    me = jax.lax.axis_index("x")
    plgpu.store(out.at[0], x[0] * me)


def permute(x):
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
"""
CALL = "permute(jnp.zeros((64, 64)))"
RUN = f'\nif __name__ == "__main__":\n    {CALL}\n'
TEST = f"\ndef test_permute():\n    {CALL}\n"
MAIN = f"\ndef main():\n    return {CALL}\n"
SHARDED = """\
import jax
from library import permute

run = jax.shard_map(permute, mesh=mesh, in_specs=spec, out_specs=spec)

if __name__ == "__main__":
    run(jax.numpy.zeros((64, 64)))
"""


def codes(texts: dict[str, str]) -> set[str]:
    """The codes of the errors in all files."""
    s, _ = session(texts)
    return {f.code for path in texts for f in s.check(path).findings if f.severity.name == "ERROR"}


@pytest.mark.parametrize("run", [RUN, TEST], ids=["main", "test"])
def test_a_kernel_that_the_file_runs_as_it_stands_has_its_own_axes_only(run: str) -> None:
    assert codes({"library.py": LIBRARY + run}) == {"unknown-axis"}


@pytest.mark.parametrize("rest", ["", MAIN], ids=["no-caller", "caller-with-callers"])
def test_callers_may_map_a_kernel_that_nothing_runs(rest: str) -> None:
    assert codes({"library.py": LIBRARY + rest}) == set()


def test_a_kernel_that_another_file_maps_is_not_refused() -> None:
    assert codes({"library.py": LIBRARY, "run.py": SHARDED}) == set()
