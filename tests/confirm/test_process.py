"""The subprocess: bounded memory, no blocking, and nothing left behind."""

from __future__ import annotations

import os
import queue
import signal
import sys
from pathlib import Path

import pytest

from pallas_ls.confirm import process
from pallas_ls.confirm.process import Process

from .test_isolation import Witness

KEEP = b"MARK "


def started(program: str) -> Process:
    """This Python with a program on its standard input, as an agent is started."""
    return Process([sys.executable, "-"], program.encode(), keep=KEEP)


def lines(running: Process) -> list[bytes]:
    """All kept lines to the end of the output."""
    found: list[bytes] = []
    while (line := running.next_line(30)) is not None:
        found.append(line)
    return found


def test_keeps_marked_lines_only() -> None:
    with started("print('MARK 1\\nnoise\\n MARK 2\\nMARKER\\nMARK 3\\nMARK cut', end='')") as running:
        assert lines(running) == [b"1", b"3"]
        assert running.end() == 0


def test_waits_no_longer_than_asked() -> None:
    with started("import time; time.sleep(1000)") as running, pytest.raises(queue.Empty):
        running.next_line(0.01)
    assert running.end() == -signal.SIGTERM


def test_drops_a_line_without_end_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINE", 1000)
    with started("print('MARK ' + 'x' * 5000); print('MARK good')") as running:
        assert lines(running) == [b"good"]


def test_keeps_lines_up_to_a_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINES", 1000)
    with started("for i in range(1000): print('MARK', 'x' * 95)") as running:
        assert len(lines(running)) == 10


def test_keeps_the_end_of_standard_error() -> None:
    with started("import sys; sys.stderr.write('x' * 1_000_000 + 'the end')") as running:
        running.end_of_output(30)
        assert len(running.stderr_tail()) == process.TAIL
        assert running.stderr_tail().endswith("the end")


def test_feeds_a_program_larger_than_any_pipe() -> None:
    with started("x = '" + "x" * 5_000_000 + "'; print('MARK', len(x))") as running:
        assert lines(running) == [b"5000000"]


def test_command_that_does_not_read_its_program_is_no_error() -> None:
    with Process(["true"], b"x" * 5_000_000, keep=KEEP) as running:
        assert lines(running) == []
        assert running.end() == 0


def test_ends_one_that_ignores_the_request_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.1)
    ignoring = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    with started(ignoring + "print('MARK up', flush=True)\ntime.sleep(1000)") as running:
        assert running.next_line(30) == b"up"
        assert running.end() == -signal.SIGKILL


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_ends_what_the_process_has_started(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    with started(f"import os\nos.system('(echo x; sleep 1000) >{witness.path}')"):
        assert witness.runs.wait(30)
    assert witness.ended.wait(30)
