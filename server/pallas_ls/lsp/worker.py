"""The one thread that analyses. It owns the session: nothing else touches what the analysis keeps."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")

#: Bytes of stack: the evaluator recurses with the code that it reads, and macOS gives threads no more than 512 KiB.
STACK = 64 << 20


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[], Any]
    future: Future[Any]


class Worker:
    """Does jobs one after the other, in the order they came; those put off, when there is nothing else to do.

    A job takes the place of a waiting one with the same key, whose future is cancelled: of many keystrokes only the
    last is analysed. A waiting job is also dropped by cancelling its future; one under way runs to its end.
    """

    def __init__(self, prepare: Callable[[], None] = lambda: None) -> None:
        """`prepare` runs in the thread before each job; where it raises, the job does."""
        self._prepare = prepare
        self._wake = threading.Condition()
        self._now: OrderedDict[Hashable, _Job] = OrderedDict()
        self._later: OrderedDict[Hashable, _Job] = OrderedDict()
        self._numbers = count()
        self._stopped = False
        self._thread = self._start()

    def submit(self, work: Callable[[], T], key: Hashable = None, later: bool = False) -> Future[T]:
        """Queues a job; never blocks. After `stop` its future is cancelled at once."""
        future: Future[T] = Future()
        queue = self._later if later else self._now
        with self._wake:
            if self._stopped:
                future.cancel()
                return future
            key = key if key is not None else next(self._numbers)
            old = queue.pop(key, None)
            queue[key] = _Job(work, future)
            self._wake.notify()
        if old is not None:
            old.future.cancel()  # outside the lock: it calls back
        return future

    def stop(self) -> None:
        """Drops what waits. The job under way is not waited for: the thread ends with the process."""
        with self._wake:
            self._stopped = True
            waiting = [*self._now.values(), *self._later.values()]
            self._now.clear()
            self._later.clear()
            self._wake.notify()
        for job in waiting:
            job.future.cancel()

    def _start(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="analysis", daemon=True)
        before = threading.stack_size(STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
        return thread

    def _run(self) -> None:
        while (job := self._next()) is not None:
            if job.future.set_running_or_notify_cancel():
                self._do(job)

    def _next(self) -> _Job | None:
        with self._wake:
            while not self._stopped:
                for queue in (self._now, self._later):
                    if queue:
                        return queue.popitem(last=False)[1]
                self._wake.wait()
        return None

    def _do(self, job: _Job) -> None:
        try:
            self._prepare()
            result = job.work()
        except BaseException as error:
            # Everything goes to whoever asked, who reports it; the thread must outlive any job.
            job.future.set_exception(error)
        else:
            job.future.set_result(result)
