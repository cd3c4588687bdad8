"""Keeps jedi's process: started when first asked, then warm; ended when it hangs, started anew after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

#: Seconds for one answer; the first one on JAX takes up to 4 s of CPU.
TIMEOUT = 20.0
#: Bytes of one answer.
LIMIT = 16 << 20


class NoAnswer(Exception):
    """jedi gave none: it took too long, crashed, cannot be started or could not read the code."""


class JediProcess:
    """A worker process that answers one request after the other. Nothing here ever blocks a caller.

    All input and output happens in a thread with an event loop of its own; `submit` only leaves word there.
    """

    def __init__(
        self,
        folder: str,
        sys_path: Sequence[str],
        command: Sequence[str] | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        """`folder` is the workspace, `sys_path` where its imports are found; `command` replaces the worker's."""
        self.folder = folder
        self.sys_path = list(sys_path)
        self.command = list(command or worker_command())
        self.timeout = timeout
        self._ids = itertools.count(1)
        self._launch: asyncio.Task[Process] | None = None
        self._questions: set[asyncio.Task[Any]] = set()
        self._turn = asyncio.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="jedi", daemon=True)
        self._starting = threading.Lock()
        self._closed = False

    def submit(self, kind: str, **parameters: Any) -> Future[Any]:
        """Asks; the future holds the answer's `result`, or `NoAnswer`. Cancelling it withdraws the question."""
        return self._schedule(self._ask({"id": next(self._ids), "kind": kind, **parameters}))

    def close(self) -> None:
        """Ends the process and the thread; waits for neither of them if it was never started."""
        with self._starting:
            closed, self._closed = self._closed, True
        if closed or not self._thread.ident:
            return
        asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop)
        self._thread.join()

    def _schedule(self, question: Coroutine[Any, Any, Any]) -> Future[Any]:
        with self._starting:
            if self._closed:
                question.close()
                refused: Future[Any] = Future()
                refused.set_exception(NoAnswer("closed"))
                return refused
            if not self._thread.ident:
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(question, self._loop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    async def _ask(self, request: dict[str, Any]) -> Any:
        question = asyncio.current_task()
        assert question is not None  # a coroutine runs in a task
        self._questions.add(question)
        question.add_done_callback(self._questions.discard)
        async with self._turn:
            return await self._answered(request)

    async def _answered(self, request: dict[str, Any]) -> Any:
        try:
            return await asyncio.wait_for(self._exchange(request), self.timeout)
        except TimeoutError as error:
            await self._end()
            raise NoAnswer(f"no answer within {self.timeout:g} s") from error
        except (OSError, EOFError, ValueError) as error:  # ValueError: a line that is no JSON, or too long
            await self._end()
            raise NoAnswer(f"jedi's process failed: {error}") from error

    async def _exchange(self, request: dict[str, Any]) -> Any:
        process = await self._running()
        assert process.stdin and process.stdout  # both are pipes
        process.stdin.write(json.dumps(request).encode() + b"\n")
        await process.stdin.drain()
        while line := await process.stdout.readline():
            answer = json.loads(line)
            if answer["id"] == request["id"]:  # others belong to questions that were withdrawn
                break
        else:
            raise EOFError("it ended")
        if "error" in answer:
            raise NoAnswer(answer["error"])
        return answer["result"]

    async def _running(self) -> Process:
        launch = self._launch
        if launch is None or (launch.done() and launch.result().returncode is not None):
            launch = self._launch = asyncio.create_task(self._launched())
        # Shielded: a question that is withdrawn meanwhile must not leave a process behind that nobody knows of.
        return await asyncio.shield(launch)

    async def _launched(self) -> Process:
        process = await asyncio.create_subprocess_exec(
            *self.command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LIMIT, env=environment()
        )
        assert process.stdin  # it is a pipe
        start = {"folder": self.folder, "sys_path": self.sys_path}
        process.stdin.write(json.dumps(start).encode() + b"\n")
        return process

    async def _end(self) -> None:
        launch, self._launch = self._launch, None
        if launch is None:
            return
        try:
            process = await launch
        except OSError:
            return  # it could not be started, which the question that asked for it has told
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()

    async def _shut_down(self) -> None:
        questions = list(self._questions)
        for question in questions:
            question.cancel()
        await asyncio.gather(*questions, return_exceptions=True)
        await self._end()
        self._loop.stop()


def worker_command() -> list[str]:
    """-P: a module of the workspace named `jedi` or `pallas_ls` must not be run instead."""
    return [sys.executable, "-P", "-m", "pallas_ls.workspace.jedi_worker"]


def environment() -> dict[str, str]:
    """Of this process, with the folders that this package, jedi and parso were found in (a vsix brings its own)."""
    specs = (find_spec(name) for name in ("pallas_ls", "jedi", "parso"))
    origins = [spec.origin for spec in specs if spec and spec.origin]
    folders = dict.fromkeys(os.path.dirname(os.path.dirname(os.path.abspath(origin))) for origin in origins)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PYTHONIOENCODING": "utf-8"}
