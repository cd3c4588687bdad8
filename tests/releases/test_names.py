"""Names and parameters that a release has or has not, and programs that ask which."""

from __future__ import annotations

import pytest

from pallas_ls.domain.finding import Severity
from pallas_ls.domain.target import MEASURED, JaxVersion
from pallas_ls.library.catalogue import registry
from pallas_ls.library.releases import MODULES, by_name, is_in_all, rows
from tests.oracle.answers import findings

OLD, MIDDLE, NEW = MEASURED
KERNEL = """\
import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

{before}

def body(o_gmem, s):
    {statement}


f = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[plgpu.SMEM((128,), jnp.float32)],
)
"""


def said(statement: str, version: JaxVersion, before: str = "") -> list[tuple[str, str]]:
    """The errors' codes and what JAX says."""
    text = KERNEL.format(statement=statement, before=before)
    errors = [f for f in findings("kernel.py", text, version) if f.severity is Severity.ERROR]
    return [(f.code, f.jax.message) for f in errors if f.jax is not None]


@pytest.mark.parametrize(
    ("statement", "version", "code", "words"),
    [
        ("plgpu.load(s)", OLD, "missing-argument", "load() missing 1 required positional argument: 'idx'"),
        ("plgpu.load(s, ())", NEW, "unknown-argument", "load() takes 1 positional argument but …"),
        ("plgpu.sum(s[...])", MIDDLE, "absent-name", f"module '{MODULES['']}' has no attribute 'sum'"),
        ("plgpu.Layout.MMA_ACC", OLD, "absent-name", "type object 'Layout' has no attribute 'MMA_ACC'"),
        ("plgpu.barier_wait(s)", NEW, "absent-name", f"module '{MODULES['']}' has no attribute 'barier_wait'"),
        (
            "plgpu.SMEM((8,))",
            NEW,
            "missing-argument",
            "MemorySpace.__call__() missing 1 required positional argument: 'dtype'",
        ),
        ("plgpu.Barrier(2)", NEW, "unknown-argument", "Barrier.__init__() takes 1 positional argument but …"),
        (
            "plgpu.load(s, optimised=False)",
            NEW,
            "unknown-argument",
            "load() got an unexpected keyword argument 'optimised'",
        ),
        ("plgpu.commit_smem(s)", NEW, "unknown-argument", "commit_smem() takes 0 positional arguments but …"),
    ],
)
def test_what_a_release_does_not_take_is_refused(statement: str, version: JaxVersion, code: str, words: str) -> None:
    assert said(statement, version) == [(code, words)]


@pytest.mark.parametrize("version", [*MEASURED, JaxVersion(0, 11), JaxVersion(0, 13)], ids=str)
@pytest.mark.parametrize(
    ("before", "statement"),
    [
        ("red = plgpu.sum if hasattr(plgpu, 'sum') else jnp.sum", "red(s[...])"),
        ("red = getattr(plgpu, 'sum', jnp.sum)", "red(s[...])"),
        ("red = plgpu.sum if jax.__version_info__ >= (0, 12) else jnp.sum", "red(s[...])"),
        ("try:\n    red = plgpu.sum\nexcept AttributeError:\n    red = jnp.sum", "red(s[...])"),
        (
            "import inspect\nOLD = 'idx' in inspect.signature(plgpu.load).parameters",
            "plgpu.load(s, ()) if OLD else plgpu.load(s)",
        ),
        ("more = {'idx': ()} if jax.__version_info__ < (0, 12) else {}", "plgpu.load(s, **more)"),
        ("", "try:\n        plgpu.load(s)\n    except TypeError:\n        plgpu.load(s, ())"),
    ],
)
def test_a_program_that_asks_is_not_refused(before: str, statement: str, version: JaxVersion) -> None:
    assert said(statement, version, before) == []


def test_a_release_between_two_refuses_what_both_refuse() -> None:
    between = JaxVersion(0, 11, 0)
    assert said("plgpu.load(s)", OLD) != []
    assert said("plgpu.load(s)", between) == []
    assert said("plgpu.sum(s[...])", between) != []


def test_every_function_of_the_library_is_one_of_some_release() -> None:
    module = MODULES[""]
    names = {n.removeprefix(f"{module}.") for n in registry().names if n.startswith(f"{module}.")}
    plain = {n for n in names if "." not in n}
    assert plain - by_name().keys() == set()
    assert is_in_all("wgmma") and not is_in_all("sum")


def test_the_installed_jax_has_these_names() -> None:
    live = pytest.importorskip("tests.releases.live", reason="JAX is not installed", exc_type=ImportError)
    assert sorted(r.texts() for r in live.names()) == [r.texts() for r in rows() if r.version == live.VERSION]
