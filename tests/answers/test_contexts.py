"""Who is at fault: the kernel for every caller, or one caller; what a handler or a test expects is nobody's fault."""

from __future__ import annotations

from pallas_ls.answers.session import Session
from pallas_ls.domain.target import Target

from .workbench import Texts, kernel, said, session

FACTORY = """
TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

def make(x, rows):
    def body(x_gmem, o_gmem, smem, barrier):
        tile = jnp.zeros((rows, 64), jnp.float16)
        plgpu.async_store_smem(tile, smem, barrier, cluster_idx=0, cluster_dim="c")

    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_types=[
            plgpu.SMEM((rows, 64), jnp.float16, transforms=TRANSFORMS),
            plgpu.Barrier(),
        ],
        cluster=(2,),
        cluster_names=("c",),
    )(x)
"""
X = "jnp.zeros((128, 64), jnp.bfloat16)"


def test_a_factory_alone_is_not_at_fault() -> None:
    assert said(session(FACTORY)) == []


def test_the_caller_is_at_fault_and_the_kernel_gets_a_hint() -> None:
    s = session(FACTORY + f"\ndef good():\n    make({X}, 128)\n\ndef bad():\n    make({X}, 36)\n")
    assert said(s) == [
        "TRANSFORMS = (plgpu.TilingTransform((8,  | hint tiling-divides",
        f"make({X}, 36)"[:40] + " | error tiling-divides",
    ]
    hint = s.check("k.py").findings[0]
    assert hint.message == "Fails for 1 of 2 calling contexts."


def test_a_caller_in_another_file_is_at_fault_there() -> None:
    bench = (
        "import jax.numpy as jnp\nfrom k import make\n\ndef run():\n    make(jnp.zeros((128, 64), jnp.bfloat16), 36)\n"
    )
    s = session(FACTORY, bench=bench)
    assert said(s) == []
    errors = [f for f in s.check("bench.py").findings if f.severity.value == "error"]
    assert [(f.span.path, f.code) for f in errors] == [("bench.py", "tiling-divides")]


def test_what_a_test_expects_is_no_finding() -> None:
    expected = f"""
import pytest

def test_refused():
    with pytest.raises(AssertionError):
        make({X}, 36)

@pytest.mark.xfail
def test_known_bug():
    make({X}, 36)

def tune():
    try:
        make({X}, 36)
    except (AssertionError, ValueError):
        pass
"""
    assert said(session(FACTORY + expected)) == []


def test_a_handler_for_another_exception_does_not_help() -> None:
    s = session(FACTORY + f"\ndef tune():\n    try:\n        make({X}, 36)\n    except KeyError:\n        pass\n")
    assert any("error tiling-divides" in line for line in said(s))


def test_the_whole_chain_of_callers_gives_one_error() -> None:
    s = session(
        FACTORY
        + f"\ndef inner(n):\n    make({X}, n)\n\ndef outer():\n    inner(36)\n"
        + "\nif __name__ == '__main__':\n    outer()\n"
    )
    assert [line for line in said(s) if "error" in line] == ["inner(36) | error tiling-divides"]


def test_an_example_is_a_context_and_its_faults_are_warnings() -> None:
    s = session(FACTORY.replace("def make", "# pallas: example make(x: bf16[128, 64], rows=36)\ndef make"))
    assert said(s) == ["# pallas: example make(x: bf16[128, 64], | warning tiling-divides"]


def test_an_example_that_does_not_fit_is_told() -> None:
    s = session(FACTORY.replace("def make", "# pallas: example make(x: bf16[128, 64], lines=36)\ndef make"))
    (finding,) = s.check("k.py").findings
    assert (finding.code, finding.message) == ("example", "this example does not fit make: the call raises TypeError")


def test_an_example_that_cannot_be_read_is_told() -> None:
    s = session(FACTORY.replace("def make", "# pallas: example make x\ndef make"))
    (finding,) = s.check("k.py").findings
    assert finding.message.startswith("an example reads `name(argument, ...)`")


def test_an_example_may_stand_in_the_settings() -> None:
    given = Session(Texts(k=kernel(FACTORY)), Target(), lambda path: [("make", "x: bf16[128, 64], rows=36")])
    assert said(given) == ["def make(x, rows): | warning tiling-divides"]


CONFIGURED = FACTORY.replace(
    "def make(x, rows):",
    "import dataclasses\n@dataclasses.dataclass(frozen=True)\n"
    "class Config:\n    rows: int = 64\n    columns: int = 64\n\n"
    "def make(x, config: Config = Config()):\n    rows = config.rows",
)
IMPORTS = "import itertools\nimport jax.numpy as jnp\nimport pytest\nfrom k import Config, make\n"


def errors_elsewhere(text: str) -> list[str]:
    """Errors of a file that calls the factory with a config."""
    return [line for line in said(session(CONFIGURED, other=IMPORTS + text), "other.py") if "| error" in line]


def test_configs_built_in_a_product_of_another_file_are_contexts() -> None:
    loop = (
        "def bench():\n    for rows, columns in itertools.product(({rows}), (32, 64)):\n"
        f"        make({X}, Config(rows=rows, columns=columns))\n"
    )
    assert errors_elsewhere(loop.format(rows="64, 128")) == []
    assert errors_elsewhere(loop.format(rows="64, 36")) == [
        f"make({X}, Config(rows=rows, columns=columns))"[:40] + " | error tiling-divides"
    ]


def test_configs_of_a_parametrised_test_of_another_file_are_contexts() -> None:
    test = f"""@pytest.mark.parametrize("config", [
    Config(rows=64),
    Config(rows=36),
])
def test_make(config):
    make({X}, config)
"""
    assert errors_elsewhere(test) == ["Config(rows=36), | error tiling-divides"]


def test_a_config_replaced_by_a_caller_is_a_context() -> None:
    text = f"import dataclasses\nBASE = Config()\ndef run():\n    make({X}, dataclasses.replace(BASE, rows=36))\n"
    assert errors_elsewhere(text) == [f"make({X}, dataclasses.replace"[:40] + " | error tiling-divides"]
