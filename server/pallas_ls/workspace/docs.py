"""What jedi knows, remembered: documentation of library names, and where a name is defined."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from .jedi_process import JediProcess, NoAnswer

#: Answers about texts that are kept; documentation is kept for ever.
PLACES = 256


@dataclass(frozen=True, slots=True)
class Documentation:
    """A library name's signature ("async_store_smem(src, ref, ...)") and docstring in the user's environment."""

    signature: str
    docstring: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name is defined: line and column (in characters) from 0."""

    path: str
    line: int
    column: int
    name: str


class Docs:
    """Asks jedi's process and remembers. No method blocks; a future fails with `jedi_process.NoAnswer`."""

    def __init__(self, process: JediProcess) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._documentation: dict[str, Future[Documentation | None]] = {}
        self._places: OrderedDict[tuple[str, str, int, int], Future[tuple[Place, ...]]] = OrderedDict()

    def documentation(self, name: str) -> Future[Documentation | None]:
        """Of a dotted library name; None where there is no such name. Callers share one future: do not cancel it."""
        with self._lock:
            known = self._documentation.get(name)
            if known is None or _failed(known):
                answer = self._process.submit("signature", name=name)
                known = self._documentation[name] = _mapped(answer, _read_documentation)
        return known

    def known(self, name: str) -> Documentation | None:
        """The documentation if it is there already; else jedi is asked, for the next time."""
        future = self.documentation(name)
        return future.result() if future.done() and not _failed(future) else None

    def definition(self, path: str, text: str, line: int, column: int) -> Future[tuple[Place, ...]]:
        """Where the name at a place is defined, imports followed; cancelling the future withdraws the question."""
        key = (path, text, line, column)
        with self._lock:
            known = self._places.get(key)
            if known is None or _failed(known):
                answer = self._process.submit("definition", path=path, text=text, line=line, column=column)
                known = self._places[key] = _mapped(answer, _read_places)
            self._places.move_to_end(key)
            while len(self._places) > PLACES:
                self._places.popitem(last=False)
        return known

    def close(self) -> None:
        """Ends jedi's process."""
        self._process.close()


def _failed(future: Future[Any]) -> bool:
    return future.done() and (future.cancelled() or future.exception() is not None)


def _mapped(answer: Future[Any], read: Any) -> Future[Any]:
    """A future of what `read` makes of the answer. Cancelling it cancels the answer."""
    out: Future[Any] = Future()

    def settle(done: Future[Any]) -> None:
        if not out.set_running_or_notify_cancel():
            return
        if done.cancelled():
            out.set_exception(NoAnswer("closed"))
        elif error := done.exception():
            out.set_exception(error)
        else:
            out.set_result(read(done.result()))

    answer.add_done_callback(settle)
    out.add_done_callback(lambda future: answer.cancel() if future.cancelled() else None)
    return out


def _read_documentation(result: Any) -> Documentation | None:
    return None if result is None else Documentation(result["signature"], result["docstring"])


def _read_places(result: Any) -> tuple[Place, ...]:
    return tuple(Place(item["path"], item["line"], item["column"], item["name"]) for item in result)
