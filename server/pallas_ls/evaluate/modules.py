"""Modules under evaluation: their global names, and which unit wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..domain.python import MISSING, Choice, Unknown, Value
from ..source.module import Module

if TYPE_CHECKING:
    from .machine import Machine

#: Version of a name that nothing has written.
ABSENT = "absent"


class ModuleEnv:
    """A module of the workspace: its text and its global names.

    Attributes:
      path: the file; name: the dotted name under which it was imported, or "__main__".
      vars: global names; versions: for each, what identifies the evaluation that wrote it.
      complete: the module has been run to its end.
    """

    def __init__(self, path: str, name: str, program: Any) -> None:
        self.path = path
        self.name = name
        self.program = program
        self.module: Module | None = None
        self.vars: dict[str, Value] = {}
        self.versions: dict[str, str] = {}
        self.running = False

    def read(self, m: Machine, name: str) -> Value:
        """A global name, else a builtin."""
        v = self.vars.get(name, MISSING)
        m.reads.setdefault((self.path, name), self.versions.get(name, ABSENT))
        if v is MISSING:
            return self.program.library.builtin(name)
        return m.select(v) if isinstance(v, Choice) else v

    def note(self, m: Machine, name: str) -> None:
        """Remembers that the unit depends on a name (of the module, or `class C.x` of one of its classes)."""
        m.reads.setdefault((self.path, name), self.versions.get(name, ABSENT))

    def write(self, m: Machine, name: str, value: Value) -> None:
        """Writes a global name. Under a condition, what was there before stays in the other case: that is a read."""
        if m.trail is not m.base:
            self.note(m, name)
        m.global_writes[(self.path, name)] = self
        m.write(self.vars, name, value)

    def member(self, m: Machine, name: str) -> Value:
        """A name seen from another module; MISSING where there is none."""
        m.reads.setdefault((self.path, name), self.versions.get(name, ABSENT))
        v = self.vars.get(name, MISSING)
        if v is MISSING and self.running:
            return Unknown(f"{name} of {self.name}, which is still being imported")
        return v


class UserModule:
    """A module of the workspace as a value."""

    __slots__ = ("env",)

    def __init__(self, env: ModuleEnv) -> None:
        self.env = env

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserModule) and other.env is self.env

    def __hash__(self) -> int:
        return hash(id(self.env))
