"""Files in memory under a session."""

from __future__ import annotations

import textwrap
from pathlib import PurePosixPath

from pallas_ls.answers.session import Session
from pallas_ls.domain.target import Target
from pallas_ls.source.module import Module, parse_module

HEAD = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
"""


class Texts:
    """Modules by path: `name.py` is found as `name` by any importer."""

    def __init__(self, **texts: str) -> None:
        self.modules: dict[str, Module] = {}
        for name, text in texts.items():
            self.write(f"{name}.py", text)

    def write(self, path: str, text: str) -> None:
        """Puts or changes a file."""
        self.modules[path] = parse_module(path, text, self.modules.get(path))

    def find(self, name: str, level: int, importer: str) -> str | None:
        """By name alone."""
        path = str(PurePosixPath(*name.split("."))) + ".py"
        return path if path in self.modules else None

    def module(self, path: str) -> Module | None:
        """The module."""
        return self.modules.get(path)


def kernel(text: str) -> str:
    """A kernel file: the usual imports, then the text."""
    return HEAD + textwrap.dedent(text)


def session(text: str, target: Target | None = None, **others: str) -> Session:
    """A session over `k.py`, and over other modules by name."""
    return Session(Texts(k=kernel(text), **others), target or Target())


def said(s: Session, path: str = "k.py") -> list[str]:
    """Findings as "line severity code", in order."""
    module = s.files.module(path)
    assert module is not None
    rows = [(module.text.position(f.span.start, "utf-8")[0], f) for f in s.check(path).findings]
    return [f"{module.text.line_text(row).strip()[:40]} | {f.severity.value} {f.code}" for row, f in rows]


def line_of(s: Session, mark: str, path: str = "k.py") -> int:
    """The line (0-based) that holds a text."""
    module = s.files.module(path)
    assert module is not None
    return module.text.position(module.text.content.index(mark), "utf-8")[0]
