"""Beyond lowering: JAX's GPU interpreter with its race detection, and compilation without a GPU."""

from __future__ import annotations

import importlib.util
from importlib import metadata

import pytest

from pallas_ls.confirm import agent
from pallas_ls.confirm.host import Outcome, confirm
from pallas_ls.confirm.protocol import MODULE, Call, Level
from pallas_ls.confirm.ways import Local
from pallas_ls.domain.target import JaxVersion

from .asking import TIMEOUT, X, kernels, raised, verdicts

TWO_ROWS = ("jax.ShapeDtypeStruct((2, 128), jnp.float32)",)


def jax_version() -> JaxVersion:
    return JaxVersion.parse(metadata.version("jax"))


class TestInterpret:
    @pytest.fixture(scope="class")
    def outcome(self, here: Local) -> Outcome:
        calls = (
            Call("at once", "at_once", TWO_ROWS),
            Call("in turn", "in_turn", TWO_ROWS),
            Call("no kernel", "jnp.sin", TWO_ROWS),
        )
        return confirm(kernels("racing.py", calls=calls, level=Level.INTERPRET), here, timeout=TIMEOUT)

    def test_threads_that_take_turns_pass(self, outcome: Outcome) -> None:
        assert verdicts(outcome)["in turn"].ok

    def test_code_without_a_kernel_passes(self, outcome: Outcome) -> None:
        assert verdicts(outcome)["no kernel"].ok

    def test_threads_that_race_are_refused(self, outcome: Outcome) -> None:
        verdict = verdicts(outcome)["at once"]
        if jax_version() < JaxVersion(0, 11):
            assert verdict.level is Level.LOWER
            assert verdict.notes == (f"lowered, not interpreted: JAX {metadata.version('jax')} has no GPU interpreter",)
            return
        assert "race" in raised(verdict).message.lower()
        assert verdict.phase == "interpret"

    @pytest.mark.skipif(jax_version() < JaxVersion(0, 12), reason="older interpreters only print where the race is")
    def test_race_is_blamed_on_its_line(self, outcome: Outcome) -> None:
        error = raised(verdicts(outcome)["at once"])
        assert error.message.startswith("RACE DETECTED")
        assert error.blamed is not None
        assert (error.blamed.file, error.blamed.function) == ("racing.py", "body")


class TestCompile:
    def test_without_nvidias_packages_says_what_to_install(self, here: Local) -> None:
        if importlib.util.find_spec("jax_plugins") is not None:
            pytest.skip("NVIDIA's packages are installed")
        request = kernels("lowers.py", calls=(Call("copy", "copy", (X,)),), level=Level.COMPILE)
        verdict = verdicts(confirm(request, here, timeout=TIMEOUT))["copy"]
        assert verdict.ok
        assert verdict.level is Level.LOWER
        version = metadata.version("jax")
        head = "lowered, not compiled: JAX sees no GPU here, and to compile without one: pip install --no-deps"
        assert verdict.notes[0].startswith(f"{head} jax-cuda13-pjrt=={version} jax-cuda13-plugin=={version}")

    @pytest.mark.skipif(importlib.util.find_spec("jax_plugins") is None, reason="needs NVIDIA's packages")
    def test_with_nvidias_packages_says_registers_and_spills(self, here: Local) -> None:
        request = kernels("lowers.py", calls=(Call("copy", "copy", (X,)),), level=Level.COMPILE)
        verdict = verdicts(confirm(request, here, timeout=TIMEOUT))["copy"]
        assert verdict.ok, verdict.error
        assert verdict.level is Level.COMPILE
        assert (verdict.spill_bytes, len(verdict.kernels), verdict.kernels[0].arch) == (0, 1, "sm_90a")
        assert verdict.registers is not None
        assert 0 < verdict.registers <= 255


def test_module_is_imported_at_any_level(here: Local) -> None:
    verdict = verdicts(confirm(kernels("at_module_level.py", level=Level.INTERPRET), here, timeout=TIMEOUT))[MODULE]
    assert (verdict.ok, verdict.level, verdict.lowered) == (True, Level.LOWER, 2)
    assert verdict.notes == ("the module was only imported: name its kernels to interpret them",)


PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Compiling entry function 'first_kernel' for 'sm_90a'
ptxas info    : Function properties for first_kernel
    2080 bytes stack frame, 2076 bytes spill stores, 2076 bytes spill loads
ptxas info    : Used 255 registers, used 2 barriers, 1 bytes smem
ptxas info    : Compiling entry function 'second_kernel' for 'sm_90a'
ptxas info    : Function properties for second_kernel
    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers
"""


def test_reads_what_ptxas_says() -> None:
    assert agent.ptxas_facts(PTXAS) == {
        "registers": 255,
        "spill_bytes": 2084,
        "kernels": [
            {"name": "first_kernel", "arch": "sm_90a", "registers": 255, "spill_bytes": 2076},
            {"name": "second_kernel", "arch": "sm_90a", "registers": 24, "spill_bytes": 8},
        ],
        "remarks": ["(C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized"],
    }


def test_reads_nothing_where_ptxas_said_nothing() -> None:
    assert agent.ptxas_facts("") == {"registers": None, "spill_bytes": None, "kernels": [], "remarks": []}
