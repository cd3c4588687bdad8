"""Runs an agent and brings back JAX's verdicts, or one sentence why there are none."""

from __future__ import annotations

import queue
import secrets
import shlex
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .process import Process
from .protocol import (
    MODULE,
    BadEvent,
    Done,
    Event,
    Failure,
    Machine,
    NoJax,
    Request,
    Verdict,
    program,
    read_event,
)
from .ways import Local, Remote, Way, command

POLL = 0.05  # seconds between two looks at the cancel event and the clock
GRACE = 3.0  # seconds beyond the time limit: the agent itself says better what hangs, and is heard first
STDERR_LINES = 5  # last lines of standard error in a message


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a confirmation.

    Attributes:
      verdicts: in the order in which they came; each call's where `failure` is None.
      machine: who answered; None where nobody did.
      failure: set where a call has no verdict of JAX's; `message` then says why in one sentence for a person.
      stderr: the last of what was printed there, at most 64 KiB.
    """

    verdicts: tuple[Verdict, ...] = ()
    machine: Machine | None = None
    failure: Failure | None = None
    message: str = ""
    stderr: str = ""


def confirm(
    request: Request,
    way: Way,
    *,
    timeout: float,
    on_event: Callable[[Event], None] = lambda event: None,
    cancel: threading.Event | None = None,
) -> Outcome:
    """Confirms and returns when all is said, `timeout` seconds are over or `cancel` is set.

    Blocks the calling thread; `on_event` is called in it for every event as it comes. Whatever was started here is
    ended before this returns; on another machine the agent ends itself when nobody listens or its time is over.
    """
    marker = "pallas-ls-" + secrets.token_hex(16)
    text = program(request, marker, timeout, local=isinstance(way, Local))
    folder = way.folder if isinstance(way, Local) else None
    try:
        process = Process(command(way), text, keep=marker.encode() + b" ", folder=folder)
    except OSError as error:
        return Outcome(failure=Failure.UNREACHABLE, message=f"{described(way)} cannot be started: {error}")
    with process:
        expected = tuple(call.id for call in request.calls) or (MODULE,)
        listener = Listener(
            process, way, expected, timeout=timeout, on_event=on_event, cancel=cancel or threading.Event()
        )
        return listener.outcome()


class Listener:
    """Follows one agent's events to their end."""

    def __init__(
        self,
        process: Process,
        way: Way,
        expected: tuple[str, ...],
        *,
        timeout: float,
        on_event: Callable[[Event], None],
        cancel: threading.Event,
    ) -> None:
        self.process = process
        self.way = way
        self.expected = expected
        self.timeout = timeout
        self.on_event = on_event
        self.cancel = cancel
        self.machine: Machine | None = None
        self.verdicts: list[Verdict] = []
        self.no_jax: NoJax | None = None

    def outcome(self) -> Outcome:
        failure = self.listen()
        code = self.process.end()
        if failure is None:
            failure, message = self.from_verdicts()
        elif failure is Failure.CRASHED:
            failure, message = self.ended(code)
        else:
            message = self.messages()[failure]
        return Outcome(tuple(self.verdicts), self.machine, failure, message, self.process.stderr_tail())

    def listen(self) -> Failure | None:
        """Until `done` (None), the end of the output (CRASHED), the time limit or the cancel event."""
        deadline = time.monotonic() + self.timeout + GRACE
        ended = False
        while time.monotonic() < deadline:
            if self.cancel.is_set():
                return Failure.CANCELLED
            try:
                line = self.process.next_line(POLL)
            except queue.Empty:
                # Twice in a row: the process is over, and whoever still holds its output says nothing.
                if ended:
                    return Failure.CRASHED
                ended = self.process.has_ended()
                continue
            if line is None:
                self.process.let_end()
                return Failure.CRASHED
            if self.heard(line):
                return Failure.NO_JAX if self.no_jax else None
        return Failure.TIMED_OUT

    def heard(self, line: bytes) -> bool:
        """Takes in one event; True where it was the last one."""
        try:
            event = read_event(line)
        except BadEvent:
            return False  # somebody guessed the marker or cut a line; the verdict that is missing will be told
        if event is None:
            return False
        if isinstance(event, Machine):
            self.machine = event
        elif isinstance(event, Verdict):
            self.verdicts.append(event)
        elif isinstance(event, NoJax):
            self.no_jax = event
        self.on_event(event)
        return isinstance(event, Done)

    def from_verdicts(self) -> tuple[Failure | None, str]:
        """The first crash or time-out that the agent itself reported, or a verdict that got lost on the way."""
        for verdict in self.verdicts:
            if verdict.failure and verdict.error:
                return verdict.failure, f"{described(self.way)}: {verdict.error.message}"
        missing = sorted(set(self.expected) - {verdict.id for verdict in self.verdicts})
        if missing:
            return Failure.CRASHED, f"{described(self.way)}: the agent gave no verdict for {', '.join(missing)}"
        return None, ""

    def ended(self, code: int) -> tuple[Failure, str]:
        """The agent's process is gone without a last word."""
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        words = self.last_words()
        if self.machine is None:
            return Failure.UNREACHABLE, f"{described(self.way)} {how} before the agent ran{words}"
        return Failure.CRASHED, f"{described(self.way)}: the agent {how}{words}"

    def messages(self) -> dict[Failure, str]:
        where = described(self.way)
        silent = "" if self.machine else ", and nothing was heard from there"
        no_jax = self.no_jax
        return {
            Failure.TIMED_OUT: f"{where}: no answer within {self.timeout:g} s{silent}{self.last_words()}",
            Failure.CANCELLED: f"{where}: cancelled",
            Failure.NO_JAX: f"{where}: {no_jax.executable} (Python {no_jax.python}) cannot import JAX: {no_jax.message}"
            if no_jax
            else "",
        }

    def last_words(self) -> str:
        lines = [line for line in self.process.stderr_tail().splitlines() if line.strip()][-STDERR_LINES:]
        return ": " + " | ".join(line.strip()[:300] for line in lines) if lines else ""


def described(way: Way) -> str:
    """The way in a message: its name, and for a remote one the command."""
    return f"{way.name} ({shlex.join(command(way))})" if isinstance(way, Remote) else way.name
