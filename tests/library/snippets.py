"""Evaluating a snippet: a small module in memory, and what its global names hold afterwards."""

from __future__ import annotations

from pallas_ls.domain.python import Value
from pallas_ls.evaluate.program import Program
from pallas_ls.library.library import Library
from pallas_ls.source.module import Module, parse_module

PATH = "snippet.py"


class OneFile:
    """A workspace of one module."""

    def __init__(self, text: str) -> None:
        self.parsed = parse_module(PATH, text)

    def find(self, name: str, level: int, importer: str) -> str | None:
        """No module of the workspace is imported."""
        return None

    def module(self, path: str) -> Module | None:
        """The snippet."""
        return self.parsed if path == PATH else None


LIBRARY = Library()


def evaluated(text: str) -> dict[str, Value]:
    """The global names after running a snippet; raises AssertionError where the program itself raises."""
    program = Program(OneFile(text), LIBRARY)
    memos = program.analyse(PATH)
    stopped = [memo.stopped for memo in memos if memo.stopped]
    assert not stopped, f"the snippet stopped: {stopped}"
    return program.states[PATH].env.vars
