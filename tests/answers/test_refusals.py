"""Checks written by hand: a call that they certainly refuse is an error at the call, with what the check says."""

from __future__ import annotations

import pytest

from pallas_ls.answers.session import Session
from pallas_ls.domain.target import Target

from .workbench import Texts, said, session

FACTORY = """
import dataclasses

@dataclasses.dataclass(frozen=True)
class Tuning:
    tile: int = 128
    stages: int = 2

    def __post_init__(self):
        if self.tile % 64:
            raise ValueError(f"tile={self.tile} must be a multiple of 64")

class Unsupported(NotImplementedError):
    pass

def matmul(n, tile=384, config=Tuning()):
    if n % tile:
        raise ValueError(f"{n=} must be divisible by {tile}")
    if config.stages > 4:
        raise Unsupported("too many stages")
    assert n > 0, "n must be positive"
    assert n < 100_000
    return plgpu.SMEM((n // tile,), jnp.float32)
"""


def errors(caller: str) -> list[str]:
    """Messages of the findings that a caller leads to."""
    s = session(FACTORY + caller)
    return [f"{f.severity.value}: {f.message}" for f in s.check("k.py").findings]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("matmul(4096)", "matmul raises here: n=4096 must be divisible by 384 (k.py:23)"),
        ("matmul(768, config=Tuning(stages=5))", "matmul raises here: too many stages (k.py:25)"),
        ("matmul(0)", "matmul raises here: n must be positive (k.py:26)"),
        ("matmul(384_000)", "matmul raises here: assert n < 100_000 (k.py:27)"),
        ("Tuning(tile=100)", "Tuning raises here: tile=100 must be a multiple of 64 (k.py:16)"),
        ("dataclasses.replace(Tuning(), tile=96)", "replace raises here: tile=96 must be a multiple of 64 (k.py:16)"),
    ],
)
def test_a_refused_call_is_an_error_at_the_call(call: str, message: str) -> None:
    assert errors(f"\ndef run():\n    {call}\n") == [f"error: {message}"]


@pytest.mark.parametrize(
    "caller",
    [
        "def run():\n    matmul(768)\n",
        "def run(n):\n    matmul(n)\n",
        "def run(n):\n    if n == 4096:\n        matmul(n)\n",
        "import pytest\ndef test():\n    with pytest.raises(ValueError):\n        matmul(4096)\n",
        "import pytest\n@pytest.mark.xfail\ndef test():\n    matmul(4096)\n",
        "def run():\n    try:\n        matmul(4096)\n    except ValueError:\n        pass\n",
        "C = Tuning(stages=9)\ntry:\n    matmul(768, config=C)\nexcept NotImplementedError:\n    pass\n",
        "import contextlib\ndef run():\n    with contextlib.suppress(ValueError):\n        matmul(4096)\n",
        "import other\ndef run():\n    if other.has_gpu():\n        matmul(4096)\n",
        "import pytest\ndef test():\n    pytest.skip('later')\n    matmul(4096)\n",
        "def run():\n    raise ValueError('not at a caller')\n",
    ],
)
def test_what_may_work_or_is_expected_is_no_finding(caller: str) -> None:
    assert errors("\n" + caller) == []


def test_other_exceptions_are_not_taken() -> None:
    caller = "\ndef run():\n    try:\n        matmul(4096)\n    except KeyError:\n        pass\n"
    assert errors(caller) == ["error: matmul raises here: n=4096 must be divisible by 384 (k.py:23)"]


def test_a_test_that_may_be_skipped_is_looked_at() -> None:
    skip = "    if not other.has_gpu():\n        pytest.skip('no GPU')\n"
    caller = f"\nimport pytest, other\ndef test():\n{skip}    matmul(4096)\n"
    assert errors(caller) == ["error: matmul raises here: n=4096 must be divisible by 384 (k.py:23)"]


def test_in_another_file() -> None:
    bench = (
        "from k import matmul\n\nSIZES = (768, 4096)\n\ndef run():\n    for n in SIZES:\n        matmul(n, tile=384)\n"
    )
    s = session(FACTORY, bench=bench)
    assert said(s) == []
    assert said(s, "bench.py") == ["matmul(n, tile=384) | error raises"]


def test_what_is_not_known_reads_as_dots() -> None:
    text = (
        "import other; from jax.experimental.pallas import mosaic_gpu as plgpu\ndef check(x, name):\n"
        "    raise ValueError(f'{name}: {x.size * 2} is wrong for {other.LIMIT()}')\n\n"
        "def run(y):\n    check(y.T, 'q')\n    return plgpu.kernel\n"
    )
    s = Session(Texts(k=text), Target())
    assert [f.message for f in s.check("k.py").findings] == [
        "check raises here: q: 2*y.T.size is wrong for ... (k.py:3)"
    ]


def test_a_deeper_check_is_reported_at_the_outermost_call() -> None:
    caller = "\ndef tune(n):\n    return matmul(n)\n\ndef run():\n    tune(4096)\n"
    s = session(FACTORY + caller)
    assert said(s) == ["tune(4096) | error raises"]


def test_an_example_that_is_refused_is_a_warning() -> None:
    s = session(
        "# pallas: example scaled(n=5)\ndef scaled(n: int):\n    if n % 2:\n        raise ValueError(f'{n} is odd')\n"
    )
    assert [(f.severity.value, f.message) for f in s.check("k.py").findings] == [
        ("warning", "this raises here: 5 is odd (k.py:9)")
    ]


PYTEST = "import pytest, itertools\n"
ABSL = "from absl.testing import parameterized\nclass T(parameterized.TestCase):\n    @parameterized."
ONE, TWO = "def test(n):\n    matmul(n)\n", "def test(n, tile):\n    matmul(n, tile)\n"
METHOD = "\n    def test(self, n, tile=384):\n        matmul(n, tile)\n"
MARK = "@pytest.mark.parametrize"


@pytest.mark.parametrize(
    "test",
    [
        f"{PYTEST}{MARK}('n', [768, 4096, 1152])\n{ONE}",
        f"{PYTEST}{MARK}(('n', 'tile'), [(768, 384), (4096, 384)])\n{TWO}",
        f"{PYTEST}{MARK}('tile', [384, 100])\n{MARK}('n', [768])\n{TWO}",
        f"{PYTEST}{MARK}('n,tile', itertools.product([768], [384, 100]))\n{TWO}",
        f"{PYTEST}{MARK}('n', [pytest.param(4096, id='big')])\n{ONE}",
        f"{ABSL}parameters(768, 4096){METHOD}",
        f"{ABSL}parameters((768, 384), (768, 100)){METHOD}",
        f"{ABSL}product(n=[768], tile=[384, 100]){METHOD}",
        f"{ABSL}named_parameters(('a', 768), dict(testcase_name='b', n=4096)){METHOD}",
    ],
)
def test_rows_of_a_parametrised_test_are_contexts(test: str) -> None:
    found = errors("\n" + test)
    assert len(found) == 1 and found[0].startswith("error: ") and "must be divisible by" in found[0]


@pytest.mark.parametrize(
    "row",
    ["pytest.param(4096, marks=pytest.mark.xfail)", "pytest.param(4096, marks=[pytest.mark.skip(reason='x')])", "768"],
)
def test_rows_that_are_expected_to_fail_are_no_finding(row: str) -> None:
    assert errors(f"\nimport pytest\n@pytest.mark.parametrize('n', [{row}])\ndef test(n):\n    matmul(n)\n") == []


def test_a_row_is_where_the_finding_stands() -> None:
    s = session(
        FACTORY
        + "\nimport pytest\n@pytest.mark.parametrize('n', [\n    768,\n    4096,\n])\ndef test(n):\n    matmul(n)\n"
    )
    assert said(s) == ["4096, | error raises"]


def test_rows_are_listed_as_contexts() -> None:
    text = """
import pytest

def launch(x, rows):
    def body(x_gmem, o_gmem):
        pass

    return plgpu.kernel(body, out_type=x)(x)

@pytest.mark.parametrize("rows", [64, 128])
def test(rows):
    launch(jnp.zeros((rows, 64), jnp.float32), rows)
"""
    calls = [c for c in session(text).kernels("k.py") if c.expression == "launch"]
    assert [c.args[1] for c in calls] == ["64", "128"]
    assert len({c.context for c in calls}) == 2
