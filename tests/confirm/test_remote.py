"""The agent behind a command prefix: a plain subprocess, a shell, and ssh for real."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pallas_ls.confirm.host import confirm
from pallas_ls.confirm.protocol import MODULE, Call, Failure, Request
from pallas_ls.confirm.ways import Local, Remote

from .asking import TIMEOUT, X, kernels, raised, source, verdicts
from .test_isolation import HOLDING, Witness

PREFIXES = {
    "env": ("env", "FOO=1"),
    "shell": ("sh", "-c", 'exec "$@"', "--"),
    "shell that joins words": ("sh", "-c", 'exec sh -c "$*"', "--"),
    "talkative": ("sh", "-c", 'echo "Welcome to gpubox"; echo "motd" >&2; exec "$@"', "--"),
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_lowers_behind_a_prefix(here: Local, prefix: tuple[str, ...]) -> None:
    request = kernels("lowers.py", calls=(Call("copy", "copy", (X,)),))
    outcome = confirm(request, Remote("gpubox", prefix, here.python), timeout=TIMEOUT)
    assert verdicts(outcome)["copy"].ok


def test_prefix_sets_the_environment_of_the_user_code(here: Local) -> None:
    request = source("import os\nassert os.environ['FOO'] == '1'\n")
    assert verdicts(confirm(request, Remote("gpubox", PREFIXES["env"], here.python), timeout=TIMEOUT))[MODULE].ok


def test_roots_stay_on_this_machine(here: Local, tmp_path: Path) -> None:
    (tmp_path / "only_here.py").write_text("")
    request = Request({"kernel.py": "import only_here"}, "kernel.py", roots=(str(tmp_path),))
    error = raised(verdicts(confirm(request, Remote("gpubox", ("env",), here.python), timeout=TIMEOUT))[MODULE])
    assert error.message == "No module named 'only_here'"


class TestUnreachable:
    def test_command_that_is_not_there(self) -> None:
        outcome = confirm(source(""), Remote("gpubox", ("no-such-command", "gpubox")), timeout=TIMEOUT)
        assert outcome.failure is Failure.UNREACHABLE
        assert outcome.message.startswith("gpubox (no-such-command gpubox python3 -) cannot be started: ")

    def test_command_that_fails(self) -> None:
        way = Remote("gpubox", ("sh", "-c", "echo 'Connection refused' >&2; exit 255", "--"))
        outcome = confirm(source(""), way, timeout=TIMEOUT)
        assert outcome.failure is Failure.UNREACHABLE
        assert outcome.message.endswith("ended with exit code 255 before the agent ran: Connection refused")

    def test_command_that_answers_nothing(self) -> None:
        outcome = confirm(source(""), Remote("gpubox", ("tail", "-f", "/dev/null")), timeout=0.1)
        assert outcome.failure in (Failure.TIMED_OUT, Failure.UNREACHABLE)
        silent = confirm(source(""), Remote("gpubox", ("sh", "-c", "cat >/dev/null; sleep 1000", "--")), timeout=0.1)
        assert silent.failure is Failure.TIMED_OUT
        assert silent.message.endswith("no answer within 0.1 s, and nothing was heard from there")

    def test_command_that_is_not_python(self) -> None:
        outcome = confirm(source(""), Remote("gpubox", ("env",), "cat"), timeout=TIMEOUT)
        assert outcome.failure is Failure.UNREACHABLE
        assert outcome.message.endswith("ended with exit code 0 before the agent ran")

    def test_python_that_is_too_old_or_broken(self, tmp_path: Path) -> None:
        broken = tmp_path / "python"
        broken.write_text("#!/bin/sh\necho 'SyntaxError: invalid syntax' >&2\nexit 1\n")
        broken.chmod(0o755)
        outcome = confirm(source(""), Remote("gpubox", ("env",), str(broken)), timeout=TIMEOUT)
        assert outcome.message.endswith("ended with exit code 1 before the agent ran: SyntaxError: invalid syntax")


class TestSsh:
    def test_lowers(self, gpubox: Remote) -> None:
        request = kernels("lowers.py", calls=(Call("copy", "copy", (X,)), Call("wide", "wide", (X,))))
        outcome = confirm(request, gpubox, timeout=TIMEOUT)
        assert outcome.failure is None, outcome.message
        copy, wide = outcome.verdicts
        assert copy.ok
        assert not wide.ok, "128 columns cannot be copied from an array of 64"
        assert outcome.machine is not None
        assert outcome.machine.executable == sys.executable

    def test_blames_the_line_in_the_second_module(self, gpubox: Remote) -> None:
        call = Call("f", "in_a_helper_of_another_file()")
        answers = verdicts(confirm(kernels("refused.py", "tiles.py", calls=(call,)), gpubox, timeout=TIMEOUT))
        blamed = raised(answers["f"]).blamed
        assert blamed is not None
        assert (blamed.file, blamed.function) == ("tiles.py", "store_every_other_row")

    def test_crash_is_told_from_a_broken_connection(self, gpubox: Remote) -> None:
        outcome = confirm(source("import os; os.abort()"), gpubox, timeout=TIMEOUT)
        assert outcome.failure is Failure.CRASHED
        assert "killed by SIGABRT" in outcome.message

    def test_cancel_ends_the_process_on_the_other_machine(self, gpubox: Remote, tmp_path: Path) -> None:
        witness = Witness(tmp_path)
        request = source(HOLDING.format(pipe=witness.path))
        outcome = confirm(request, gpubox, timeout=TIMEOUT, cancel=witness.runs)
        assert outcome.failure is Failure.CANCELLED
        assert witness.ended.wait(30)

    def test_wrong_key_is_said_in_sshs_words(self, gpubox: Remote, tmp_path: Path) -> None:
        where = gpubox.prefix.index("-i") + 1
        wrong = (*gpubox.prefix[:where], str(tmp_path / "no key"), *gpubox.prefix[where + 1 :])
        outcome = confirm(source(""), replace(gpubox, prefix=wrong), timeout=TIMEOUT)
        assert outcome.failure is Failure.UNREACHABLE
        assert "Permission denied" in outcome.message
