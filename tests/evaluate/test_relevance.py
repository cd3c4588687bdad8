"""Which files are evaluated at all: those whose words lead to Mosaic GPU."""

from __future__ import annotations

import pytest

from pallas_ls.answers.session import Session
from pallas_ls.domain.target import Target

from ..answers.workbench import Texts

KERNELS = """
from jax.experimental.pallas import mosaic_gpu as plgpu

TABLE = {}
TILE = 64

def register(name):
    def add(f):
        TABLE[name] = f
        return f
    return add

@register("matmul")
def matmul(x):
    return plgpu.kernel(body, out_type=x)(x)

def plain(x):
    return x + TILE
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from jax.experimental.pallas import mosaic_gpu as plgpu\nx = plgpu.SMEM", True),
        ("import jax.experimental.pallas.mosaic_gpu as plgpu\ndef f():\n    return plgpu.SMEM", True),
        ("def f():\n    from jax.experimental.pallas import mosaic_gpu\n    return mosaic_gpu", True),
        ("from kernels import matmul\ndef run(x):\n    return matmul(x)", True),
        ("from kernels import *\ndef run(x):\n    return matmul(x)", True),
        ("import kernels\ndef run(x):\n    return kernels.matmul(x)", True),
        ("from kernels import TABLE\ndef run(x):\n    return TABLE['matmul'](x)", True),
        ("from between import api\ndef run(x):\n    return api(x)", True),
        ("from kernels import plain\ndef run(x):\n    return plain(x)", False),
        ("from kernels import TILE\nSIZE = 2 * TILE", False),
        ("from jax.experimental.pallas import tpu as pltpu\ndef f():\n    return pltpu.VMEM", False),
        ("import numpy as np\ndef f():\n    return np.zeros(3)", False),
        ("from circle import f\ndef g():\n    return f()", False),
    ],
)
def test_what_leads_to_a_kernel_is_evaluated(text: str, expected: bool) -> None:
    between = "from kernels import matmul as _m\nOPS = [_m]\ndef api(x):\n    return OPS[0](x)\n"
    circle = "import circle\ndef f():\n    return circle.f()\n"
    s = Session(Texts(k=text, kernels=KERNELS, between=between, circle=circle), Target())
    assert s.program.relevance.of_file("k.py") is expected


def test_an_edit_of_an_imported_module_counts() -> None:
    texts = Texts(k="from other import f\ndef run():\n    return f()\n", other="def f():\n    return 1\n")
    s = Session(texts, Target())
    assert not s.program.relevance.of_file("k.py")
    head = "from jax.experimental.pallas import mosaic_gpu as plgpu\n"
    texts.write("other.py", head + "def f():\n    return plgpu.SMEM\n")
    s.changed()
    assert s.program.relevance.of_file("k.py")
