"""The machine of an evaluation over symbols for numbers."""

from __future__ import annotations

from typing import Any

from ..domain.array import Operation
from ..domain.cond import Cond
from ..domain.fact import Division
from ..domain.python import Unknown, Value
from ..source.span import Site
from .machine import Machine
from .trail import Trail

#: Numbers of names made on the way begin here, so that they are told from others.
FIRST_NAME = 1_000_000
#: Stands for the calling context.
HERE = Site("", "here", 0, 0)


class Symbolic(Machine):
    """A machine that evaluates over symbols for numbers.

    Attributes:
      suspects: symbols that something is not known for.
      outside: operations outside of kernels.
      doubted: the guards of the path at each doubt; divided: divisions, with the guards of the path.
    """

    def __init__(self, budget: int, program: Any) -> None:
        self._operations: Operations = Operations(self)
        self.outside = self._operations
        self.suspects: set[str] = set()
        self.doubted: list[tuple[Cond, ...]] = []
        super().__init__(budget, program)
        self.trail = self.base = Trail()
        self.chain = self.stack = (HERE,)
        self.fresh = FIRST_NAME
        self.divided: list[tuple[Division, tuple[Cond, ...]]] = []
        self.divisions = _Divisions(self)

    def unknown(self, why: str, *sources: Value, site: Site | None = None) -> Unknown:
        """What is not known may be so for a number's sake."""
        out = super().unknown(why, *sources, site=site)
        self.suspects |= out.needs
        return out

    @property
    def operations(self) -> list[Operation]:
        """What the innermost kernel computed so far."""
        return self._operations

    @operations.setter
    def operations(self, found: list[Operation]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        if isinstance(found, Operations):
            self._operations = found
        elif self.launches:
            self._operations = Operations(self)

    @property
    def doubts(self) -> int:
        """How often something happened that may raise for all that is known."""
        return len(self.doubted)

    @doubts.setter
    def doubts(self, n: int) -> None:
        if n:
            self.doubted.append(self.path.guards)


class Operations(list[Operation]):
    """Operations with the guards of the paths that they are on."""

    def __init__(self, m: Symbolic) -> None:
        super().__init__()
        self.machine = m
        self.guards: list[tuple[Cond, ...]] = []

    def append(self, object: Operation, /) -> None:
        """Notes an operation."""
        super().append(object)
        self.guards.append(self.machine.path.guards)


class _Divisions(set[Division]):
    """Tells the machine of each division, with the path that it is on."""

    def __init__(self, m: Symbolic) -> None:
        super().__init__()
        self.machine = m

    def add(self, element: Division, /) -> None:
        """Notes a division."""
        super().add(element)
        self.machine.divided.append((element, self.machine.path.guards))
