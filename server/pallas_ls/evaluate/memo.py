"""What is kept of an evaluation: of each unit a memo, of each module those of its units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..domain.context import Parametrised
from ..domain.fact import CallFact, Division, HostCall, Raise
from ..domain.python import Value
from ..source.module import Chunk
from .frame import Function
from .modules import ModuleEnv
from .ways import Way


@dataclass(slots=True)
class Memo:
    """What a unit read, wrote and recorded."""

    digest: str
    reads: dict[tuple[str, str], str]
    version: str
    globals: dict[str, Value]
    cells: list[tuple[dict[str, Value], str, Value]]
    facts: list[CallFact]
    raises: list[Raise]
    made: list[Function]
    notes: list[str]
    evaluated: dict[tuple[str, str], int]
    stopped: str | None = None
    idle: list[Any] = field(default_factory=list[Any])
    uncalled: list[Function] = field(default_factory=list[Function])
    used: set[int] = field(default_factory=set[int])
    divisions: frozenset[Division] = frozenset()
    members: list[str] = field(default_factory=list[str])
    own_class: frozenset[int] = frozenset()
    origin: str = ""
    host_calls: list[HostCall] = field(default_factory=list[HostCall])
    failed: frozenset[int] = frozenset()
    interrupted: frozenset[int] = frozenset()
    parametrised: list[Parametrised] = field(default_factory=list[Parametrised])
    ways: list[Way] = field(default_factory=list[Way])
    borrowed: list[Way] = field(default_factory=list[Way])


@dataclass(slots=True)
class ModuleState:
    """A module with the memos of its units; `revision`: the program's when its chunks were brought up to date,
    `analysed`: when its entries were."""

    env: ModuleEnv
    chunks: dict[str, Memo] = field(default_factory=dict[str, Memo])
    entries: dict[str, Memo] = field(default_factory=dict[str, Memo])
    compiled: dict[int, tuple[Chunk, Any]] = field(default_factory=dict[int, tuple[Chunk, Any]])
    initial: dict[tuple[int, str], tuple[dict[str, Value], str, Value]] = field(default_factory=dict)
    revision: int = -1
    analysed: int = -1

    def memos(self) -> list[Memo]:
        """Memos of all units, chunks first."""
        return [*self.chunks.values(), *self.entries.values()]
