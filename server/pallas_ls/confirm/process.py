"""A subprocess that is fed once, listened to without ever blocking, and ended with everything that it started."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import IO

CHUNK = 65_536  # bytes a read
TAIL = 65_536  # bytes of standard error kept
LINE = 8 << 20  # bytes a line may have; longer ones are dropped
LINES = 64 << 20  # bytes of kept lines in all; what comes after is dropped
PATIENCE = 1.0  # seconds to end by itself, asked once, before it is killed


class Process:
    """A command under way. Its standard output is read as lines; only those with the prefix `keep` are kept.

    Raises OSError where the command cannot be started. Use it as a context manager: leaving it ends the process group.
    """

    def __init__(self, command: Sequence[str], program: bytes, *, keep: bytes, folder: str | None = None) -> None:
        self.popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,  # a group of its own to kill, and no terminal for a password prompt to hang on
        )
        self.keep = keep
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.tail = b""
        self.readers = [
            self.in_background(self.read_lines, self.popen.stdout),
            self.in_background(self.read_tail, self.popen.stderr),
        ]
        self.in_background(self.feed, self.popen.stdin, program)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def in_background(self, work: Callable[..., None], *args: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=args, daemon=True)
        thread.start()
        return thread

    def next_line(self, seconds: float) -> bytes | None:
        """The next kept line without its prefix; None at the end of the output. Raises queue.Empty after `seconds`."""
        return self.lines.get(timeout=seconds)

    def end_of_output(self, seconds: float) -> None:
        """Waits until both outputs are read to their end, at most `seconds` each."""
        for reader in self.readers:
            reader.join(seconds)

    def has_ended(self) -> bool:
        return self.popen.poll() is not None

    def let_end(self) -> None:
        """Waits for a process that has closed its output, so that its own exit code is reported and not our signal."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(PATIENCE)

    def end(self) -> int:
        """Ends the process and its group, asking first; returns its exit code, negative for a signal (as Popen's)."""
        if self.popen.poll() is None:
            self.signal_group(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(PATIENCE)
        if os.name == "posix":
            self.signal_group(signal.SIGKILL)
        elif self.popen.poll() is None:
            self.popen.kill()
        code = self.popen.wait()
        self.end_of_output(PATIENCE)  # not longer: a process that left the group may still hold the pipes
        return code

    def signal_group(self, number: signal.Signals) -> None:
        # The group's id is the process's own; it stays taken while anybody of the group lives.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self.popen.pid, number)
            else:
                self.popen.terminate()

    def stderr_tail(self) -> str:
        return self.tail.decode(errors="replace")

    def feed(self, pipe: IO[bytes], program: bytes) -> None:
        # A command that ends without reading is reported by its exit code, not here.
        with contextlib.suppress(OSError), pipe:
            pipe.write(program)

    def read_tail(self, pipe: IO[bytes]) -> None:
        with pipe:
            while data := os.read(pipe.fileno(), CHUNK):
                self.tail = (self.tail + data)[-TAIL:]

    def read_lines(self, pipe: IO[bytes]) -> None:
        kept = 0
        with pipe:
            while line := pipe.readline(LINE):
                if line.startswith(self.keep) and line.endswith(b"\n") and kept < LINES:
                    kept += len(line)
                    self.lines.put(line[len(self.keep) :].strip())
        self.lines.put(None)
