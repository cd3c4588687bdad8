"""Which semaphores a kernel allocates."""

from __future__ import annotations

import pytest

from pallas_ls.domain.target import MEASURED, JaxVersion
from tests.oracle.answers import findings

KERNEL = """\
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(out_gmem, done):
    pass


kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[{kind}],
)
jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
"""


@pytest.mark.parametrize("version", MEASURED, ids=str)
@pytest.mark.parametrize("shape", ["", "(())", "((2,))"])
def test_a_kernel_allocates_regular_semaphores_and_no_others(shape: str, version: JaxVersion) -> None:
    assert findings("kernel.py", KERNEL.format(kind=f"plgpu.SemaphoreType.REGULAR{shape}"), version) == ()
    [found] = findings("kernel.py", KERNEL.format(kind=f"plgpu.SemaphoreType.BARRIER{shape}"), version)
    assert found.code == "scratch-type"
    assert found.jax is not None
    assert (found.jax.type, found.jax.message) == ("NotImplementedError", "Unsupported memory space: gmem")
