"""User code that prints, crashes, hangs or floods costs no more than the call at fault."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pallas_ls.confirm.host import Outcome, confirm
from pallas_ls.confirm.protocol import MODULE, Call, Event, Failure, Machine, Progress
from pallas_ls.confirm.ways import Local

from .asking import TIMEOUT, kernels, source


def hostile(*calls: Call) -> Outcome:
    """One agent, a call after the other, on this interpreter."""
    return confirm(kernels("hostile.py", calls=calls), Local(sys.executable), timeout=TIMEOUT)


@pytest.mark.usefixtures("here")
class TestCrash:
    @pytest.fixture(scope="class")
    def outcome(self) -> Outcome:
        return hostile(
            Call("before", "prints", ("np.ones(3)",)),
            Call("aborts", "lambda: aborts()"),
            Call("leaves", "lambda: leaves()"),
            Call("interrupts", "lambda: raises_no_exception()"),
            Call("after", "prints", ("np.ones(3)",)),
        )

    def test_every_call_has_its_verdict(self, outcome: Outcome) -> None:
        assert [verdict.id for verdict in outcome.verdicts] == ["before", "aborts", "leaves", "interrupts", "after"]
        assert [verdict.ok for verdict in outcome.verdicts] == [True, False, False, False, True]

    def test_abort_names_the_signal_and_the_line(self, outcome: Outcome) -> None:
        verdict = outcome.verdicts[1]
        assert verdict.failure is Failure.CRASHED
        assert verdict.error is not None
        assert "killed by SIGABRT" in verdict.error.message
        assert verdict.error.blamed is not None
        assert (verdict.error.blamed.file, verdict.error.blamed.function) == ("hostile.py", "aborts")

    def test_exit_names_the_code(self, outcome: Outcome) -> None:
        assert outcome.verdicts[2].failure is Failure.CRASHED
        assert outcome.verdicts[2].error is not None
        assert "exit code 3" in outcome.verdicts[2].error.message

    def test_any_exception_is_a_verdict(self, outcome: Outcome) -> None:
        assert outcome.verdicts[3].failure is None
        assert outcome.verdicts[3].error is not None
        assert outcome.verdicts[3].error.type == "KeyboardInterrupt"

    def test_outcome_says_it_in_one_sentence(self, outcome: Outcome) -> None:
        assert outcome.failure is Failure.CRASHED
        assert outcome.message.startswith("this machine: JAX's process was killed by SIGABRT")

    def test_prints_arrive_as_prints(self, outcome: Outcome) -> None:
        for text in (
            "an import that prints",
            "and writes to the file descriptor",
            "while tracing",
            "from a subprocess",
        ):
            assert text in outcome.stderr


def test_crash_while_importing_is_the_verdict(here: Local) -> None:
    outcome = confirm(source("import os\n\nos.abort()\n"), here, timeout=TIMEOUT)
    (verdict,) = outcome.verdicts
    assert (verdict.id, verdict.failure, verdict.phase) == (MODULE, Failure.CRASHED, "import")
    assert verdict.error is not None
    assert verdict.error.blamed is not None
    assert verdict.error.blamed.line == 3


def test_last_words_are_in_the_message(here: Local) -> None:
    text = "import os\nos.write(2, b'LLVM ERROR: Cannot select\\n')\nos.abort()\n"
    assert "LLVM ERROR: Cannot select" in confirm(source(text), here, timeout=TIMEOUT).message


def test_flood_of_output_is_kept_within_bounds(here: Local) -> None:
    outcome = hostile(Call("floods", "lambda: floods()"))
    assert outcome.failure is None, outcome.message
    assert outcome.verdicts[0].ok
    assert len(outcome.stderr) <= 64 * 1024


def test_last_words_after_a_flood_are_in_the_message(here: Local) -> None:
    text = "import os\nos.write(2, b'y' * 60_000)\nos.write(2, b'y' * 60_000 + b'\\nthe end\\n')\nos.abort()\n"
    assert confirm(source(text), here, timeout=TIMEOUT).message.endswith("the end")


def test_code_that_closes_its_outputs_still_has_a_verdict(here: Local) -> None:
    outcome = confirm(source("import os\nos.close(1)\nos.close(2)\n"), here, timeout=TIMEOUT)
    assert outcome.failure is None, outcome.message
    assert outcome.verdicts[0].ok


def test_hang_is_a_verdict_with_the_line(here: Local, time_limit: float) -> None:
    calls = (Call("good", "prints", ("np.ones(3)",)), Call("hangs", "lambda: hangs()"), Call("late", "prints", ("1",)))
    outcome = confirm(kernels("hostile.py", calls=calls), here, timeout=time_limit)
    assert outcome.failure is Failure.TIMED_OUT
    good, hangs, late = outcome.verdicts
    assert good.ok
    assert hangs.failure is Failure.TIMED_OUT
    assert hangs.error is not None
    assert hangs.error.blamed is not None
    assert (hangs.error.message, hangs.error.blamed.function) == (f"no answer within {time_limit} s", "hangs")
    assert late.error is not None
    assert late.error.message == f"not reached: no answer within {time_limit} s"


#: Opens the pipe for writing and hangs with the interpreter's lock held: the pipe ends only when the process does.
HOLDING = """
import ctypes, os
pipe = os.open({pipe!r}, os.O_WRONLY)
os.write(pipe, b"x")
ctypes.PyDLL(None).sleep(1000)
"""


class Witness:
    """A named pipe that a process of the user's holds open; tells when it runs and when it has ended."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "pipe")
        os.mkfifo(self.path)
        self.runs = threading.Event()
        self.ended = threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        with open(self.path, "rb", buffering=0) as pipe:
            pipe.read(1)
            self.runs.set()
            pipe.read(1)
            self.ended.set()


def test_cancel_ends_the_process_of_the_user(here: Local, tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    outcome = confirm(source(HOLDING.format(pipe=witness.path)), here, timeout=TIMEOUT, cancel=witness.runs)
    assert (outcome.failure, outcome.message) == (Failure.CANCELLED, "this machine: cancelled")
    assert outcome.machine is not None
    assert witness.ended.wait(30)


def test_time_limit_ends_a_process_that_holds_the_lock(here: Local, time_limit: float, tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    outcome = confirm(source(HOLDING.format(pipe=witness.path)), here, timeout=time_limit)
    assert outcome.failure is Failure.TIMED_OUT
    assert witness.ended.wait(30)


def test_cancel_before_the_start_runs_nothing_to_its_end(here: Local) -> None:
    cancel = threading.Event()
    cancel.set()
    outcome = confirm(kernels("at_module_level.py"), here, timeout=TIMEOUT, cancel=cancel)
    assert (outcome.failure, outcome.verdicts) == (Failure.CANCELLED, ())


def test_an_error_of_the_listener_ends_the_agent(here: Local, tmp_path: Path) -> None:
    witness = Witness(tmp_path)

    def listener(event: Event) -> None:
        if isinstance(event, Progress):
            assert witness.runs.wait(30)
            raise RuntimeError("the editor is gone")

    with pytest.raises(RuntimeError, match="the editor is gone"):
        confirm(source(HOLDING.format(pipe=witness.path)), here, timeout=TIMEOUT, on_event=listener)
    assert witness.ended.wait(30)


class TestNoAnswer:
    def test_python_that_is_not_there(self) -> None:
        outcome = confirm(source(""), Local("/nowhere/python"), timeout=TIMEOUT)
        assert outcome.failure is Failure.UNREACHABLE
        assert outcome.message.startswith("this machine cannot be started: [Errno 2] No such file or directory")

    def test_python_without_jax(self, tmp_path: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
        python = str(tmp_path / "bare" / "bin" / "python")
        outcome = confirm(source(""), Local(python), timeout=TIMEOUT)
        assert (outcome.failure, outcome.verdicts) == (Failure.NO_JAX, ())
        assert outcome.message.startswith(f"this machine: {python} (Python ")
        assert outcome.message.endswith(" cannot import JAX: No module named 'jax'")

    def test_files_of_the_working_folder_are_not_taken_for_libraries(self, here: Local, tmp_path: Path) -> None:
        for name in ("json.py", "jax.py", "numpy.py"):
            (tmp_path / name).write_text("raise SystemExit('taken')")
        outcome = confirm(source("import json"), Local(here.python, str(tmp_path)), timeout=TIMEOUT)
        assert outcome.failure is None, outcome.message
        assert outcome.verdicts[0].ok

    def test_listener_hears_of_the_machine_first(self, here: Local) -> None:
        heard: list[Event] = []
        confirm(source(""), here, timeout=TIMEOUT, on_event=heard.append)
        assert isinstance(heard[0], Machine)
