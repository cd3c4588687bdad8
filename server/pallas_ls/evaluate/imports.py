"""Import statements: models of libraries, modules of the workspace, and everything else by name."""

from __future__ import annotations

from typing import Any

from ..domain.python import MISSING, External, ModuleName, Value
from .frame import Frame
from .modules import UserModule


class Imports:
    """Resolves imports."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def module(self, fr: Frame, name: str, full: str) -> Value:
        """`import full`, seen under `name` (the whole, or its first part)."""
        if full != name:
            self._load(fr, full, 0)
        return self._value(fr, name, 0)

    def member(self, fr: Frame, base: str, level: int, name: str) -> Value:
        """`from base import name`."""
        if level == 0:
            known = self.program.library.member(base, name)
            if known is not MISSING:
                return known
        env = self._load(fr, base, level)
        if env is not None:
            v = env.member(fr.m, name)
            if v is not MISSING:
                return v
            inner = self._load(fr, f"{base}.{name}" if base else name, level)
            if inner is not None:
                return UserModule(inner)
        elif level:
            inner = self._load(fr, f"{base}.{name}" if base else name, level)
            if inner is not None:
                return UserModule(inner)
        return External(f"{base}.{name}" if base else name)

    def star(self, fr: Frame, base: str, level: int) -> list[tuple[str, Value]]:
        """`from base import *`."""
        env = self._load(fr, base, level)
        if env is None:
            return self.program.library.public(base) if level == 0 else []
        names = [n for n in env.vars if not n.startswith("_") and not n.startswith("class ")]
        return [(n, env.member(fr.m, n)) for n in names]

    def _value(self, fr: Frame, name: str, level: int) -> Value:
        if self.program.library.has_module(name):
            return ModuleName(name)
        env = self._load(fr, name, level)
        return UserModule(env) if env is not None else External(name)

    def _load(self, fr: Frame, name: str, level: int) -> Any:
        if level == 0 and self.program.library.has_module(name):
            return None
        return self.program.load(fr.m, name, level, fr.module.path)
