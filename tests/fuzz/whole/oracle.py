"""A process that asks a JAX, started anew where a kernel aborts it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

_WORKER = Path(__file__).with_name("worker.py")
#: Seconds that one kernel may take, or JAX to be imported, on a machine that has other work, too.
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """What JAX raised, the frame of JAX that raised it, and the line of the kernel's file that it came through.

    Attributes:
      file: of JAX, beginning with "jax/"; empty where the exception comes from elsewhere.
      function: qualified name.
    """

    type: str
    message: str
    at: int
    file: str
    function: str
    line: int

    @property
    def head(self) -> str:
        """The first line of the message."""
        return self.message.strip().partition("\n")[0]


#: A kernel that ended the process, or took too long.
ABORTED = Refusal("Aborted", "the process ended", 0, "", "", 0)
#: A text that lowered nothing, and so says nothing.
IDLE = Refusal("Idle", "nothing was lowered", 0, "", "", 0)


class Oracle:
    """Asks the JAX of a Python. A context manager: its process ends with it.

    Attributes:
      version: of that JAX, known from the start on.
      home: the folder that it is installed in.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._process: subprocess.Popen[str] | None = None
        self.version = ""
        self.home = Path()

    def __enter__(self) -> Oracle:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def ask(self, text: str) -> Refusal | None:
        """JAX's refusal, or None where the text lowers."""
        self._send(text)
        return self._answer()

    def verdicts(self, texts: Iterable[str]) -> Iterator[tuple[str, Refusal | None]]:
        """Each text with its verdict; JAX works on the next one meanwhile."""
        left = iter(texts)
        text = next(left, None)
        if text is not None:
            self._send(text)
        while text is not None:
            answer = self._answer()
            following = next(left, None)
            if following is not None:
                self._send(following)
            yield text, answer
            text = following

    def _send(self, text: str) -> None:
        process = self._process or self._start()
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # then there is no answer either
            process.stdin.write(json.dumps({"text": text}) + "\n")
            process.stdin.flush()

    def _answer(self) -> Refusal | None:
        answer = self._line()
        if answer is None:
            self._stop()
            return ABORTED
        if "lowered" in answer:
            return None if answer["lowered"] else IDLE
        return Refusal(*(answer[key] for key in ("type", "message", "at", "file", "function", "line")))

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": ""}
        self._process = subprocess.Popen(
            [self._python, str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        hello = self._line()
        if hello is None:
            raise RuntimeError(f"{self._python} has no JAX that can be asked")
        self.version, self.home = str(hello["version"]), Path(hello["home"])
        return self._process

    def _line(self) -> dict[str, Any] | None:
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        line = self._process.stdout.readline() if ready else ""
        return json.loads(line) if line else None

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
